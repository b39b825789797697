package openstack

import "context"

// Flavor is a Nova flavor: the size of a server.
type Flavor struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	VCPUs int    `json:"vcpus"`
	RAM   int    `json:"ram"`  // MiB
	Disk  int    `json:"disk"` // GiB; 0 for a flavor that only boots from volumes, or has no limit
}

func (s *Session) flavors() resource[Flavor] {
	return resource[Flavor]{
		session: s, service: computeService, path: "flavors", detail: "/detail", singular: "flavor", plural: "flavors",
	}
}

// ListFlavors returns the flavors that the session's project may use. Nova cannot filter them by name.
func (s *Session) ListFlavors(ctx context.Context) ([]Flavor, error) {
	return s.flavors().list(ctx, noFilter[Flavor]{})
}
