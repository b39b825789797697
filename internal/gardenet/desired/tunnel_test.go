package desired

import (
	"encoding/json"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompute_MTU(t *testing.T) {
	tests := map[string]struct {
		change       func(*Input)
		device, pods int
	}{
		"the tunnel takes 50 bytes between IPv4 addresses": {change: func(*Input) {}, device: 1450, pods: 1450},
		"the tunnel takes 70 bytes between IPv6 addresses": {change: onlyIPv6, device: 1430, pods: 1430},
		"the family of the shoot's nodes decides what the tunnel takes": {
			change: func(input *Input) { input.Node.Addresses = addresses("fd00:250::11", "10.250.0.11") }, device: 1450, pods: 1450,
		},
		"a fixed one is not larger than the tunnel's": {change: func(input *Input) { input.Config.MTU = 9000 }, device: 1450, pods: 1450},
		"the smallest uplink counts": {
			change: func(input *Input) {
				input.Facts.Uplinks = []Uplink{{Name: "eth0", MTU: 8900}, {Name: "eth1", MTU: 1460}, {Name: "eth2", MTU: 9000}}
			}, device: 1410, pods: 1410,
		},
		"uplinks that are unknown count as Ethernet": {change: func(input *Input) { input.Facts.Uplinks = nil }, device: 1450, pods: 1450},
		"a fixed one is that of pods, not of the tunnel": {
			change: func(input *Input) { input.Config.MTU = 1300 }, device: 1450, pods: 1300,
		},
		"pods have the uplink's without a tunnel": {
			change: func(input *Input) { withoutTunnel(input); input.Facts.Uplinks[0].MTU = 8900 }, pods: 8900,
		},
		"pods have Ethernet's without a tunnel and with unknown uplinks": {
			change: func(input *Input) { withoutTunnel(input); input.Facts.Uplinks = nil }, pods: 1500,
		},
		"pods leave room for a tunnel that is not used yet": {
			change: func(input *Input) { input.Config.Routes = "nodes" }, device: 1450, pods: 1450,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			state := compute(t, test.change)
			var list struct {
				Plugins []struct {
					MTU int `json:"mtu"`
				} `json:"plugins"`
			}
			require.NoError(t, json.Unmarshal([]byte(state.Conflist), &list))
			assert.Equal(t, test.pods, list.Plugins[0].MTU)
			if test.device == 0 {
				assert.Nil(t, state.Device)
				return
			}
			assert.Equal(t, test.device, state.Device.MTU)
		})
	}
}

// linkLocal returns the address that a kernel gives to a device by itself: the prefix fe80::/64 and the modified EUI-64 of its MAC, RFC 4291, appendix A.
func linkLocal(t *testing.T, mac string) netip.Addr {
	t.Helper()
	hardware, err := net.ParseMAC(mac)
	require.NoError(t, err)
	hardware[0] ^= 0b10
	identifier := append(append([]byte{}, hardware[:3]...), 0xff, 0xfe)
	address, valid := netip.AddrFromSlice(append(append([]byte{0xfe, 0x80, 0, 0, 0, 0, 0, 0}, identifier...), hardware[3:]...))
	require.True(t, valid)
	return address
}

func TestLinkLocal(t *testing.T) {
	assert.Equal(t, "fe80::3656:78ff:fe9a:bcde", linkLocal(t, "34:56:78:9a:bc:de").String(), "the example of the RFC")
	assert.Equal(t, "fe80::47:1ff:fe02:304", linkLocal(t, "02:47:01:02:03:04").String())
}

func TestMACOf(t *testing.T) {
	node := func(ranges string) string { return macOf(nodeOf("a", "10.250.0.11", ranges)).String() }
	assert.Equal(t, "02:47:bc:83:63:35", node("100.96.0.0/24"), "MACs of released versions stay: nodes of two versions have to agree")
	assert.Equal(t, node("100.96.0.0/24"), macOf(nodeOf("b", "10.250.0.12", "100.96.0.0/24")).String(), "neither name nor address matter")
	assert.Equal(t, node("100.96.0.0/24"), node("100.96.0.7/24"), "of a range that is written in two ways")
	assert.Equal(t, node("100.96.0.0/24"), node("100.96.0.0/24 fd00:96::/80"), "a family that is added changes nothing")
	assert.NotEqual(t, node("100.96.0.0/24"), node("100.96.1.0/24"))
	assert.NotEqual(t, node("100.96.0.0/24"), node("100.96.0.0/25"))
}

func TestGateway(t *testing.T) {
	for name, test := range map[string]struct{ ranges, to, want string }{
		"the first address of a range of IPv4": {ranges: "100.96.3.0/24", to: "100.96.3.0/24", want: "100.96.3.0"},
		"of a range that is not masked":        {ranges: "100.96.3.9/24", to: "100.96.3.9/24", want: "100.96.3.0"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, gateway(nodeOf("a", "10.250.0.11", test.ranges), prefixes(test.to)[0]).String())
		})
	}
	for _, ranges := range []string{"fd00:96::/80", "100.96.3.0/24 fd00:96:0:0:3::/80", "fd00:96:0:0:4::/80 100.96.4.0/24"} {
		node := nodeOf("a", "10.250.0.11", ranges)
		assert.Equal(t, linkLocal(t, macOf(node).String()), gateway(node, prefixes("fd00:96::/80")[0]), "the kernel's own address, for %s", ranges)
	}
}
