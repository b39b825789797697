package openstack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// explainUse replaces "in use", which is all that clouds say, by the names of what is in the way.
func (p *pass) explainUse(ctx context.Context, err error, find func(context.Context) ([]blocker, error)) error {
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

// blocker is something that keeps another from being deleted. There may be thousands, and describing one may take a call.
type blocker struct {
	key      string // gives blockers an order
	describe func(context.Context) string
}

// described is a blocker of which all is known.
func described(format string, args ...any) blocker {
	text := fmt.Sprintf(format, args...)
	return blocker{key: text, describe: func(context.Context) string { return text }}
}

// portBlocker says what the port does after what it is.
func (p *pass) portBlocker(port cloudopenstack.Port, does string) blocker {
	return blocker{key: port.ID, describe: func(ctx context.Context) string { return p.describePort(ctx, port) + " " + does }}
}

// portsIn describes the ports that keep a subnet or network, named by place, from being deleted.
func (p *pass) portsIn(ctx context.Context, place string, filter cloudopenstack.PortFilter) ([]blocker, error) {
	ports, err := p.cloud.ListPorts(ctx, filter)
	if err != nil {
		return nil, err
	}
	var blockers []blocker
	for _, port := range ports {
		if !goesWithNetwork(port) {
			blockers = append(blockers, p.portBlocker(port, "is still in "+place))
		}
	}
	return blockers, nil
}

func (p *pass) portsWithGroup(ctx context.Context, groupID string) ([]blocker, error) {
	if p.doomed.networkID == "" {
		return nil, nil
	}
	ports, err := p.cloud.ListPorts(ctx, cloudopenstack.PortFilter{NetworkID: p.doomed.networkID})
	if err != nil {
		return nil, err
	}
	var blockers []blocker
	for _, port := range ports {
		if slices.Contains(port.SecurityGroupIDs, groupID) {
			blockers = append(blockers, p.portBlocker(port, "still has security group "+groupID))
		}
	}
	return blockers, nil
}

func (p *pass) interfacesOf(ctx context.Context, routerID string) ([]blocker, error) {
	ports, err := p.cloud.ListPorts(ctx, cloudopenstack.PortFilter{DeviceID: routerID})
	if err != nil {
		return nil, err
	}
	var blockers []blocker
	for _, port := range ports {
		for _, ip := range port.FixedIPs {
			if isRouterInterface(port) {
				blockers = append(blockers, described("router %s is still connected to subnet %s by port %s", routerID, ip.SubnetID, port.ID))
			}
		}
	}
	return blockers, nil
}

// usersOfInterface names the floating IPs and routes that need a router's interface in a subnet.
func (p *pass) usersOfInterface(ctx context.Context, routerID, subnetID string) ([]blocker, error) {
	var ips, routes []blocker
	err := inParallel(
		func() (err error) { ips, err = p.floatingIPsThrough(ctx, routerID); return err },
		func() (err error) { routes, err = p.routesThrough(ctx, routerID, subnetID); return err },
	)
	return append(ips, routes...), err
}

func (p *pass) floatingIPsThrough(ctx context.Context, routerID string) ([]blocker, error) {
	ips, err := p.cloud.ListFloatingIPs(ctx, cloudopenstack.FloatingIPFilter{RouterID: routerID})
	if err != nil {
		return nil, err
	}
	var blockers []blocker
	for _, ip := range ips {
		blockers = append(blockers, described("floating IP %s (%s) still leads to port %s through router %s", ip.Address, ip.ID, ip.PortID, routerID))
	}
	return blockers, nil
}

func (p *pass) routesThrough(ctx context.Context, routerID, subnetID string) ([]blocker, error) {
	router, err := p.cloud.GetRouter(ctx, routerID)
	if err != nil {
		return nil, err
	}
	subnets, err := p.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{IDs: []string{subnetID}})
	if err != nil {
		return nil, err
	}
	var blockers []blocker
	for _, subnet := range subnets {
		others := nodeRoutes{own: []string{subnet.CIDR}}.others(router.Routes)
		for _, route := range router.Routes {
			if !slices.Contains(others, route) {
				blockers = append(blockers, described("router %s still has a route to %s by %s in subnet %s", routerID, route.Destination, route.NextHop, subnetID))
			}
		}
	}
	return blockers, nil
}

// describePort says what a port is for, by the name that its owner knows.
func (p *pass) describePort(ctx context.Context, port cloudopenstack.Port) string {
	text := "port " + port.ID
	switch {
	case strings.HasPrefix(port.DeviceOwner, "compute:"):
		name := port.DeviceID
		if server, err := p.cloud.GetServer(ctx, port.DeviceID); err == nil && server.Name != "" {
			name = server.Name
		}
		return text + " of server " + name
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

// goesWithNetwork tells ports that Neutron removes by itself.
func goesWithNetwork(port cloudopenstack.Port) bool {
	switch port.DeviceOwner {
	case "network:dhcp", "network:distributed", "network:floatingip_agent_gateway", "network:router_ha_interface":
		return true
	default:
		return false
	}
}
