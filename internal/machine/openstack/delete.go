package openstack

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// delete removes the machine's servers, and then what they leave behind. Where MCM wants to be rid of one server only, others of the name
// and what belongs to them stay.
func (m *machine) delete(ctx context.Context) error {
	m.account.statuses.take(m.name)
	servers, err := m.findServers(ctx)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(servers, m.isKnown); i >= 0 && !m.class.owns(servers[i]) {
		return failuref(codes.FailedPrecondition,
			"server %s does not have the tags %q and %q, so it does not belong to the shoot: give it the tags if it does, or remove it from the machine's providerID",
			m.serverID, m.class.cluster, m.class.role)
	}
	if m.orphan {
		return m.deleteOrphan(ctx, m.own(servers))
	}
	return m.remove(ctx, m.own(servers))
}

// deleteOrphan removes one server. MCM comes back to it only as long as there is a server, so that its ports have to go first.
func (m *machine) deleteOrphan(ctx context.Context, own []cloudopenstack.Server) error {
	i := slices.IndexFunc(own, m.isKnown)
	if i < 0 {
		return nil
	}
	m.hasDuplicates = len(own) > 1
	if err := m.removePorts(ctx, map[string]bool{m.serverID: true}); err != nil {
		return err
	}
	return m.remove(ctx, own[i:i+1])
}

// remove removes servers of the machine, and when they are gone, the ports and volumes that they leave behind.
func (m *machine) remove(ctx context.Context, servers []cloudopenstack.Server) error {
	deletedServers := map[string]bool{}
	for _, server := range servers {
		deletedServers[server.ID] = true
		if server.TaskState == taskDeleting {
			continue
		}
		if err := m.account.DeleteServer(ctx, server.ID); err != nil && !cloud.IsNotFound(err) {
			return fmt.Errorf("deleting server %s: %w", server.ID, err)
		}
		m.log.Info("Deleted a server", "server", server.ID)
	}
	for _, server := range servers {
		if err := m.waitDeleted(ctx, server); err != nil {
			return err
		}
	}
	if err := m.removePorts(ctx, deletedServers); err != nil {
		return err
	}
	return m.removeVolumes(ctx)
}

// waitDeleted waits until a server is gone.
func (m *machine) waitDeleted(ctx context.Context, server cloudopenstack.Server) error {
	named := *m
	named.name = server.Name // may have been changed
	left, err := named.waitForServer(ctx, server.ID, func(s *cloudopenstack.Server) bool { return s == nil || deletionFailed(*s) })
	switch {
	case left != nil:
		failed, err := m.account.GetServer(ctx, server.ID) // a list does not say what went wrong
		if err != nil || failed.Fault == nil {
			failed.Fault = &cloudopenstack.ServerFault{Message: "it does not say why"}
		}
		return failuref(codes.Aborted, "the cloud could not delete server %s: %s; ask its operator if it happens again", server.ID, failed.Fault.Message)
	case err != nil && ctx.Err() != nil:
		return failuref(codes.DeadlineExceeded, "server %s is still being deleted: %w", server.ID, err)
	case err != nil:
		return fmt.Errorf("waiting for the end of server %s: %w", server.ID, err)
	default:
		return nil
	}
}

// deletionFailed reports whether the deletion of a server has failed: from the request on, there is a task that deletes it.
func deletionFailed(server cloudopenstack.Server) bool {
	return server.Status == cloudopenstack.ServerError && server.TaskState == ""
}

// removeVolumes removes the boot volume that the existing driver has made for the machine before its server, where volumes have a type. Volumes of
// servers that this driver has made go with them.
func (m *machine) removeVolumes(ctx context.Context) error {
	if m.hasDuplicates || m.class.RootDiskSize <= 0 || deref(m.class.RootDiskType) == "" {
		return nil
	}
	volumes, err := m.account.ListVolumes(ctx, cloudopenstack.VolumeFilter{Name: m.name})
	if err != nil {
		return fmt.Errorf("looking for volumes: %w", err)
	}
	var problems []error
	for _, volume := range volumes {
		_, marked := volume.Metadata[m.class.cluster]
		if !marked && len(volume.Metadata) > 0 {
			continue
		}
		switch volume.Status {
		case "available", "error", "error_deleting":
			if err := m.account.DeleteVolume(ctx, volume.ID); err != nil && !cloud.IsNotFound(err) {
				problems = append(problems, fmt.Errorf("deleting volume %s: %w", volume.ID, err))
			}
		case "deleting":
		default: // in use among them: the server is gone, but Cinder has not noticed yet
			problems = append(problems, failuref(codes.Aborted, "volume %s is still %s", volume.ID, volume.Status))
		}
	}
	return errors.Join(problems...)
}
