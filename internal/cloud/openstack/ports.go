package openstack

import (
	"context"
	"net/url"
	"slices"
)

// portsPage is the number of ports in a page. Neutron returns pages only on request, or if its operator has set a limit.
const portsPage = 1000

func (s *Session) ports() resource[Port] {
	return resource[Port]{session: s, service: networkService, path: "ports", singular: "port", plural: "ports", pageSize: portsPage}
}

// ListPorts returns the ports that match the filter.
func (s *Session) ListPorts(ctx context.Context, filter PortFilter) ([]Port, error) {
	return s.ports().list(ctx, filter)
}

// GetPort returns a port.
func (s *Session) GetPort(ctx context.Context, id string) (Port, error) {
	return s.ports().get(ctx, id)
}

// CreatePort creates a port. It fails with cloud.QuotaExceeded if the quota is exceeded, and with cloud.Depleted if
// a subnet has no address left.
func (s *Session) CreatePort(ctx context.Context, port PortCreate) (Port, error) {
	return s.ports().create(ctx, port.body())
}

// body is the request body of a port.
func (p PortCreate) body() portBody {
	body := portBody{NetworkID: p.NetworkID, Name: p.Name, Description: p.Description, SecurityGroupIDs: p.SecurityGroupIDs}
	for _, id := range p.SubnetIDs {
		body.FixedIPs = append(body.FixedIPs, subnetOfPort{id})
	}
	for _, addresses := range p.AllowedAddresses {
		body.AllowedAddresses = append(body.AllowedAddresses, addressPair{addresses})
	}
	return body
}

type portBody struct {
	NetworkID        string         `json:"network_id"`
	Name             string         `json:"name,omitempty"`
	Description      string         `json:"description,omitempty"`
	FixedIPs         []subnetOfPort `json:"fixed_ips,omitempty"`
	AllowedAddresses []addressPair  `json:"allowed_address_pairs,omitempty"`
	SecurityGroupIDs []string       `json:"security_groups,omitzero"`
}

type subnetOfPort struct {
	SubnetID string `json:"subnet_id"`
}

type addressPair struct {
	Addresses string `json:"ip_address"`
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
	return emptyOrContains(f.IDs, p.ID) && emptyOrEqual(f.NetworkID, p.NetworkID) && emptyOrEqual(f.DeviceID, p.DeviceID) &&
		emptyOrEqual(f.DeviceOwner, p.DeviceOwner) && emptyOrEqual(f.Name, p.Name) && emptyOrEqual(f.Description, p.Description) && f.inSubnets(p)
}

func (f PortFilter) inSubnets(p Port) bool {
	return len(f.SubnetIDs) == 0 || slices.ContainsFunc(p.FixedIPs, func(ip FixedIP) bool {
		return slices.Contains(f.SubnetIDs, ip.SubnetID)
	})
}
