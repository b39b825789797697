package desired

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
)

// reach adds what the node needs to reach the pods of another one.
func (n *node) reach(other Node, state *State) {
	ranges := inFamilies(n.Config, other.PodRanges)
	if len(ranges) == 0 || len(other.Addresses) == 0 {
		return
	}
	if n.Config.Tunnel != nil {
		if err := n.addPeer(other, state); err != nil {
			if n.Config.Routes == config.RoutesTunnel {
				state.Unreachable[other.Name] = err.Error()
				return
			}
		}
	}
	for _, r := range ranges {
		switch n.Config.Routes {
		case config.RoutesTunnel:
			state.Routes = append(state.Routes, Route{To: r, Via: gateway(other, r), Device: DeviceName, OnLink: true})
		case config.RoutesNodes:
			via, err := n.onLink(other, r)
			if err != nil {
				state.Unreachable[other.Name] = err.Error()
				continue
			}
			state.Routes = append(state.Routes, Route{To: r, Via: via})
		case config.RoutesCloud:
		}
	}
}

// onLink returns the address of a node through which its pods are reached: it must not be behind a router, which does not know pods.
func (n *node) onLink(other Node, r netip.Prefix) (netip.Addr, error) {
	address, found := ofFamily(other.Addresses, r.Addr())
	switch {
	case !found:
		return netip.Addr{}, fmt.Errorf("it has no address of the family of its pods %s", r)
	case !slices.Contains(n.Facts.OnLink, address):
		return netip.Addr{}, fmt.Errorf("its address %s is behind a router: routes by addresses of nodes need one layer 2 network; switch the overlay on", address)
	default:
		return address, nil
	}
}

// ofFamily returns the first address of the same family as another one.
func ofFamily(addresses []netip.Addr, as netip.Addr) (netip.Addr, bool) {
	i := slices.IndexFunc(addresses, func(a netip.Addr) bool { return a.Is4() == as.Is4() })
	if i < 0 {
		return netip.Addr{}, false
	}
	return addresses[i], true
}
