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

// portName is the name of a machine's port in the nth of its networks. No machine has such a name: the last part of a machine's has
// five letters.
func portName(machine string, nth int) string {
	if nth == 0 {
		return machine
	}
	return fmt.Sprintf("%s-net%d", machine, nth+1)
}

// networkID returns the ID of the nth network.
func (m *machine) networkID(ctx context.Context, nth int) (string, error) {
	network := m.class.networks()[nth]
	if network.ID != "" {
		return network.ID, nil
	}
	return m.names.network(ctx, network.Name)
}

// ports returns a port for each network, in their order. They are complete from birth: in the subnets, allowed to send from the ranges of
// pods, and marked as the shoot's. After an error it returns those that there are.
func (m *machine) ports(ctx context.Context) ([]cloudopenstack.Port, error) {
	var groups []string
	for _, name := range m.class.SecurityGroups {
		id, err := m.names.securityGroup(ctx, name)
		if err != nil {
			return nil, err
		}
		groups = append(groups, id)
	}
	var ports []cloudopenstack.Port
	for nth, network := range m.class.networks() {
		id, err := m.networkID(ctx, nth)
		if err != nil {
			return ports, err
		}
		wanted := cloudopenstack.PortCreate{
			NetworkID: id, Name: portName(m.name, nth), Description: m.class.mark(), SecurityGroupIDs: groups,
		}
		if nth == 0 {
			wanted.SubnetIDs = m.class.SubnetIDs
		}
		if network.PodNetwork {
			wanted.AllowedAddresses = m.class.PodNetworkCIDRs
		}
		port, err := m.port(ctx, wanted)
		if err != nil {
			return ports, fmt.Errorf("port %q in network %s: %w", wanted.Name, id, err)
		}
		ports = append(ports, port)
	}
	return ports, nil
}

// port returns the port that is wanted: the one that an earlier attempt has left, or a new one. One that the existing driver has left is
// replaced, since it need not be what is wanted.
func (m *machine) port(ctx context.Context, wanted cloudopenstack.PortCreate) (cloudopenstack.Port, error) {
	book := m.account.in(wanted.NetworkID)
	if book.unprotected.Load() {
		wanted = bare(wanted)
	}
	left, err := book.reserve(ctx, wanted.Name)
	if err != nil {
		return cloudopenstack.Port{}, fmt.Errorf("looking for it: %w", err)
	}
	var mine *cloudopenstack.Port
	for _, port := range left {
		switch {
		case port.DeviceID != "":
			return port, failuref(codes.Aborted, "port %s has the name and belongs to %s", port.ID, port.DeviceID)
		case !m.mayRemove(port):
		case mine == nil && serves(port, wanted):
			mine = &port
		default:
			if err := m.account.DeletePort(ctx, port.ID); err != nil && !cloud.IsNotFound(err) {
				return port, fmt.Errorf("replacing port %s: %w", port.ID, err)
			}
		}
	}
	if mine != nil {
		m.log.Info("Adopting a port", "port", mine.ID)
		return *mine, nil
	}
	port, err := m.account.CreatePort(ctx, wanted)
	if takesNoSecurity(err) {
		book.unprotected.Store(true)
		port, err = m.account.CreatePort(ctx, bare(wanted))
	}
	return port, err
}

// takesNoSecurity reports whether a network refuses security groups and address pairs since its ports are not protected: everything is
// let through there, as networks for storage are often made.
func takesNoSecurity(err error) bool {
	fault, ok := errors.AsType[*cloudopenstack.ResponseError](err)
	return ok && (fault.Type == "PortSecurityAndIPRequiredForSecurityGroups" || fault.Type == "AddressPairAndPortSecurityRequired")
}

// bare is a port in a network whose ports are not protected.
func bare(wanted cloudopenstack.PortCreate) cloudopenstack.PortCreate {
	wanted.SecurityGroupIDs, wanted.AllowedAddresses = []string{}, nil
	return wanted
}

// mayRemove reports whether a port by the machine's name is the machine's: it carries the shoot's mark, or none, as those of the
// existing driver.
func (m *machine) mayRemove(port cloudopenstack.Port) bool {
	return port.Description == m.class.mark() || port.Description == ""
}

// serves reports whether a port is of an earlier attempt at the same machine.
func serves(port cloudopenstack.Port, wanted cloudopenstack.PortCreate) bool {
	for _, id := range wanted.SubnetIDs {
		if !slices.ContainsFunc(port.FixedIPs, func(ip cloudopenstack.FixedIP) bool { return ip.SubnetID == id }) {
			return false
		}
	}
	has, wants := slices.Sorted(slices.Values(port.SecurityGroupIDs)), slices.Sorted(slices.Values(wanted.SecurityGroupIDs))
	return port.Description == wanted.Description && (len(wants) == 0 || slices.Equal(has, slices.Compact(wants)))
}

// discard removes ports for which there will be no server.
func (m *machine) discard(ctx context.Context, ports []cloudopenstack.Port) error {
	var problems []error
	for _, port := range ports {
		if err := m.account.DeletePort(ctx, port.ID); err != nil && !cloud.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("removing port %s: %w", port.ID, err))
		}
	}
	return errors.Join(problems...)
}

// clearPorts removes the machine's ports when its servers are gone. Ports of other servers stay.
func (m *machine) clearPorts(ctx context.Context, victims map[string]bool) error {
	for nth := range m.class.networks() {
		id, err := m.networkID(ctx, nth)
		if cloud.KindOf(err) == cloud.Configuration {
			continue // there is no such network any more, and no port in it
		}
		if err == nil {
			err = m.clearPortsIn(ctx, id, portName(m.name, nth), victims)
		}
		if err != nil {
			return fmt.Errorf("ports in network %s: %w", id, err)
		}
	}
	return nil
}

func (m *machine) clearPortsIn(ctx context.Context, networkID, name string, victims map[string]bool) error {
	book := m.account.in(networkID)
	ports, err := book.ports.find(ctx, name, 0)
	if err != nil {
		return fmt.Errorf("looking for port %q: %w", name, err)
	}
	left := 0
	for _, port := range ports {
		free, err := m.isFree(ctx, port, victims)
		switch {
		case err != nil:
			return err
		case !free:
			left++
			continue
		}
		if err := m.account.DeletePort(ctx, port.ID); err != nil && !cloud.IsNotFound(err) {
			return fmt.Errorf("deleting port %s: %w", port.ID, err)
		}
	}
	if left == 0 {
		book.release(name)
	}
	return nil
}

// isFree reports whether a port by the machine's name is to go: it is the machine's, and no server but those that are gone has it.
func (m *machine) isFree(ctx context.Context, port cloudopenstack.Port, victims map[string]bool) (bool, error) {
	if !m.mayRemove(port) {
		return false, nil
	}
	if port.DeviceID == "" {
		return !m.rivals, nil
	}
	if victims[port.DeviceID] {
		return true, nil
	}
	server, err := m.account.GetServer(ctx, port.DeviceID)
	if cloud.IsNotFound(err) || err == nil && gone(server) {
		return true, nil
	}
	return false, err
}
