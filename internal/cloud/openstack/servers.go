package openstack

import "context"

// GetServer returns a server, so that a message can name what is in the way.
func (s *Session) GetServer(ctx context.Context, id string) (Server, error) {
	servers := resource[Server]{session: s, service: computeService, path: "servers", one: "server", many: "servers"}
	return servers.get(ctx, id)
}
