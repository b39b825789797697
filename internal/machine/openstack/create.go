package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"golang.org/x/sync/errgroup"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// create returns the machine's server when it is active. It continues from any partial state.
func (m *machine) create(ctx context.Context) (cloudopenstack.Server, error) {
	if err := m.class.validate(); err != nil {
		return cloudopenstack.Server{}, err
	}
	servers, fresh := m.account.statuses.Take(m.name)
	if !fresh {
		var err error
		if servers, err = m.findServers(ctx); err != nil {
			return cloudopenstack.Server{}, err
		}
	}
	server, found := m.choose(servers)
	switch {
	case !found && len(servers) > 0:
		return cloudopenstack.Server{}, machineprocess.Failuref(codes.AlreadyExists,
			"server %s has the name but not the tags %q and %q, so it does not belong to the shoot: rename it, or delete the machine",
			servers[0].ID, m.class.cluster, m.class.role)
	case !found:
		created, err := m.createServer(ctx)
		if err != nil {
			return cloudopenstack.Server{}, err
		}
		server = cloudopenstack.Server{ID: created, Status: cloudopenstack.ServerBuild}
	default:
		m.log.Info("Adopting a server", "server", server.ID, "status", server.Status)
	}
	return m.waitActive(ctx, server)
}

// createServer creates the ports and the server, and returns the server's ID. If the cloud rejects the request, the cause may be a cached ID of a name, which is
// no error of the class. Then it tries once more, with new look-ups.
func (m *machine) createServer(ctx context.Context) (string, error) {
	id, err := m.createOnce(ctx)
	if (cloud.IsNotFound(err) || isBadRequest(err)) && m.ids.cached.Load() {
		m.log.Info("Retrying with IDs that are looked up again", "reason", err.Error())
		m.account.ids.forget(m.ids.startedAt)
		m.ids = m.account.ids.newIDLookup()
		id, err = m.createOnce(ctx)
	}
	return id, err
}

// createOnce creates the ports and the server once. If the server is rejected, it deletes the ports: the next attempt may be much later.
func (m *machine) createOnce(ctx context.Context) (string, error) {
	wanted, portSpecs, err := m.specs(ctx)
	if err != nil {
		return "", err
	}
	ports, err := m.ports(ctx, portSpecs)
	if err == nil {
		for _, port := range ports {
			wanted.PortIDs = append(wanted.PortIDs, port.ID)
		}
		var created cloudopenstack.Server
		if created, err = m.requestServer(ctx, wanted); err == nil {
			m.log.Info("Created a server", "server", created.ID)
			return created.ID, nil
		}
		err = fmt.Errorf("creating server: %w", err)
	}
	if translate().Refused(err) {
		err = errors.Join(err, m.discardPorts(ctx, ports))
	}
	return "", err
}

// specs returns the server to create, except for its ports, and its ports. It looks up at the same time all that is not cached.
func (m *machine) specs(ctx context.Context) (server cloudopenstack.ServerCreate, ports []cloudopenstack.PortCreate, err error) {
	group, ctx := errgroup.WithContext(ctx)
	server = m.serverSpec()
	group.Go(func() (err error) {
		server.FlavorID, err = m.ids.flavor(ctx, m.class.FlavorName)
		return err
	})
	if server.ImageID == "" {
		group.Go(func() (err error) {
			server.ImageID, err = m.ids.image(ctx, m.class.ImageName)
			return err
		})
	}
	groupIDs := make([]string, len(m.class.SecurityGroups))
	for i, name := range m.class.SecurityGroups {
		group.Go(func() (err error) {
			groupIDs[i], err = m.ids.securityGroup(ctx, name)
			return err
		})
	}
	ports = make([]cloudopenstack.PortCreate, len(m.class.networks()))
	for nth := range ports {
		group.Go(func() (err error) {
			ports[nth], err = m.portSpec(ctx, nth)
			return err
		})
	}
	err = group.Wait()
	for nth := range ports {
		if len(groupIDs) > 0 { // otherwise the project's default
			ports[nth].SecurityGroupIDs = groupIDs
		}
	}
	return server, ports, err
}

// requestServer tries once more after a 403: Nova uses it for exceeded quotas as well as for missing permissions. If the quota is not exceeded any more when it is
// checked, only another request shows which of the two it was.
func (m *machine) requestServer(ctx context.Context, wanted cloudopenstack.ServerCreate) (cloudopenstack.Server, error) {
	created, err := m.account.CreateServer(ctx, wanted)
	if cloud.KindOf(err) == cloud.Unauthorized {
		return m.account.CreateServer(ctx, wanted)
	}
	return created, err
}

