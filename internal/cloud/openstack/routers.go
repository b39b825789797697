package openstack

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

func (s *Session) routers() resource[Router] {
	return resource[Router]{session: s, service: networkService, path: "routers", singular: "router", plural: "routers"}
}

// ListRouters returns the routers that match the filter.
func (s *Session) ListRouters(ctx context.Context, filter RouterFilter) ([]Router, error) {
	return s.routers().list(ctx, filter)
}

// GetRouter returns a router.
func (s *Session) GetRouter(ctx context.Context, id string) (Router, error) {
	return s.routers().get(ctx, id)
}

// CreateRouter creates a router. It fails with cloud.Depleted if the external network, or the requested subnet of
// it, has no address left.
func (s *Session) CreateRouter(ctx context.Context, router RouterCreate) (Router, error) {
	return s.routers().create(ctx, router)
}

// UpdateRouter changes a router and returns the changed one.
func (s *Session) UpdateRouter(ctx context.Context, id string, update RouterUpdate) (Router, error) {
	if update.Routes != nil && *update.Routes == nil {
		update.Routes = &[]Route{} // null would be rejected
	}
	var headers map[string]string
	if update.IfRevision > 0 {
		headers = map[string]string{ifMatch: "revision_number=" + strconv.Itoa(update.IfRevision)}
	}
	return s.routers().update(ctx, id, update, headers)
}

// DeleteRouter deletes a router. It fails with cloud.NotFound when there is none, and with cloud.InUse while it has
// interfaces.
func (s *Session) DeleteRouter(ctx context.Context, id string) error {
	return s.routers().remove(ctx, id, nil)
}

// AddRouterInterface connects a subnet to a router and returns the ID of the port between them. It is never repeated
// after a lost response: Neutron rejects a second interface with 400, as any invalid request.
func (s *Session) AddRouterInterface(ctx context.Context, routerID, subnetID string) (portID string, err error) {
	var response struct {
		PortID string `json:"port_id"`
	}
	err = s.routerInterface(ctx, "add_router_interface", routerID, subnetID, true, &response)
	return response.PortID, err
}

// RemoveRouterInterface disconnects a subnet from a router. It fails with cloud.NotFound when they are not connected, and
// with cloud.InUse while a floating IP or a route needs the interface.
func (s *Session) RemoveRouterInterface(ctx context.Context, routerID, subnetID string) error {
	return s.routerInterface(ctx, "remove_router_interface", routerID, subnetID, false, nil)
}

func (s *Session) routerInterface(ctx context.Context, verb, routerID, subnetID string, noRetry bool, response any) error {
	path, err := s.routers().item(routerID)
	if err != nil {
		return err
	}
	return s.do(ctx, call{
		service: networkService, method: http.MethodPut, path: path + "/" + verb, noRetry: noRetry,
		body: map[string]string{"subnet_id": subnetID}, response: response,
	})
}

func (f RouterFilter) query() url.Values {
	q := query{}
	q.any("id", f.IDs)
	q.text("name", f.Name)
	q.text("description", f.Description)
	return url.Values(q)
}

func (f RouterFilter) matches(r Router) bool {
	return emptyOrContains(f.IDs, r.ID) && emptyOrEqual(f.Name, r.Name) && emptyOrEqual(f.Description, r.Description)
}
