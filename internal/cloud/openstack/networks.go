package openstack

import (
	"context"
	"net/url"
)

func (s *Session) networks() resource[Network] {
	return resource[Network]{session: s, service: networkService, path: "networks", singular: "network", plural: "networks"}
}

// ListNetworks returns the networks that match the filter.
func (s *Session) ListNetworks(ctx context.Context, filter NetworkFilter) ([]Network, error) {
	return s.networks().list(ctx, filter)
}

// CreateNetwork creates a network.
func (s *Session) CreateNetwork(ctx context.Context, network NetworkCreate) (Network, error) {
	return s.networks().create(ctx, network)
}

// UpdateNetwork changes a network and returns the changed one.
func (s *Session) UpdateNetwork(ctx context.Context, id string, update NetworkUpdate) (Network, error) {
	return s.networks().update(ctx, id, update, nil)
}

// DeleteNetwork deletes a network. It fails with cloud.NotFound when there is none, and with cloud.InUse while it has ports.
func (s *Session) DeleteNetwork(ctx context.Context, id string) error {
	return s.networks().remove(ctx, id, nil)
}

func (f NetworkFilter) query() url.Values {
	q := query{}
	q.any("id", f.IDs)
	q.text("name", f.Name)
	q.text("description", f.Description)
	q.flag("router:external", f.External)
	return url.Values(q)
}

func (f NetworkFilter) matches(n Network) bool {
	return emptyOrContains(f.IDs, n.ID) && emptyOrEqual(f.Name, n.Name) && emptyOrEqual(f.Description, n.Description) &&
		(f.External == nil || *f.External == n.External)
}
