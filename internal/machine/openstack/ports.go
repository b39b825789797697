package openstack

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// portName is the name of a machine's port in the nth of its networks. It differs from names of machines, whose last part
// has five letters.
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
	return m.ids.network(ctx, network.Name)
}

// portSpec returns the port to create in the nth network, except for its security groups. It is complete from its creation: in the subnets, allowed
// to send from the ranges of pods, and marked as the shoot's.
func (m *machine) portSpec(ctx context.Context, nth int) (cloudopenstack.PortCreate, error) {
	id, err := m.networkID(ctx, nth)
	if err != nil {
		return cloudopenstack.PortCreate{}, err
	}
	wanted := cloudopenstack.PortCreate{NetworkID: id, Name: portName(m.name, nth), Description: m.class.portDescription()}
	if nth == 0 {
		wanted.SubnetIDs = m.class.SubnetIDs
	}
	if m.class.networks()[nth].PodNetwork {
		wanted.AllowedAddresses = m.class.PodNetworkCIDRs
	}
	if err := m.account.portsIn(id).load(ctx); err != nil {
		return wanted, fmt.Errorf("looking for ports in network %s: %w", id, err)
	}
	return wanted, nil
}

// ports returns the wanted ports. After an error it returns those that exist.
func (m *machine) ports(ctx context.Context, wanted []cloudopenstack.PortCreate) ([]cloudopenstack.Port, error) {
	var ports []cloudopenstack.Port
	for _, one := range wanted {
		port, err := m.port(ctx, one)
		if err != nil {
			return ports, fmt.Errorf("port %q in network %s: %w", one.Name, one.NetworkID, err)
		}
		ports = append(ports, port)
	}
	return ports, nil
}

// port returns the wanted port: one of an earlier attempt, or a new one. A port of the existing driver is
// replaced, since it may differ.
func (m *machine) port(ctx context.Context, wanted cloudopenstack.PortCreate) (cloudopenstack.Port, error) {
	cache := m.account.portsIn(wanted.NetworkID)
	if cache.noPortSecurity.Load() {
		wanted = withoutPortSecurity(wanted)
	}
	left, err := cache.reserve(ctx, wanted.Name)
	if err != nil {
		return cloudopenstack.Port{}, fmt.Errorf("looking for it: %w", err)
	}
	var reusable *cloudopenstack.Port
	for _, port := range left {
		switch {
		case port.DeviceID != "":
			return port, machineprocess.Failuref(codes.Aborted, "port %s has the name and belongs to %s", port.ID, port.DeviceID)
		case !m.mayRemove(port):
		case reusable == nil && isReusable(port, wanted):
			reusable = &port
		default:
			if err := m.account.DeletePort(ctx, port.ID); err != nil && !cloud.IsNotFound(err) {
				return port, fmt.Errorf("replacing port %s: %w", port.ID, err)
			}
		}
	}
	if reusable != nil {
		m.log.Info("Adopting a port", "port", reusable.ID)
		return *reusable, nil
	}
	port, err := m.account.CreatePort(ctx, wanted)
	if isPortSecurityError(err) {
		cache.noPortSecurity.Store(true)
		port, err = m.account.CreatePort(ctx, withoutPortSecurity(wanted))
	}
	return port, err
}

// isPortSecurityError reports whether a network rejects security groups and address pairs because port security is disabled: all traffic is
// allowed there, as in many networks for storage.
func isPortSecurityError(err error) bool {
	fault, ok := errors.AsType[*cloudopenstack.ResponseError](err)
	return ok && (fault.Type == "PortSecurityAndIPRequiredForSecurityGroups" || fault.Type == "AddressPairAndPortSecurityRequired")
}

// withoutPortSecurity returns a port for a network without port security.
func withoutPortSecurity(wanted cloudopenstack.PortCreate) cloudopenstack.PortCreate {
	wanted.SecurityGroupIDs, wanted.AllowedAddresses = []string{}, nil
	return wanted
}

// mayRemove reports whether a port with the machine's name is the machine's: it has the shoot's mark, or none, as those of the
// existing driver.
func (m *machine) mayRemove(port cloudopenstack.Port) bool {
	return port.Description == m.class.portDescription() || port.Description == ""
}

// isReusable reports whether a port is from an earlier attempt at the same machine.
func isReusable(port cloudopenstack.Port, wanted cloudopenstack.PortCreate) bool {
	for _, id := range wanted.SubnetIDs {
		if !slices.ContainsFunc(port.FixedIPs, func(ip cloudopenstack.FixedIP) bool { return ip.SubnetID == id }) {
			return false
		}
	}
	has, wants := slices.Sorted(slices.Values(port.SecurityGroupIDs)), slices.Sorted(slices.Values(wanted.SecurityGroupIDs))
	return port.Description == wanted.Description && (len(wants) == 0 || slices.Equal(has, slices.Compact(wants)))
}

// discardPorts deletes ports for which there will be no server.
func (m *machine) discardPorts(ctx context.Context, ports []cloudopenstack.Port) error {
	var problems []error
	for _, port := range ports {
		if err := m.account.DeletePort(ctx, port.ID); err != nil && !cloud.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("removing port %s: %w", port.ID, err))
		}
	}
	return errors.Join(problems...)
}

// portsOfName are the ports in a network with the name of one of the machine's.
type portsOfName struct {
	cache *portCache
	name  string
	ports []cloudopenstack.Port
}

// findPorts returns all ports with the names of the machine's, the machine's or not.
func (m *machine) findPorts(ctx context.Context) ([]portsOfName, error) {
	var all []portsOfName
	for nth := range m.class.networks() {
		id, err := m.networkID(ctx, nth)
		if cloud.KindOf(err) == cloud.Configuration {
			continue // the network, and so its ports, do not exist any more
		}
		if err != nil {
			return nil, err
		}
		found := portsOfName{cache: m.account.portsIn(id), name: portName(m.name, nth)}
		if found.ports, err = found.cache.ports.Find(ctx, found.name, m.poll/machineprocess.LookUpDelayDivisor); err != nil {
			return nil, fmt.Errorf("looking for port %q in network %s: %w", found.name, id, err)
		}
		all = append(all, found)
	}
	return all, nil
}

// removePorts deletes the machine's ports among those found. Ports of other servers are kept.
func (m *machine) removePorts(ctx context.Context, found []portsOfName, deletedServers map[string]bool) error {
	for _, named := range found {
		left := 0
		for _, port := range named.ports {
			removable, err := m.isRemovable(ctx, port, deletedServers)
			switch {
			case err != nil:
				return err
			case !removable:
				left++
				continue
			}
			if err := m.account.DeletePort(ctx, port.ID); err != nil && !cloud.IsNotFound(err) {
				return fmt.Errorf("deleting port %s in network %s: %w", port.ID, port.NetworkID, err)
			}
		}
		if left == 0 {
			named.cache.release(named.name)
		}
	}
	return nil
}

// isRemovable reports whether a port with the machine's name must be deleted: it is the machine's, and has no server but deleted ones.
func (m *machine) isRemovable(ctx context.Context, port cloudopenstack.Port, deletedServers map[string]bool) (bool, error) {
	if !m.mayRemove(port) {
		return false, nil
	}
	if port.DeviceID == "" {
		return !m.hasDuplicates, nil
	}
	if deletedServers[port.DeviceID] {
		return true, nil
	}
	server, err := m.account.GetServer(ctx, port.DeviceID)
	if cloud.IsNotFound(err) || err == nil && isDeleted(server) {
		return true, nil
	}
	return false, err
}