// serverSpec returns the server to create, except for what has to be looked up, and for its ports.
func (m *machine) serverSpec() cloudopenstack.ServerCreate {
	c := m.class
	wanted := cloudopenstack.ServerCreate{
		Name: m.name, ImageID: c.ImageID, KeyName: c.KeyName, AvailabilityZone: c.AvailabilityZone, ServerGroupID: deref(c.ServerGroupID),
		UserData: c.userData, Metadata: c.Tags, ConfigDrive: c.UseConfigDrive,
	}
	if c.RootDiskSize > 0 {
		wanted.BootVolume = &cloudopenstack.ServerVolume{SizeGB: c.RootDiskSize, Type: deref(c.RootDiskType)}
	}
	for _, volume := range c.DataVolumes {
		wanted.DataVolumes = append(wanted.DataVolumes, cloudopenstack.ServerVolume{SizeGB: volume.Size, Type: deref(volume.Type)})
	}
	return wanted
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// waitActive waits until the server is active, and deletes one that fails.
func (m *machine) waitActive(ctx context.Context, server cloudopenstack.Server) (cloudopenstack.Server, error) {
	if server.TaskState == taskDeleting {
		return server, machineprocess.Failuref(codes.Aborted, "server %s by the same name is still being deleted", server.ID)
	}
	for server.Status == cloudopenstack.ServerBuild {
		built, err := m.waitForServer(ctx, server.ID, &m.account.builds,
			func(s *cloudopenstack.Server) bool { return s == nil || s.Status != cloudopenstack.ServerBuild })
		if err == nil && built == nil {
			built, err = m.getUnlisted(ctx, server.ID)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return server, machineprocess.Failuref(codes.DeadlineExceeded, "server %s is still being built: %w", server.ID, err)
		case err != nil:
			return server, fmt.Errorf("waiting for server %s: %w", server.ID, err)
		}
		server = *built
	}
	if server.Status == cloudopenstack.ServerError {
		return server, m.removeFailed(ctx, server)
	}
	return server, nil
}

// getUnlisted gets a server by its ID that is missing in the list by name: lists may be outdated, and a second server must not be created.
func (m *machine) getUnlisted(ctx context.Context, id string) (*cloudopenstack.Server, error) {
	server, err := m.account.GetServer(ctx, id)
	if cloud.IsNotFound(err) || err == nil && isDeleted(server) {
		return nil, machineprocess.Failuref(codes.Aborted, "it was deleted while it was being built")
	}
	return &server, err
}

// removeFailed deletes a server that could not be built with its ports, and returns the reason of the failure. MCM then tries again. If the deletion fails, the
// next attempt starts with it.
func (m *machine) removeFailed(ctx context.Context, server cloudopenstack.Server) error {
	failed, err := m.account.GetServer(ctx, server.ID)
	if err != nil && !cloud.IsNotFound(err) {
		return fmt.Errorf("reading why server %s failed: %w", server.ID, err)
	}
	reason := failureReason(failed)
	m.log.Info("Removing a server that failed", "server", server.ID, "reason", reason.Error())
	if err := m.remove(ctx, []cloudopenstack.Server{server}); err != nil {
		return machineprocess.Failuref(translate().Code(reason), "%w; removing it: %w", reason, err)
	}
	return reason
}

// failureReason returns why a server failed. It depends on the host and the code of the fault, never on its text.
func failureReason(server cloudopenstack.Server) error {
	code, words := 0, "the cloud does not say why"
	if server.Fault != nil {
		code, words = server.Fault.Code, server.Fault.Message
	}
	switch {
	case code == http.StatusForbidden || code == http.StatusRequestEntityTooLarge:
		return machineprocess.Failuref(codes.ResourceExhausted, "server %s could not be built: %s; raise the project's quota, or lower the maximum of the pools", server.ID, words)
	case server.HostID == "":
		return machineprocess.Failuref(codes.ResourceExhausted, "no host took server %s: %s; choose another machine type, zone or server group policy, or ask the cloud's operator for room",
			server.ID, words)
	default:
		return machineprocess.Failuref(codes.Internal, "server %s failed on its host: %s; ask the cloud's operator if it happens again", server.ID, words)
	}
}
