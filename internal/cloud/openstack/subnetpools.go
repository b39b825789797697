package openstack

import (
	"context"
	"encoding/json"
	"net/url"
)

// SubnetPool is a Neutron subnet pool.
type SubnetPool struct {
	ID               string
	Name             string
	IPVersion        int
	Prefixes         []string
	DefaultPrefixLen int
	MinPrefixLen     int
	MaxPrefixLen     int
	AddressScopeID   string
	Shared           bool
	IsDefault        bool
}

// SubnetPoolFilter selects subnet pools; all given criteria must match. IDs is a set: any of them.
type SubnetPoolFilter struct {
	IDs  []string
	Name string
}

func (s *Session) subnetPools() resource[SubnetPool] {
	return resource[SubnetPool]{
		session: s, service: networkService, path: "subnetpools", singular: "subnetpool", plural: "subnetpools",
	}
}

// GetSubnetPool returns a subnet pool.
func (s *Session) GetSubnetPool(ctx context.Context, id string) (SubnetPool, error) {
	return s.subnetPools().get(ctx, id)
}

// ListSubnetPools returns the subnet pools that match the filter, including shared ones of other projects.
func (s *Session) ListSubnetPools(ctx context.Context, filter SubnetPoolFilter) ([]SubnetPool, error) {
	return s.subnetPools().list(ctx, filter)
}

func (f SubnetPoolFilter) query() url.Values {
	q := query{}
	q.any("id", f.IDs)
	q.text("name", f.Name)
	return url.Values(q)
}

func (f SubnetPoolFilter) matches(p SubnetPool) bool {
	return emptyOrContains(f.IDs, p.ID) && emptyOrEqual(f.Name, p.Name)
}

// UnmarshalJSON decodes a subnet pool. Neutron writes the prefix lengths as numbers or, older ones, as strings.
func (p *SubnetPool) UnmarshalJSON(data []byte) error {
	var wire struct {
		ID               string      `json:"id"`
		Name             string      `json:"name"`
		IPVersion        int         `json:"ip_version"`
		Prefixes         []string    `json:"prefixes"`
		DefaultPrefixLen json.Number `json:"default_prefixlen"`
		MinPrefixLen     json.Number `json:"min_prefixlen"`
		MaxPrefixLen     json.Number `json:"max_prefixlen"`
		AddressScopeID   string      `json:"address_scope_id"`
		Shared           bool        `json:"shared"`
		IsDefault        bool        `json:"is_default"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*p = SubnetPool{
		ID: wire.ID, Name: wire.Name, IPVersion: wire.IPVersion, Prefixes: wire.Prefixes,
		DefaultPrefixLen: prefixLength(wire.DefaultPrefixLen),
		MinPrefixLen:     prefixLength(wire.MinPrefixLen),
		MaxPrefixLen:     prefixLength(wire.MaxPrefixLen),
		AddressScopeID:   wire.AddressScopeID, Shared: wire.Shared, IsDefault: wire.IsDefault,
	}
	return nil
}

// prefixLength returns n as a plain number, and 0 if it is missing.
func prefixLength(n json.Number) int {
	length, err := n.Int64()
	if err != nil {
		return 0
	}
	return int(length)
}
