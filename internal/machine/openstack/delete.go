package openstack

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"golang.org/x/sync/errgroup"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// delete deletes the machine's servers, and then their leftovers. If MCM deletes one server only, others of the name
// and their resources are kept.
func (m *machine) delete(ctx context.Context) error {
	m.account.statuses.Take(m.name)
	servers, err := m.findServers(ctx)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(servers, m.isKnown); i >= 0 && !m.class.owns(servers[i]) {
		return machineprocess.Failuref(codes.FailedPrecondition,
			"server %s does not have the tags %q and %q, so it does not belong to the shoot: give it the tags if it does, or remove it from the machine's providerID",
			m.serverID, m.class.cluster, m.class.role)
	}
	if m.orphan {
		return m.deleteOrphan(ctx, m.own(servers))
	}
	return m.remove(ctx, m.own(servers))
}

// deleteOrphan deletes one server. MCM retries only as long as there is a server, so its ports are deleted first.
func (m *machine) deleteOrphan(ctx context.Context, own []cloudopenstack.Server) error {
	i := slices.IndexFunc(own, m.isKnown)
	if i < 0 {
		return nil
	}
	m.hasDuplicates = len(own) > 1
	ports, err := m.findPorts(ctx)
	if err != nil {
		return err
	}
	if err := m.removePorts(ctx, ports, map[string]bool{m.serverID: true}); err != nil {
		return err
	}
	return m.remove(ctx, own[i:i+1])
}

// remove deletes servers of the machine, and after them their ports and volumes.
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
	ports, err := m.findPortsWhile(ctx, func() error {
		for _, server := range servers {
			if err := m.waitDeleted(ctx, server); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := m.removePorts(ctx, ports, deletedServers); err != nil {
		return err
	}
	return m.removeVolumes(ctx)
}

// findPortsWhile finds the machine's ports during the wait for the end of its servers: ports are created before their server.
func (m *machine) findPortsWhile(ctx context.Context, wait func() error) (ports []portsOfName, err error) {
	var group errgroup.Group
	group.Go(func() (err error) {
		ports, err = m.findPorts(ctx)
		return err
	})
	return ports, errors.Join(wait(), group.Wait())
}

// waitDeleted waits until a server is deleted.
func (m *machine) waitDeleted(ctx context.Context, server cloudopenstack.Server) error {
	named := *m
	named.name = server.Name // may be outdated
	left, err := named.waitForServer(ctx, server.ID, &m.account.deletions,
		func(s *cloudopenstack.Server) bool { return s == nil || deletionFailed(*s) })
	switch {
	case left != nil:
		failed, err := m.account.GetServer(ctx, server.ID) // a list has no reason of the failure
		if err != nil || failed.Fault == nil {
			failed.Fault = &cloudopenstack.ServerFault{Message: "it does not say why"}
		}
		return machineprocess.Failuref(codes.Aborted, "the cloud could not delete server %s: %s; ask its operator if it happens again", server.ID, failed.Fault.Message)
	case err != nil && ctx.Err() != nil:
		return machineprocess.Failuref(codes.DeadlineExceeded, "server %s is still being deleted: %w", server.ID, err)
	case err != nil:
		return fmt.Errorf("waiting for the end of server %s: %w", server.ID, err)
	default:
		return nil
	}
}

// deletionFailed reports whether the deletion of a server has failed: a server that is being deleted has a task for that.
func deletionFailed(server cloudopenstack.Server) bool {
	return server.Status == cloudopenstack.ServerError && server.TaskState == ""
}

// removeVolumes deletes the boot volume that the existing driver has created before the machine's server, for volumes with a type. Volumes of
// servers of this driver are deleted with them.
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
		default: // or in use: the server is deleted, but Cinder has not processed that yet
			problems = append(problems, machineprocess.Failuref(codes.Aborted, "volume %s is still %s", volume.ID, volume.Status))
		}
	}
	return errors.Join(problems...)
}
