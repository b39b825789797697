package openstack

import (
	"context"
	"net/url"
	"slices"
)

func (s *Session) ports() resource[Port] {
	return resource[Port]{session: s, service: networkService, path: "ports", one: "port", many: "ports"}
}

// ListPorts returns the ports that match the filter.
func (s *Session) ListPorts(ctx context.Context, filter PortFilter) ([]Port, error) {
	return s.ports().list(ctx, filter)
}

// GetPort returns a port.
func (s *Session) GetPort(ctx context.Context, id string) (Port, error) {
	return s.ports().get(ctx, id)
}

// DeletePort deletes a port. It fails with cloud.NotFound when there is none, and with cloud.InUse when the port is a
// router's interface.
func (s *Session) DeletePort(ctx context.Context, id string) error {
	return s.ports().remove(ctx, id, nil)
}

func (f PortFilter) query() url.Values {
	q := query{}
	q.any("id", f.IDs)
	q.text("network_id", f.NetworkID)
	q.text("device_id", f.DeviceID)
	q.text("device_owner", f.DeviceOwner)
	q.text("name", f.Name)
	q.text("description", f.Description)
	for _, id := range f.SubnetIDs {
		q.text("fixed_ips", "subnet_id="+id)
	}
	return url.Values(q)
}

func (f PortFilter) matches(p Port) bool {
	return anyOf(f.IDs, p.ID) && is(f.NetworkID, p.NetworkID) && is(f.DeviceID, p.DeviceID) &&
		is(f.DeviceOwner, p.DeviceOwner) && is(f.Name, p.Name) && is(f.Description, p.Description) && f.inSubnets(p)
}

func (f PortFilter) inSubnets(p Port) bool {
	return len(f.SubnetIDs) == 0 || slices.ContainsFunc(p.FixedIPs, func(ip FixedIP) bool {
		return slices.Contains(f.SubnetIDs, ip.SubnetID)
	})
}
