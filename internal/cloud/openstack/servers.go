package openstack

import "context"

// Server is a Nova server, as much of it as a message about a blocked deletion needs.
type Server struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// GetServer returns a server, so that a message can name what is in the way.
func (s *Session) GetServer(ctx context.Context, id string) (Server, error) {
	servers := resource[Server]{session: s, service: computeService, path: "servers", one: "server", many: "servers"}
	return servers.get(ctx, id)
}
