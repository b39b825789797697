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
func (p *pass) explainUse(ctx context.Context, err error, find func(context.Context) ([]string, error)) error {
	if cloud.KindOf(err) != cloud.InUse {
		return err
	}
	blockers, findErr := find(ctx)
	if findErr != nil || len(blockers) == 0 {
		return err // the cloud's own words are better than none
	}
	slices.Sort(blockers)
	const most = 5
	text := strings.Join(blockers[:min(most, len(blockers))], "; ")
	if more := len(blockers) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return &cloud.Error{Kind: cloud.InUse, Message: text, Err: err}
}

// portsIn describes the ports that keep a subnet or network, named by place, from being deleted.
func (p *pass) portsIn(ctx context.Context, place string, filter cloudopenstack.PortFilter) ([]string, error) {
	ports, err := p.cloud.ListPorts(ctx, filter)
	if err != nil {
		return nil, err
	}
	var blockers []string
	for _, port := range ports {
		if !goesWithNetwork(port) {
			blockers = append(blockers, fmt.Sprintf("%s is still in %s", p.describePort(ctx, port), place))
		}
	}
	return blockers, nil
}

func (p *pass) portsWithGroup(ctx context.Context, groupID string) ([]string, error) {
	if p.doomed.networkID == "" {
		return nil, nil
	}
	ports, err := p.cloud.ListPorts(ctx, cloudopenstack.PortFilter{NetworkID: p.doomed.networkID})
	if err != nil {
		return nil, err
	}
	var blockers []string
	for _, port := range ports {
		if slices.Contains(port.SecurityGroupIDs, groupID) {
			blockers = append(blockers, fmt.Sprintf("%s still has security group %s", p.describePort(ctx, port), groupID))
		}
	}
	return blockers, nil
}

func (p *pass) interfacesOf(ctx context.Context, routerID string) ([]string, error) {
	ports, err := p.cloud.ListPorts(ctx, cloudopenstack.PortFilter{DeviceID: routerID})
	if err != nil {
		return nil, err
	}
	var blockers []string
	for _, port := range ports {
		for _, ip := range port.FixedIPs {
			if isRouterInterface(port) {
				blockers = append(blockers, fmt.Sprintf("router %s is still connected to subnet %s by port %s", routerID, ip.SubnetID, port.ID))
			}
		}
	}
	return blockers, nil
}

// usersOfInterface names the floating IPs and routes that need a router's interface in a subnet.
func (p *pass) usersOfInterface(ctx context.Context, routerID, subnetID string) ([]string, error) {
	var ips, routes []string
	err := inParallel(
		func() (err error) { ips, err = p.floatingIPsThrough(ctx, routerID); return err },
		func() (err error) { routes, err = p.routesThrough(ctx, routerID, subnetID); return err },
	)
	return append(ips, routes...), err
}

func (p *pass) floatingIPsThrough(ctx context.Context, routerID string) ([]string, error) {
	ips, err := p.cloud.ListFloatingIPs(ctx, cloudopenstack.FloatingIPFilter{RouterID: routerID})
	if err != nil {
		return nil, err
	}
	var blockers []string
	for _, ip := range ips {
		blockers = append(blockers, fmt.Sprintf("floating IP %s (%s) still leads to port %s through router %s", ip.Address, ip.ID, ip.PortID, routerID))
	}
	return blockers, nil
}

func (p *pass) routesThrough(ctx context.Context, routerID, subnetID string) ([]string, error) {
	router, err := p.cloud.GetRouter(ctx, routerID)
	if err != nil {
		return nil, err
	}
	subnets, err := p.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{IDs: []string{subnetID}})
	if err != nil {
		return nil, err
	}
	var blockers []string
	for _, subnet := range subnets {
		others := nodeRoutes{own: []string{subnet.CIDR}}.others(router.Routes)
		for _, route := range router.Routes {
			if !slices.Contains(others, route) {
				blockers = append(blockers, fmt.Sprintf("router %s still has a route to %s by %s in subnet %s", routerID, route.Destination, route.NextHop, subnetID))
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
