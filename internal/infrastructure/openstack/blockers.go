package openstack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract"
)

// explainInUse adds the names of the blocking resources to an error "in use".
func (rec *reconciliation) explainInUse(ctx context.Context, err error, find func(context.Context) ([]blocker, error)) error {
	if cloud.KindOf(err) != cloud.InUse {
		return err
	}
	blockers, findErr := find(ctx)
	if findErr != nil || len(blockers) == 0 {
		return err // the cloud's own words are better than none
	}
	slices.SortFunc(blockers, func(a, b blocker) int { return strings.Compare(a.key, b.key) })
	const most = 5
	var texts []string
	for _, each := range blockers[:min(most, len(blockers))] {
		texts = append(texts, each.describe(ctx))
	}
	text := strings.Join(texts, "; ")
	if more := len(blockers) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return &cloud.Error{Kind: cloud.InUse, Message: text, Err: err}
}

// blocker is a resource that prevents a deletion. There may be thousands, and describing one may take a request.
type blocker struct {
	key      string // gives blockers an order
	describe func(context.Context) string
}

// newBlocker is a blocker that needs no request.
func newBlocker(format string, args ...any) blocker {
	text := fmt.Sprintf(format, args...)
	return blocker{key: text, describe: func(context.Context) string { return text }}
}

// portBlocker appends the use of the port to its name.
func (rec *reconciliation) portBlocker(port cloudopenstack.Port, use string) blocker {
	return blocker{key: port.ID, describe: func(ctx context.Context) string { return rec.describePort(ctx, port) + " " + use }}
}

// blockingPortsIn describes the ports that prevent the deletion of a subnet or network, named by place.
func (rec *reconciliation) blockingPortsIn(ctx context.Context, place string, filter cloudopenstack.PortFilter) ([]blocker, error) {
	ports, err := rec.cloud.ListPorts(ctx, filter)
	if err != nil {
		return nil, err
	}
	var blockers []blocker
	for _, port := range ports {
		if !isDeletedWithNetwork(port) {
			blockers = append(blockers, rec.portBlocker(port, "is still in "+place))
		}
	}
	return blockers, nil
}

func (rec *reconciliation) blockingPortsWithGroup(ctx context.Context, groupID string) ([]blocker, error) {
	if rec.toDelete.networkID == "" {
		return nil, nil
	}
	ports, err := rec.cloud.ListPorts(ctx, cloudopenstack.PortFilter{NetworkID: rec.toDelete.networkID})
	if err != nil {
		return nil, err
	}
	var blockers []blocker
	for _, port := range ports {
		if slices.Contains(port.SecurityGroupIDs, groupID) {
			blockers = append(blockers, rec.portBlocker(port, "still has security group "+groupID))
		}
	}
	return blockers, nil
}

func (rec *reconciliation) blockingInterfaces(ctx context.Context, routerID string) ([]blocker, error) {
	ports, err := rec.cloud.ListPorts(ctx, cloudopenstack.PortFilter{DeviceID: routerID})
	if err != nil {
		return nil, err
	}
	var blockers []blocker
	for _, port := range ports {
		for _, ip := range port.FixedIPs {
			if isRouterInterface(port) {
				blockers = append(blockers, newBlocker("router %s is still connected to subnet %s by port %s", routerID, ip.SubnetID, port.ID))
			}
		}
	}
	return blockers, nil
}

// interfaceUsers names the floating IPs and routes that need a router's interface in a subnet.
func (rec *reconciliation) interfaceUsers(ctx context.Context, routerID, subnetID string) ([]blocker, error) {
	var ips, routes []blocker
	err := contract.InParallel(
		func() (err error) { ips, err = rec.floatingIPsUsingRouter(ctx, routerID); return err },
		func() (err error) { routes, err = rec.routesUsingSubnet(ctx, routerID, subnetID); return err },
	)
	return append(ips, routes...), err
}

func (rec *reconciliation) floatingIPsUsingRouter(ctx context.Context, routerID string) ([]blocker, error) {
	ips, err := rec.cloud.ListFloatingIPs(ctx, cloudopenstack.FloatingIPFilter{RouterID: routerID})
	if err != nil {
		return nil, err
	}
	var blockers []blocker
	for _, ip := range ips {
		blockers = append(blockers, newBlocker("floating IP %s (%s) still leads to port %s through router %s", ip.Address, ip.ID, ip.PortID, routerID))
	}
	return blockers, nil
}

func (rec *reconciliation) routesUsingSubnet(ctx context.Context, routerID, subnetID string) ([]blocker, error) {
	router, err := rec.cloud.GetRouter(ctx, routerID)
	if err != nil {
		return nil, err
	}
	subnets, err := rec.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{IDs: []string{subnetID}})
	if err != nil {
		return nil, err
	}
	var blockers []blocker
	for _, subnet := range subnets {
		others := nodeRoutes{own: []string{subnet.CIDR}}.others(router.Routes)
		for _, route := range router.Routes {
			if !slices.Contains(others, route) {
				blockers = append(blockers, newBlocker("router %s still has a route to %s by %s in subnet %s", routerID, route.Destination, route.NextHop, subnetID))
			}
		}
	}
	return blockers, nil
}

// describePort describes the use of a port, by the name that its owner knows.
func (rec *reconciliation) describePort(ctx context.Context, port cloudopenstack.Port) string {
	var name string
	if isServerPort(port) {
		if server, err := rec.cloud.GetServer(ctx, port.DeviceID); err == nil {
			name = server.Name
		}
	}
	return describePort(port, name)
}

func isServerPort(port cloudopenstack.Port) bool {
	return strings.HasPrefix(port.DeviceOwner, "compute:")
}

// describePort describes the use of a port; server is the name of its server, empty if it is unknown.
func describePort(port cloudopenstack.Port, server string) string {
	text := "port " + port.ID
	switch {
	case isServerPort(port):
		return text + " of server " + cmp.Or(server, port.DeviceID)
	case isRouterInterface(port):
		return text + " of router " + port.DeviceID
	case port.DeviceOwner == "Octavia":
		return text + " of load balancer " + strings.TrimPrefix(port.DeviceID, "lb-")
	case port.DeviceOwner != "":
		return fmt.Sprintf("%s of %s %s", text, port.DeviceOwner, port.DeviceID)
	case port.Name != "":
		return fmt.Sprintf("%s (%s)", text, port.Name)
	default:
		return text
	}
}

// isDeletedWithNetwork reports whether Neutron deletes the port with its network.
func isDeletedWithNetwork(port cloudopenstack.Port) bool {
	switch port.DeviceOwner {
	case "network:dhcp", "network:distributed", "network:floatingip_agent_gateway", "network:router_ha_interface":
		return true
	default:
		return false
	}
}
