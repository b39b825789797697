package openstack

import (
	"context"
	"net/url"
)

// ShareNetwork is a Manila share network.
type ShareNetwork struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	ProjectID   string `json:"project_id"`
	NetworkID   string `json:"neutron_net_id"`
	SubnetID    string `json:"neutron_subnet_id"`
}

// ShareNetworkCreate is the request for a new share network.
type ShareNetworkCreate struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	NetworkID   string `json:"neutron_net_id"`
	SubnetID    string `json:"neutron_subnet_id"`
}

// ShareNetworkFilter selects share networks; all given criteria must match.
type ShareNetworkFilter struct{ ID, Name, NetworkID, SubnetID string }

// HasShares reports whether the cloud offers Manila in the session's region. It makes no call.
func (s *Session) HasShares() bool { return s.has(shareService) }

func (s *Session) shareNetworks() resource[ShareNetwork] {
	return resource[ShareNetwork]{
		session: s, service: shareService,
		path: "share-networks", detail: "/detail", singular: "share_network", plural: "share_networks",
	}
}

// ListShareNetworks returns the share networks that match the filter. Without Manila it fails, see IsServiceMissing.
func (s *Session) ListShareNetworks(ctx context.Context, filter ShareNetworkFilter) ([]ShareNetwork, error) {
	return s.shareNetworks().list(ctx, filter)
}

// CreateShareNetwork creates a share network.
func (s *Session) CreateShareNetwork(ctx context.Context, network ShareNetworkCreate) (ShareNetwork, error) {
	return s.shareNetworks().create(ctx, network)
}

// DeleteShareNetwork deletes a share network. It fails with cloud.NotFound if there is none, and with cloud.Conflict
// while it has shares.
func (s *Session) DeleteShareNetwork(ctx context.Context, id string) error {
	return s.shareNetworks().remove(ctx, id, nil)
}

// query omits the ID: the Shared File Systems API does not filter by it.
func (f ShareNetworkFilter) query() url.Values {
	q := query{}
	q.text("name", f.Name)
	q.text("neutron_net_id", f.NetworkID)
	q.text("neutron_subnet_id", f.SubnetID)
	return url.Values(q)
}

func (f ShareNetworkFilter) matches(n ShareNetwork) bool {
	return emptyOrEqual(f.ID, n.ID) && emptyOrEqual(f.Name, n.Name) && emptyOrEqual(f.NetworkID, n.NetworkID) && emptyOrEqual(f.SubnetID, n.SubnetID)
}
