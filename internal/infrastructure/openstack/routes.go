package openstack

import (
	"net/netip"
	"slices"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// routesOutside returns the routes whose next hop lies in none of the ranges. The others are the ones that a
// cloud-controller-manager wrote for nodes which are gone: they keep the router from letting go of the subnet.
func routesOutside(routes []cloudopenstack.Route, ranges []string) []cloudopenstack.Route {
	var prefixes []netip.Prefix
	for _, text := range ranges {
		if prefix, err := parsePrefix(text); err == nil {
			prefixes = append(prefixes, prefix)
		}
	}
	kept := []cloudopenstack.Route{}
	for _, route := range routes {
		hop, err := netip.ParseAddr(route.NextHop)
		inside := func(prefix netip.Prefix) bool { return prefix.Contains(hop) }
		if err != nil || !slices.ContainsFunc(prefixes, inside) {
			kept = append(kept, route)
		}
	}
	return kept
}
