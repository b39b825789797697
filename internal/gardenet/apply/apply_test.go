package apply

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/gardenet/nft/nfttest"
	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

// run runs a program of the node, and returns its output.
func run(t *testing.T, command string) string {
	fields := strings.Fields(command)
	output, err := exec.CommandContext(t.Context(), fields[0], fields[1:]...).CombinedOutput()
	require.NoError(t, err, "%s: %s", command, output)
	return string(output)
}

func TestApply_Ways(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	env := newEnvironment(t)
	run(t, "ip route add 198.51.100.0/24 via 10.250.0.1 proto static")
	run(t, "nft add table inet others")

	env.apply(t)
	routes := run(t, "ip route") + run(t, "ip -6 route")
	assert.Contains(t, routes, "100.96.1.0/24 via 100.96.1.0 dev gardenet0 proto 152 onlink")
	assert.Contains(t, routes, "fd00:96:0:0:1::/80 via fe80::")
	device := run(t, "ip -d address show gardenet0")
	for _, want := range []string{"mtu 1450", "link/ether 02:47:", "vxlan id 1 local 10.250.0.11", "dstport 8472 nolearning", "inet 100.96.0.0/32", "inet6 fd00:96::/128"} {
		assert.Contains(t, device, want)
	}
	assert.Contains(t, run(t, "bridge fdb show dev gardenet0"), "dst 10.250.0.12 self permanent")

	env.input.Config.Routes = config.RoutesNodes
	env.apply(t)
	routes = run(t, "ip route") + run(t, "ip -6 route")
	assert.Contains(t, routes, "100.96.1.0/24 via 10.250.0.12 dev uplink proto 152")
	assert.Contains(t, routes, "fd00:96:0:0:1::/80 via fd00:250::12 dev uplink proto 152")
	assert.NotContains(t, routes, "100.96.1.0 dev gardenet0")
	assert.Contains(t, run(t, "ip link"), "gardenet0", "the tunnel stays as long as the configuration has it")

	env.input.Config.Tunnel = nil
	env.apply(t)
	assert.NotContains(t, run(t, "ip link"), "gardenet0")

	env.input.Config.Routes = config.RoutesCloud
	env.apply(t)
	routes = run(t, "ip route") + run(t, "ip -6 route")
	assert.NotContains(t, routes, "proto 152", "the cloud makes routes")
	assert.Contains(t, routes, "198.51.100.0/24 via 10.250.0.1", "a route of others stays")
	assert.Contains(t, run(t, "nft list tables"), "table inet others", "a table of others stays")
	assert.NotContains(t, run(t, "nft list tables"), draftTable)
}

// The gateway that another node computes is the address that the kernel has given to the device.
func TestApply_LinkLocalAddress(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	env := newEnvironment(t)
	env.apply(t)
	other := env.input
	other.Node, other.Others = env.input.Others[0], []desired.Node{env.input.Node}
	state, err := desired.Compute(other)
	require.NoError(t, err)
	require.Len(t, state.Routes, 2)
	assert.Equal(t, "fd00:96::/80", state.Routes[1].To.String())
	assert.Contains(t, run(t, "ip -6 address show dev gardenet0"), "inet6 "+state.Routes[1].Via.String()+"/64 scope link")
}

func TestApply_Nodes(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	env := newEnvironment(t)
	env.apply(t)
	b, c := env.input.Others[0], testNode("c", "10.250.0.13", "fd00:250::13", "100.96.2.0/24", "fd00:96:0:0:2::/80")

	env.input.Others = append(env.input.Others, c)
	changes := env.apply(t)
	assert.Len(t, changes, 5, "a forwarding entry, two neighbours and two routes: %v", changes)

	env.input.Others = env.input.Others[1:]
	env.apply(t)
	everything := run(t, "ip route") + run(t, "ip -6 route") + run(t, "ip neigh") + run(t, "bridge fdb")
	assert.NotContains(t, everything, "100.96.1.0")
	assert.NotContains(t, everything, b.Addresses[0].String())
	assert.Contains(t, everything, c.Addresses[0].String())

	c.Addresses = testNode("c", "10.250.0.14", "fd00:250::14", "100.96.2.0/24", "fd00:96:0:0:2::/80").Addresses
	env.input.Others[0] = c
	env.apply(t)
	fdb := run(t, "bridge fdb show dev gardenet0")
	assert.Contains(t, fdb, "dst 10.250.0.14", "a machine that was replaced has the same range and another address")
	assert.NotContains(t, fdb, "dst 10.250.0.13")
}

