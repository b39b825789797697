package aws

import (
	"context"
	"fmt"
	"slices"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// delete terminates the machine's instances and waits for their end: until then their volumes are attached, and their interfaces occupy addresses and prevent the
// deletion of subnets and security groups. If MCM deletes one instance only, others of the name are kept.
func (m *machine) delete(ctx context.Context) error {
	m.account.statuses.Take(m.name)
	m.account.created.Take(m.name)
	instances, err := m.find(ctx)
	if err != nil {
		return err
	}
	instances = slices.DeleteFunc(instances, func(i cloudaws.Instance) bool { return i.State == cloudaws.InstanceTerminated })
	if i := slices.IndexFunc(instances, m.isKnown); i >= 0 && !m.class.owns(instances[i]) {
		return machineprocess.Failuref(codes.FailedPrecondition,
			"instance %s does not have the tags %q and %q, so it does not belong to the shoot: give it the tags if it does, or remove it from the machine's providerID",
			m.instanceID, m.class.cluster, m.class.role)
	}
	own := m.own(instances)
	if m.orphan {
		own = slices.DeleteFunc(own, func(i cloudaws.Instance) bool { return !m.isKnown(i) })
	}
	for _, instance := range own {
		if instance.HasEnded() {
			continue
		}
		if err := m.account.TerminateInstance(ctx, instance.ID); err != nil && !cloud.IsNotFound(err) {
			return fmt.Errorf("terminating instance %s: %w", instance.ID, err)
		}
		m.log.Info("Terminated an instance", "instance", instance.ID)
	}
	for _, instance := range own {
		if err := m.waitTerminated(ctx, instance.ID); err != nil {
			return err
		}
	}
	return nil
}

// waitTerminated waits until an instance has ended.
func (m *machine) waitTerminated(ctx context.Context, id string) error {
	_, err := m.waitFor(ctx, id, &m.account.ends, func(i *cloudaws.Instance) bool { return i == nil || i.State == cloudaws.InstanceTerminated })
	switch {
	case err != nil && ctx.Err() != nil:
		return machineprocess.Failuref(codes.DeadlineExceeded, "instance %s is still shutting down: %w", id, err)
	case err != nil:
		return fmt.Errorf("waiting for the end of instance %s: %w", id, err)
	}
	return nil
}
