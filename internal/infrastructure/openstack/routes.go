package openstack

import (
	"net/netip"
	"slices"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// nodeRoutes recognizes the routes of a cloud-controller-manager to the shoot's nodes.
type nodeRoutes struct {
	// own are the ranges of the shoot's own node subnets: any route to them leads to its nodes.
	own []string
	// given are the ranges of given node subnets. They are shared, and may have routes of others.
	given []string
	// pods are the ranges of the shoot's pods: in a given subnet, only a route of one of them is the shoot's.
	pods []string
}

// others returns the routes that are not the shoot's.
func (n nodeRoutes) others(routes []cloudopenstack.Route) []cloudopenstack.Route {
	own, given, pods := prefixesOf(n.own), prefixesOf(n.given), prefixesOf(n.pods)
	kept := []cloudopenstack.Route{}
	for _, route := range routes {
		hop, err := netip.ParseAddr(route.NextHop)
		destination, destinationErr := parsePrefix(route.Destination)
		toPods := destinationErr == nil && slices.ContainsFunc(pods, func(pods netip.Prefix) bool {
			return pods.Bits() <= destination.Bits() && pods.Contains(destination.Addr())
		})
		ours := err == nil && (anyContains(own, hop) || (toPods && anyContains(given, hop)))
		if !ours {
			kept = append(kept, route)
		}
	}
	return kept
}

func anyContains(prefixes []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
}

// prefixesOf parses ranges; invalid ones are left out.
func prefixesOf(ranges []string) []netip.Prefix {
	var prefixes []netip.Prefix
	for _, text := range ranges {
		if prefix, err := parsePrefix(text); err == nil {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}