func TestApply_Rules(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	env := newEnvironment(t)
	_, found, err := env.Rules(t.Context())
	require.NoError(t, err)
	assert.False(t, found, "nothing is there")
	env.apply(t)
	generation, found, err := env.Rules(t.Context())
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, uint8(7), generation)

	handles := run(t, "nft -a -s list table inet gardenet")
	another, err := New(env.options)
	require.NoError(t, err)
	changes, err := another.Apply(t.Context(), env.state(t))
	require.NoError(t, err)
	assert.Empty(t, changes, "an agent that starts")
	assert.Equal(t, handles, run(t, "nft -a -s list table inet gardenet"), "changes nothing, not even the handle of a rule")

	env.input.Cluster.Pods = append(env.input.Cluster.Pods, testPod("three", "100.96.0.4"))
	assert.Equal(t, []string{"changing the rules"}, env.apply(t))
	assert.Contains(t, run(t, "nft list table inet gardenet"), "100.96.0.4")

	broken := env.state(t)
	broken.Table.Chains[0].Rules = append(broken.Table.Chains[0].Rules, "no rule at all")
	before := run(t, "nft -s list table inet gardenet")
	_, err = env.Apply(t.Context(), broken)
	require.ErrorContains(t, err, "changing the rules: nft:")
	assert.Equal(t, before, run(t, "nft -s list table inet gardenet"), "all of a transaction takes effect, or nothing")
	env.apply(t)
}

func TestVerify_Damage(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	env := newEnvironment(t)
	env.apply(t)
	conflist := filepath.Join(env.root, conflistPath)
	for _, damage := range []struct {
		sentence string
		do       func(t *testing.T)
		want     string
	}{
		{"a route is deleted", func(t *testing.T) { run(t, "ip route del 100.96.1.0/24") }, "setting the route to 100.96.1.0/24"},
		{"a route of IPv6 is deleted", func(t *testing.T) { run(t, "ip -6 route del fd00:96:0:0:1::/80") }, "setting the route to fd00:96:0:0:1::/80"},
		{"a route leads elsewhere", func(t *testing.T) { run(t, "ip route replace 100.96.1.0/24 via 10.250.0.99 proto 152") }, "setting the route to 100.96.1.0/24"},
		{"a route is too much", func(t *testing.T) { run(t, "ip route add 100.96.9.0/24 via 10.250.0.99 proto 152") }, "deleting the route to 100.96.9.0/24"},
		{"the device is deleted", func(t *testing.T) { run(t, "ip link del gardenet0") }, "creating the device gardenet0"},
		{"the device is down", func(t *testing.T) { run(t, "ip link set gardenet0 down") }, "bringing the device gardenet0 up"},
		{"the device has another MTU", func(t *testing.T) { run(t, "ip link set gardenet0 mtu 1300") }, "setting the MTU of the device gardenet0 to 1450"},
		{"the device has another MAC", func(t *testing.T) { run(t, "ip link set gardenet0 address 02:00:00:00:00:01") }, "setting the MAC of the device gardenet0"},
		{"the device has another VXLAN", func(t *testing.T) {
			run(t, "ip link del gardenet0")
			run(t, "ip link add gardenet0 type vxlan id 2 dstport 8472 local 10.250.0.11 nolearning")
		}, "deleting the device gardenet0, which has other settings"},
		{"the device has lost an address", func(t *testing.T) { run(t, "ip address del 100.96.0.0/32 dev gardenet0") }, "adding the address 100.96.0.0/32"},
		{"a neighbour is deleted", func(t *testing.T) { run(t, "ip neigh del 100.96.1.0 dev gardenet0") }, "setting the neighbour 100.96.1.0"},
		{"a neighbour has another MAC", func(t *testing.T) {
			run(t, "ip neigh replace 100.96.1.0 lladdr 02:00:00:00:00:01 dev gardenet0 nud permanent")
		}, "setting the neighbour 100.96.1.0"},
		{"a forwarding entry is deleted", func(t *testing.T) {
			for line := range strings.Lines(run(t, "bridge fdb show dev gardenet0")) {
				run(t, "bridge fdb del "+strings.Fields(line)[0]+" dev gardenet0 dst 10.250.0.12")
			}
		}, "setting the forwarding entry"},
		{"an element of a set is deleted", func(t *testing.T) { run(t, "nft delete element inet gardenet not-masqueraded-ip { 10.250.0.0/24 }") }, "set not-masqueraded-ip differs"},
		{"a chain is flushed", func(t *testing.T) { run(t, "nft flush chain inet gardenet forward") }, "chain forward differs"},
		{"a rule is added", func(t *testing.T) { run(t, "nft insert rule inet gardenet forward accept") }, "chain forward differs"},
		{"a chain is added", func(t *testing.T) { run(t, "nft add chain inet gardenet another") }, "chain another is not the agent's"},
		{"the table is deleted", func(t *testing.T) { run(t, "nft delete table inet gardenet") }, "there is no table"},
		{"all rules are flushed", func(t *testing.T) { run(t, "nft flush ruleset") }, "there is no table"},
		{"a sysctl is changed", func(t *testing.T) {
			require.NoError(t, os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("0"), 0o600))
		}, "setting the sysctl net/ipv4/ip_forward to 1"},
		{"a sysctl of connections is changed", func(t *testing.T) {
			require.NoError(t, os.WriteFile("/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_close_wait", []byte("60"), 0o600))
		}, "setting the sysctl net/netfilter/nf_conntrack_tcp_timeout_close_wait to 3600"},
		{"the CNI configuration is deleted", func(t *testing.T) { require.NoError(t, os.Remove(conflist)) }, "writing the CNI configuration"},
		{"the CNI configuration is changed", func(t *testing.T) { require.NoError(t, os.WriteFile(conflist, []byte("{}"), 0o600)) }, "writing the CNI configuration"},
	} {
		t.Run(damage.sentence, func(t *testing.T) {
			state := env.state(t)
			damage.do(t)
			repairs, err := env.Verify(t.Context(), state)
			require.NoError(t, err)
			assert.Contains(t, strings.Join(repairs, "\n"), damage.want)
			repairs, err = env.Verify(t.Context(), state)
			require.NoError(t, err)
			assert.Empty(t, repairs, "after the repair")
		})
	}
}

