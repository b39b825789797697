package openstack

import (
	"context"
	"net/url"
)

func (s *Session) subnets() resource[Subnet] {
	return resource[Subnet]{session: s, service: networkService, path: "subnets", singular: "subnet", plural: "subnets"}
}

// ListSubnets returns the subnets that match the filter.
func (s *Session) ListSubnets(ctx context.Context, filter SubnetFilter) ([]Subnet, error) {
	return s.subnets().list(ctx, filter)
}

// CreateSubnet creates a subnet.
func (s *Session) CreateSubnet(ctx context.Context, subnet SubnetCreate) (Subnet, error) {
	return s.subnets().create(ctx, subnet)
}

// UpdateSubnet changes a subnet and returns the changed one.
func (s *Session) UpdateSubnet(ctx context.Context, id string, update SubnetUpdate) (Subnet, error) {
	if update.DNSServers != nil && *update.DNSServers == nil {
		update.DNSServers = &[]string{} // null would be rejected
	}
	return s.subnets().update(ctx, id, update, nil)
}

// DeleteSubnet deletes a subnet. It fails with cloud.NotFound when there is none, and with cloud.InUse while it has ports.
func (s *Session) DeleteSubnet(ctx context.Context, id string) error {
	return s.subnets().remove(ctx, id, nil)
}

func (f SubnetFilter) query() url.Values {
	q := query{}
	q.any("id", f.IDs)
	q.text("network_id", f.NetworkID)
	q.text("name", f.Name)
	q.text("description", f.Description)
	return url.Values(q)
}

func (f SubnetFilter) matches(s Subnet) bool {
	return emptyOrContains(f.IDs, s.ID) && emptyOrEqual(f.NetworkID, s.NetworkID) && emptyOrEqual(f.Name, s.Name) && emptyOrEqual(f.Description, s.Description)
}
