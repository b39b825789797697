package desired

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/netip"
)

// DeviceName is the name of the tunnel.
const DeviceName = "gardenet0"

// Bytes that VXLAN adds to a packet, by the address family between nodes, and the MTU of nodes whose uplinks are unknown.
const (
	overhead4  = 50
	overhead6  = 70
	defaultMTU = 1500
)

// device is the tunnel. Its addresses are the first ones of the node's ranges, which no pod gets: what the node itself sends to pods of other nodes has
// them as source, so that replies take the tunnel, too.
func (n *node) device() *Device {
	d := &Device{
		Name: DeviceName, ID: n.Config.Tunnel.ID, Port: n.Config.Tunnel.Port, MTU: n.uplinkMTU() - n.overhead(), Local: n.underlay, MAC: macOf(n.Node).String(),
	}
	for _, r := range n.ranges {
		d.Addresses = append(d.Addresses, netip.PrefixFrom(r.Masked().Addr(), r.Addr().BitLen()))
	}
	return d
}

func (n *node) overhead() int {
	if n.underlay.Is4() {
		return overhead4
	}
	return overhead6
}

// uplinkMTU is the smallest one of the uplinks.
func (n *node) uplinkMTU() int {
	smallest := 0
	for _, uplink := range n.Facts.Uplinks {
		if smallest == 0 || uplink.MTU < smallest {
			smallest = uplink.MTU
		}
	}
	if smallest == 0 {
		return defaultMTU
	}
	return smallest
}

// podMTU leaves room for the tunnel as soon as there is one, whatever the configuration says: pods that start before packets are sent through it keep their MTU.
func (n *node) podMTU() int {
	most := n.uplinkMTU()
	if n.Config.Tunnel != nil {
		most -= n.overhead()
	}
	if n.Config.MTU != 0 && (n.Config.Tunnel == nil || n.Config.MTU < most) {
		return n.Config.MTU
	}
	return most
}

// macOf returns the MAC of a node in the tunnel: locally administered, and a function of the range of its pods, which no other node has.
func macOf(n Node) net.HardwareAddr {
	sum := sha256.Sum256([]byte(n.PodRanges[0].Masked().String()))
	return net.HardwareAddr{0x02, 0x47, sum[0], sum[1], sum[2], sum[3]}
}

// gateway returns the next hop in the tunnel to a range of a node's pods. For IPv4 it is the first address of the range. For IPv6 it is the link-local address
// that the kernel derives from the MAC: a global one is refused while another route, such as that to all pods, covers it.
func gateway(n Node, r netip.Prefix) netip.Addr {
	if r.Addr().Is4() {
		return r.Masked().Addr()
	}
	mac := macOf(n)
	return netip.AddrFrom16([16]byte{0: 0xfe, 1: 0x80, 8: mac[0] ^ 0x02, 9: mac[1], 10: mac[2], 11: 0xff, 12: 0xfe, 13: mac[3], 14: mac[4], 15: mac[5]})
}

// addPeer adds what the tunnel needs to send packets to another node, whether routes use it already or not.
func (n *node) addPeer(other Node, state *State) error {
	address, found := ofFamily(other.Addresses, n.underlay)
	if !found {
		return fmt.Errorf("it has no address of the family of %s, from which this node sends", n.underlay)
	}
	for _, r := range inFamilies(n.Config, other.PodRanges) {
		state.Neighbours = append(state.Neighbours, Neighbour{Address: gateway(other, r), MAC: macOf(other).String(), Node: address})
	}
	return nil
}