func TestApply_Failures(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	env := newEnvironment(t)
	state := env.state(t)
	env.options.NFT = "/does/not/exist"
	_, err := env.Apply(t.Context(), state)
	require.ErrorContains(t, err, "comparing the rules with the kernel's: listing the table gardenet:")
	_, err = os.Stat(filepath.Join(env.root, conflistPath))
	require.ErrorIs(t, err, os.ErrNotExist, "no pod may start without rules")
	assert.Contains(t, run(t, "ip route"), "100.96.1.0/24", "other nodes are reached meanwhile")

	env.options.NFT = "nft"
	env.apply(t)
	file, err := os.Stat(filepath.Join(env.root, conflistPath))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), file.Mode())
	files, err := os.ReadDir(filepath.Dir(filepath.Join(env.root, conflistPath)))
	require.NoError(t, err)
	assert.Len(t, files, 1, "no temporary file is left")
}

func TestFacts(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	env := newEnvironment(t)
	run(t, "ip route add default via 10.250.0.1")
	far := testNode("far", "192.0.2.7", "2001:db8::7", "100.96.7.0/24", "fd00:96:0:0:7::/80")
	facts, err := env.Facts(t.Context(), env.input.Node, append(env.input.Others, far))
	require.NoError(t, err)
	assert.Equal(t, env.input.Others[0].Addresses, facts.OnLink, "the other node is behind a router")
	require.Len(t, facts.Uplinks, 1)
	uplink, err := net.InterfaceByName("uplink")
	require.NoError(t, err)
	assert.Equal(t, uplink.MTU, facts.Uplinks[0].MTU)
	assert.False(t, facts.HostHasNFT)
	require.NoError(t, os.MkdirAll(filepath.Join(env.root, "usr/sbin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(env.root, "usr/sbin/nft"), nil, 0o600))
	facts, err = env.Facts(t.Context(), env.input.Node, nil)
	require.NoError(t, err)
	assert.True(t, facts.HostHasNFT)
}

func TestDifferences(t *testing.T) {
	listing := `table inet gardenet {
	flags dormant
	counter dropped {
		packets 3 bytes 180
	}

	set pods {
		type ipv4_addr
		elements = { 10.0.0.1, 10.0.0.2 }
	}

	chain forward {
		type filter hook forward priority filter; policy accept;
		ip saddr @pods accept
	}
}
`
	wanted := objects(listing)
	assert.Equal(t, map[string]string{
		"counter dropped": "", "set pods": "\t\ttype ipv4_addr\n\t\telements = { 10.0.0.1, 10.0.0.2 }\n",
		"chain forward": "\t\ttype filter hook forward priority filter; policy accept;\n\t\tip saddr @pods accept\n",
	}, wanted)
	assert.Empty(t, differences(objects(strings.ReplaceAll(listing, "packets 3", "packets 4")), wanted), "counters count")
	assert.Equal(t, []string{"set pods differs"}, differences(objects(strings.ReplaceAll(listing, ", 10.0.0.2", "")), wanted))
	assert.Equal(t, []string{"chain forward is missing", "chain other is not the agent's"}, differences(objects(strings.ReplaceAll(listing, "chain forward", "chain other")), wanted))
}

func TestDropped(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	env := newEnvironment(t)
	dropped, err := env.Dropped(t.Context())
	require.NoError(t, err)
	assert.Empty(t, dropped, "there is no table")
	env.apply(t)
	dropped, err = env.Dropped(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]uint64{policy.CounterIngress: 0, policy.CounterEgress: 0, policy.CounterUnknown: 0}, dropped)

	require.NoError(t, nfttest.Apply(t, "table inet gardenet\ndelete table inet gardenet\ntable inet gardenet {\n"+
		"\tcounter dropped-ingress {\n\t\tpackets 7 bytes 420\n\t}\n\tcounter dropped-egress {\n\t\tpackets 12345678901 bytes 1\n\t}\n}\n", false))
	dropped, err = env.Dropped(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]uint64{policy.CounterIngress: 7, policy.CounterEgress: 12345678901}, dropped)

	broken, err := New(Options{NFT: "false"})
	require.NoError(t, err)
	_, err = broken.Dropped(t.Context())
	require.ErrorContains(t, err, "listing counters")
}
