package desired

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
)

// randomNodes returns nodes of a shoot with a configuration. All have addresses of the family that the tunnel uses, some also of the other one.
func randomNodes(random *rand.Rand) ([]Node, config.Config) {
	c := dualStack().Config
	switch random.IntN(3) {
	case 0:
		c.PodRanges = c.PodRanges[:1]
	case 1:
		c.PodRanges = c.PodRanges[1:]
	}
	c.Routes = []config.Routes{config.RoutesTunnel, config.RoutesNodes, config.RoutesCloud}[random.IntN(3)]
	underlay, other := "10.250.%d.%d", "fd00:250::%d:%d"
	if random.IntN(2) == 0 {
		underlay, other = other, underlay
		c.NodeRanges = slices.Clone(c.NodeRanges)
		slices.Reverse(c.NodeRanges)
	}
	var nodes []Node
	for i := range 2 + random.IntN(6) {
		node := Node{Name: fmt.Sprintf("node-%d", i), Addresses: addresses(fmt.Sprintf(underlay, 0, i+1))}
		if random.IntN(2) == 0 {
			node.Addresses = append(node.Addresses, addresses(fmt.Sprintf(other, 0, i+1))...)
			random.Shuffle(2, func(i, j int) { node.Addresses[i], node.Addresses[j] = node.Addresses[j], node.Addresses[i] })
		}
		for _, all := range c.PodRanges {
			own := fmt.Sprintf("100.%d.%d.0/24", 96+random.IntN(32), i)
			if all.Addr().Is6() {
				own = fmt.Sprintf("fd00:96:0:0:%x:%x::/96", random.IntN(1<<16), i+1)
			}
			node.PodRanges = append(node.PodRanges, prefixes(own)...)
		}
		nodes = append(nodes, node)
	}
	return nodes, c
}

// inputOf is that of one of the nodes, which reaches about half of the other ones without a router.
func inputOf(random *rand.Rand, nodes []Node, own int, c config.Config) Input {
	input := dualStack()
	input.Config, input.Node, input.Others = c, nodes[own], slices.Delete(slices.Clone(nodes), own, own+1)
	input.Facts.OnLink = nil
	for _, other := range input.Others {
		if random.IntN(2) == 0 {
			input.Facts.OnLink = append(input.Facts.OnLink, other.Addresses...)
		}
	}
	input.Cluster.Node, input.Cluster.LocalRanges = input.Node.Name, input.Node.PodRanges
	return input
}

func TestCompute_OrderOfNodes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		nodes, c := randomNodes(random)
		input := inputOf(random, nodes, random.IntN(len(nodes)), c)
		want, err := Compute(input)
		require.NoError(t, err)
		random.Shuffle(len(input.Others), func(i, j int) { input.Others[i], input.Others[j] = input.Others[j], input.Others[i] })
		random.Shuffle(len(input.Facts.OnLink), func(i, j int) {
			input.Facts.OnLink[i], input.Facts.OnLink[j] = input.Facts.OnLink[j], input.Facts.OnLink[i]
		})
		got, err := Compute(input)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})))
	}
}

// Nodes do not tell each other anything: what one computes for another has to be what that one computes for itself.
func TestCompute_NodesAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	checked := 0
	for range 200 {
		nodes, c := randomNodes(random)
		states := make([]State, len(nodes))
		for i := range nodes {
			var err error
			states[i], err = Compute(inputOf(random, nodes, i, c))
			require.NoError(t, err)
		}
		for i, from := range states {
			for j, to := range states {
				if i != j {
					checked += checkAgreement(t, from, to, nodes[j])
				}
			}
		}
		if t.Failed() {
			return
		}
	}
	assert.Greater(t, checked, 1000, "routes through tunnels")
}

// checkAgreement checks the routes of one node through the tunnel to the pods of another, and returns their number.
func checkAgreement(t *testing.T, from, to State, node Node) (routes int) {
	t.Helper()
	for _, route := range from.Routes {
		if route.Device == "" || !slices.Contains(node.PodRanges, route.To) {
			continue
		}
		routes++
		i := slices.IndexFunc(from.Neighbours, func(n Neighbour) bool { return n.Address == route.Via })
		if !assert.GreaterOrEqual(t, i, 0, "the gateway of %v has a neighbour", route) {
			continue
		}
		assert.Equal(t, to.Device.MAC, from.Neighbours[i].MAC, "the MAC of the other node's device")
		assert.Equal(t, to.Device.Local, from.Neighbours[i].Node, "the address that the other node's device has")
		assert.True(t, route.OnLink)
		if route.Via.Is4() {
			assert.Contains(t, to.Device.Addresses, netip.PrefixFrom(route.Via, 32), "an address of the other node's device")
			continue
		}
		assert.Equal(t, linkLocal(t, to.Device.MAC), route.Via, "the address that the other node's kernel gives to the device")
	}
	return routes
}
