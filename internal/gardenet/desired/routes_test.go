package desired

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
)

func TestCompute_OtherNodes(t *testing.T) {
	tests := map[string]struct {
		change func(*Input)
		// routes are the ranges of nodes that are reached, neighbours the addresses of nodes behind entries of the tunnel.
		routes, neighbours []string
	}{
		"both families go through the tunnel": {
			change:     func(*Input) {},
			routes:     []string{"100.96.1.0/24", "fd00:96:0:0:1::/80"},
			neighbours: []string{"10.250.0.12", "10.250.0.12"},
		},
		"routes by addresses of nodes leave the tunnel ready": {
			change:     func(input *Input) { input.Config.Routes = config.RoutesNodes },
			routes:     []string{"100.96.1.0/24", "fd00:96:0:0:1::/80"},
			neighbours: []string{"10.250.0.12", "10.250.0.12"},
		},
		"routes of the cloud leave the tunnel ready": {
			change:     func(input *Input) { input.Config.Routes = config.RoutesCloud },
			neighbours: []string{"10.250.0.12", "10.250.0.12"},
		},
		"the tunnel uses the family of the shoot's nodes, whatever the order of a node's addresses": {
			change: func(input *Input) {
				input.Node.Addresses = addresses("fd00:250::11", "10.250.0.11")
			},
			routes:     []string{"100.96.1.0/24", "fd00:96:0:0:1::/80"},
			neighbours: []string{"10.250.0.12", "10.250.0.12"},
		},
		"a range of a family that the shoot lacks has no route": {
			change:     onlyIPv4,
			routes:     []string{"100.96.1.0/24"},
			neighbours: []string{"10.250.0.12"},
		},
		"a node with ranges of such a family only is skipped": {
			change: func(input *Input) { onlyIPv4(input); input.Others[0].PodRanges = input.Others[0].PodRanges[1:] },
		},
		"a node without a range is skipped":    {change: func(input *Input) { input.Others[0].PodRanges = nil }},
		"a node without an address is skipped": {change: func(input *Input) { input.Others[0].Addresses = nil }},
		"there may be no other node":           {change: func(input *Input) { input.Others = nil }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			state := compute(t, func(input *Input) {
				input.Others = input.Others[:1]
				test.change(input)
			})
			var routes, neighbours []string
			for _, route := range state.Routes {
				routes = append(routes, route.To.String())
			}
			for _, neighbour := range state.Neighbours {
				neighbours = append(neighbours, neighbour.Node.String())
			}
			assert.Equal(t, test.routes, routes)
			assert.Equal(t, test.neighbours, neighbours)
			assert.Empty(t, state.Unreachable)
		})
	}
}

func TestCompute_Unreachable(t *testing.T) {
	tests := map[string]struct {
		change func(*Input)
		// routes are to pods of node b. Those of node c are always reached.
		routes []Route
		want   string
	}{
		"its address is behind a router": {
			change: func(input *Input) {
				withoutTunnel(input)
				input.Facts.OnLink = addresses("fd00:250::12", "10.250.0.13", "fd00:250::13")
			},
			routes: []Route{{To: prefixes("fd00:96:0:0:1::/80")[0], Via: addresses("fd00:250::12")[0]}},
			want:   "its address 10.250.0.12 is behind a router: routes by addresses of nodes need one layer 2 network; switch the overlay on",
		},
		"a router is in the way while the tunnel is brought up": {
			change: func(input *Input) {
				input.Config.Routes = config.RoutesNodes
				input.Facts.OnLink = addresses("10.250.0.12", "10.250.0.13", "fd00:250::13")
			},
			routes: []Route{{To: prefixes("100.96.1.0/24")[0], Via: addresses("10.250.0.12")[0]}},
			want:   "its address fd00:250::12 is behind a router: routes by addresses of nodes need one layer 2 network; switch the overlay on",
		},
		"it has no address of the family of its pods": {
			change: func(input *Input) {
				withoutTunnel(input)
				input.Others[0].Addresses = input.Others[0].Addresses[:1]
			},
			routes: []Route{{To: prefixes("100.96.1.0/24")[0], Via: addresses("10.250.0.12")[0]}},
			want:   "it has no address of the family of its pods fd00:96:0:0:1::/80",
		},
		"it has no address of the family of the tunnel": {
			change: func(input *Input) { input.Others[0].Addresses = input.Others[0].Addresses[1:] },
			want:   "it has no address of the family of 10.250.0.11, from which this node sends",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			state := compute(t, test.change)
			assert.Equal(t, map[string]string{"b": test.want}, state.Unreachable)
			var toB, toC []Route
			for _, route := range state.Routes {
				if dualStack().Others[1].PodRanges[0] == route.To || dualStack().Others[1].PodRanges[1] == route.To {
					toC = append(toC, route)
				} else {
					toB = append(toB, route)
				}
			}
			assert.Equal(t, test.routes, toB)
			assert.Len(t, toC, 2)
		})
	}
}

func TestCompute_UnusedTunnelLacksFamily(t *testing.T) {
	state := compute(t, func(input *Input) {
		input.Config.Routes = config.RoutesCloud
		input.Others[0].Addresses = input.Others[0].Addresses[1:]
	})
	assert.Empty(t, state.Unreachable, "no packet is sent through the tunnel")
	assert.Len(t, state.Neighbours, 2, "those of the node that has an address of the family")
}
