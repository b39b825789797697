package openstack

import (
	"context"
	"net/url"
)

func (s *Session) floatingIPs() resource[FloatingIP] {
	return resource[FloatingIP]{
		session: s, service: networkService, path: "floatingips", singular: "floatingip", plural: "floatingips",
	}
}

// ListFloatingIPs returns the floating IPs that match the filter.
func (s *Session) ListFloatingIPs(ctx context.Context, filter FloatingIPFilter) ([]FloatingIP, error) {
	return s.floatingIPs().list(ctx, filter)
}

// DeleteFloatingIP releases a floating IP. It fails with cloud.NotFound if there is none.
func (s *Session) DeleteFloatingIP(ctx context.Context, id string) error {
	return s.floatingIPs().remove(ctx, id, nil)
}

func (f FloatingIPFilter) query() url.Values {
	q := query{}
	q.any("port_id", f.PortIDs)
	q.text("router_id", f.RouterID)
	q.text("floating_network_id", f.FloatingNetworkID)
	q.text("description", f.Description)
	return url.Values(q)
}

func (f FloatingIPFilter) matches(ip FloatingIP) bool {
	return emptyOrContains(f.PortIDs, ip.PortID) && emptyOrEqual(f.RouterID, ip.RouterID) &&
		emptyOrEqual(f.FloatingNetworkID, ip.FloatingNetworkID) && emptyOrEqual(f.Description, ip.Description)
}
