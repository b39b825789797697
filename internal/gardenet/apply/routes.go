package apply

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/trellis-garden/trellis/internal/gardenet/desired"
)

// applyRoutes adds routes, and changes those that lead elsewhere. A change is one operation of the kernel, so that no packet is lost.
func (s *step) applyRoutes() {
	present, ok := s.presentRoutes()
	if !ok {
		return
	}
	tunnel, err := s.applier.find(desired.DeviceName)
	if s.failed("looking for the device "+desired.DeviceName, err) {
		return
	}
	for _, wanted := range s.state.Routes {
		if hasRoute(present[wanted.To], wanted, tunnel) {
			continue
		}
		if wanted.Device != "" && tunnel == nil {
			s.failed(describe(wanted), fmt.Errorf("there is no device %s", wanted.Device))
			continue
		}
		s.do(describe(wanted), func() error { return s.applier.netlink.RouteReplace(newRoute(wanted, tunnel)) })
	}
}

func describe(r desired.Route) string {
	if r.Device != "" {
		return fmt.Sprintf("setting the route to %s via %s through %s", r.To, r.Via, r.Device)
	}
	return fmt.Sprintf("setting the route to %s via %s", r.To, r.Via)
}

func newRoute(r desired.Route, tunnel netlink.Link) *netlink.Route {
	route := &netlink.Route{Dst: ipNetOf(r.To), Gw: r.Via.AsSlice(), Protocol: routeProtocol}
	if r.Device != "" {
		route.LinkIndex = tunnel.Attrs().Index
	}
	if r.OnLink {
		route.Flags = int(netlink.FLAG_ONLINK)
	}
	return route
}

// hasRoute reports whether exactly the wanted route is there.
func hasRoute(present []netlink.Route, wanted desired.Route, tunnel netlink.Link) bool {
	if len(present) != 1 {
		return false
	}
	via, _ := netip.AddrFromSlice(present[0].Gw)
	isTunnel := tunnel != nil && present[0].LinkIndex == tunnel.Attrs().Index
	return via.Unmap() == wanted.Via && isTunnel == (wanted.Device != "")
}

// removeRoutes deletes the agent's routes to ranges that no node has any more, and those beside the wanted one.
func (s *step) removeRoutes() {
	present, ok := s.presentRoutes()
	if !ok {
		return
	}
	tunnel, err := s.applier.find(desired.DeviceName)
	if s.failed("looking for the device "+desired.DeviceName, err) {
		return
	}
	wanted := map[netip.Prefix]desired.Route{}
	for _, r := range s.state.Routes {
		wanted[r.To] = r
	}
	for to, routes := range present {
		for _, route := range routes {
			if r, ok := wanted[to]; ok && hasRoute([]netlink.Route{route}, r, tunnel) {
				continue
			}
			s.do(fmt.Sprintf("deleting the route to %s via %s", to, route.Gw), func() error { return s.applier.netlink.RouteDel(&route) })
		}
	}
}

// presentRoutes returns the agent's routes by their destinations.
func (s *step) presentRoutes() (map[netip.Prefix][]netlink.Route, bool) {
	present := map[netip.Prefix][]netlink.Route{}
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		routes, err := s.applier.netlink.RouteListFiltered(family, &netlink.Route{Protocol: routeProtocol}, netlink.RT_FILTER_PROTOCOL)
		if s.failed("listing routes", err) {
			return nil, false
		}
		for _, route := range routes {
			to := prefixOf(route.Dst)
			present[to] = append(present[to], route)
		}
	}
	return present, true
}
