package aws

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/go-logr/logr"

	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// machine is one machine during one request.
type machine struct {
	class   *class
	account *account
	log     logr.Logger
	poll    time.Duration
	// launchTimeout is how long a creation waits for the start of an instance whose name is known.
	launchTimeout time.Duration

	name, uid string
	// placement is the value of the placement annotation.
	placement string
	// instanceID is the ID of the instance that MCM has recorded for the machine, empty if there is none.
	instanceID string
	// deleting is true if MCM deletes the machine.
	deleting bool
	// orphan is true if MCM deletes one instance only: one without a Machine, or a duplicate.
	orphan bool
}

// status returns the machine's instance. It keeps the result for what MCM requests next: the creation if there is no instance, or the initialization, for which it
// returns the instance with an error.
//
// An instance that MCM does not know yet is found as soon as it has started. Before, it is left to the creation, which waits for the start. Afterwards it must not be:
// MCM would take its Node, if that exists already, for that of a former instance.
func (m *machine) status(ctx context.Context) (cloudaws.Instance, error) {
	instances, err := m.find(ctx)
	if err != nil {
		return cloudaws.Instance{}, err
	}
	instance, found := m.choose(instances)
	switch {
	case !found || m.instanceID == "" && !m.deleting && !hasStarted(instance):
		m.account.statuses.Put(m.name, instances)
		return cloudaws.Instance{}, machineprocess.Failuref(codes.NotFound, "there is no instance for it")
	case !m.deleting && !m.isInitialized(instance):
		m.account.created.Put(m.name, instance)
		return instance, machineprocess.Failuref(codes.Uninitialized, "instance %s is not initialized", instance.ID)
	}
	return instance, nil
}

// hasStarted reports whether the instance runs and has a name, which is that of its Node.
func hasStarted(instance cloudaws.Instance) bool {
	return instance.State != cloudaws.InstancePending && instance.PrivateDNSName != ""
}

// find returns all instances with the machine's name, the shoot's or not, also ended ones, and the one that MCM has recorded for the machine.
func (m *machine) find(ctx context.Context) ([]cloudaws.Instance, error) {
	maxWait := m.poll / machineprocess.LookUpDelayDivisor
	instances, err := m.account.byName.Find(ctx, m.name, maxWait)
	if err != nil || m.instanceID == "" || slices.ContainsFunc(instances, m.isKnown) {
		return instances, err
	}
	known, err := m.account.byID.Find(ctx, m.instanceID, maxWait) // its tags may not be visible yet, or no more
	return append(instances, known...), err
}

func (m *machine) isKnown(instance cloudaws.Instance) bool { return instance.ID == m.instanceID }

// own returns the instances with the shoot's tags.
func (m *machine) own(instances []cloudaws.Instance) []cloudaws.Instance {
	return slices.DeleteFunc(slices.Clone(instances), func(i cloudaws.Instance) bool { return !m.class.owns(i) })
}

// choose returns the machine's instance. There may be several if a request took effect after its timeout and its token was not found: then it prefers the one that
// MCM has recorded, or a running one. MCM deletes the others, since they have no Machine. An ending instance is the machine's only while MCM deletes it.
func (m *machine) choose(instances []cloudaws.Instance) (cloudaws.Instance, bool) {
	own := slices.DeleteFunc(m.own(instances), func(i cloudaws.Instance) bool {
		return i.State == cloudaws.InstanceTerminated || i.State == cloudaws.InstanceShuttingDown && !m.deleting
	})
	if len(own) == 0 {
		return cloudaws.Instance{}, false
	}
	rank := func(i cloudaws.Instance) int {
		switch {
		case m.isKnown(i):
			return 0
		case i.State == cloudaws.InstanceRunning:
			return 1
		case i.State == cloudaws.InstanceShuttingDown:
			return 3
		default:
			return 2
		}
	}
	return slices.MinFunc(own, func(a, b cloudaws.Instance) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID))
	}), true
}

// list returns the shoot's instances.
func (m *machine) list(ctx context.Context) ([]cloudaws.Instance, error) {
	return m.account.ListInstances(ctx, cloudaws.InstanceFilter{TagKeys: []string{m.class.cluster, m.class.role}, States: []string{
		cloudaws.InstancePending, cloudaws.InstanceRunning, cloudaws.InstanceStopping, cloudaws.InstanceStopped,
	}})
}

// waitFor polls until the condition is true for the instance with this ID, and returns it. nil stands for an instance that is not found. All waiting machines share
// the polls. times are of the same kind of wait.
func (m *machine) waitFor(
	ctx context.Context, id string, times *machineprocess.WaitTimes, done func(*cloudaws.Instance) bool,
) (*cloudaws.Instance, error) {
	look := func(ctx context.Context, maxWait time.Duration) (*cloudaws.Instance, error) {
		found, err := m.account.byID.Find(ctx, id, maxWait)
		if len(found) == 0 {
			return nil, err
		}
		return &found[0], err
	}
	return machineprocess.Poll(ctx, m.poll, times, look, done)
}
