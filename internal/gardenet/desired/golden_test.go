package desired

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/gardenet/nft"
	"github.com/trellis-garden/trellis/internal/gardenet/nft/nfttest"
	"github.com/trellis-garden/trellis/internal/golden"
)

// goldenStates are changes of the input by the name of the file.
func goldenStates() map[string]func(*Input) {
	return map[string]func(*Input){
		"tunnel": func(*Input) {},
		// The stage of a switch between tunnel and routes by nodes in which each node receives packets of both ways.
		"nodes-with-tunnel": func(input *Input) { input.Config.Routes = config.RoutesNodes },
		"cloud": func(input *Input) {
			input.Config.Routes, input.Config.Tunnel = config.RoutesCloud, nil
			input.Config.Masquerade.Except = prefixes("192.168.0.0/16", "10.250.4.0/24")
			input.Config.NetworkPolicy.Recheck = false
		},
		"ipv6-only": onlyIPv6,
		"masquerade-dns": func(input *Input) {
			withoutTunnel(input)
			input.Config.Masquerade = config.Masquerade{DNS: true}
		},
		"no-policies": func(input *Input) { input.Config.NetworkPolicy = nil },
	}
}

func TestCompute_GoldenFiles(t *testing.T) {
	tests := goldenStates()
	folder := golden.Open(t, "testdata/states")
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		folder.Check(t, name+".txt", textOf(compute(t, tests[name])))
	}
}

func TestCompute_InTheKernel(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	states := goldenStates()
	states["ranges that touch or contain each other"] = func(input *Input) {
		input.Config.Masquerade.Except = prefixes("10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/32", "10.0.1.0/25", "10.0.0.0/24", "fd00:1::/64", "fd00:1::1/128")
	}
	states["a range of everything"] = func(input *Input) { input.Config.Masquerade.Except = prefixes("0.0.0.0/0", "::/0") }
	before := nft.Table{}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		table := compute(t, states[name]).Table
		require.NoError(t, nfttest.Apply(t, nft.Replace(table), true), name)
		require.NoError(t, nfttest.Apply(t, nft.Difference(before, table), false), name)
		before = table
	}
}

// textOf lists all that is in a state.
func textOf(s State) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if d := s.Device; d != nil {
		line("device %s: id %d, port %d, MTU %d, local %s, MAC %s, addresses %v", d.Name, d.ID, d.Port, d.MTU, d.Local, d.MAC, d.Addresses)
	}
	for _, route := range s.Routes {
		line("route to %s: via %s, device %q, on link %t", route.To, route.Via, route.Device, route.OnLink)
	}
	for _, neighbour := range s.Neighbours {
		line("neighbour %s: MAC %s, node %s", neighbour.Address, neighbour.MAC, neighbour.Node)
	}
	for _, path := range slices.Sorted(maps.Keys(s.Sysctls)) {
		line("sysctl %s: %s", path, s.Sysctls[path])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Unreachable)) {
		line("unreachable %s: %s", name, s.Unreachable[name])
	}
	return b.String() + "\n" + s.Table.Text() + "\n" + s.Conflist
}
