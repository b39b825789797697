package apply

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/trellis-garden/trellis/internal/gardenet/desired"
)

// entry is a permanent neighbour of the tunnel, or an entry of its forwarding database. Address is that of the next hop, or the node's.
type entry struct {
	mac     string
	address netip.Addr
	fdb     bool
}

func (e entry) String() string {
	if e.fdb {
		return fmt.Sprintf("forwarding entry of %s to node %s", e.mac, e.address)
	}
	return fmt.Sprintf("neighbour %s with MAC %s", e.address, e.mac)
}

func entriesOf(neighbours []desired.Neighbour) (entries []entry) {
	seen := map[entry]bool{}
	for _, n := range neighbours {
		for _, e := range []entry{{n.MAC, n.Node, true}, {n.MAC, n.Address, false}} {
			if !seen[e] {
				entries, seen[e] = append(entries, e), true
			}
		}
	}
	return entries
}

// applyNeighbours adds entries. A MAC or an address that has another entry gets the new one in its place.
func (s *step) applyNeighbours() {
	link, present := s.presentEntries()
	if link == nil {
		return
	}
	for _, e := range entriesOf(s.state.Neighbours) {
		if present[e] {
			continue
		}
		for other := range present {
			// A forwarding entry has several destinations, so setting one does not replace another.
			if e.fdb && other.fdb && other.mac == e.mac {
				s.do("deleting the "+other.String(), func() error { return s.applier.netlink.NeighDel(other.neigh(link)) })
			}
		}
		s.do("setting the "+e.String(), func() error { return s.applier.netlink.NeighSet(e.neigh(link)) })
	}
}

// removeNeighbours deletes the entries of nodes that have left.
func (s *step) removeNeighbours() {
	link, present := s.presentEntries()
	if link == nil {
		return
	}
	for _, e := range entriesOf(s.state.Neighbours) {
		delete(present, e)
	}
	for e := range present {
		s.do("deleting the "+e.String(), func() error { return s.applier.netlink.NeighDel(e.neigh(link)) })
	}
}

// presentEntries returns the permanent entries of the tunnel, and no device if there is none.
func (s *step) presentEntries() (netlink.Link, map[entry]bool) {
	if s.state.Device == nil {
		return nil, nil
	}
	link, err := s.applier.find(s.state.Device.Name)
	if s.failed("looking for the device "+s.state.Device.Name, err) || link == nil {
		return nil, nil
	}
	present := map[entry]bool{}
	for _, family := range []int{unix.AF_INET, unix.AF_INET6, unix.AF_BRIDGE} {
		listed, err := s.applier.netlink.NeighList(link.Attrs().Index, family)
		if s.failed("listing the neighbours of the device "+s.state.Device.Name, err) {
			return nil, nil
		}
		for _, n := range listed {
			address, ok := netip.AddrFromSlice(n.IP)
			if ok && n.State&netlink.NUD_PERMANENT != 0 && !address.IsMulticast() {
				present[entry{n.HardwareAddr.String(), address.Unmap(), family == unix.AF_BRIDGE}] = true
			}
		}
	}
	return link, present
}

func (e entry) neigh(link netlink.Link) *netlink.Neigh {
	mac, _ := net.ParseMAC(e.mac)
	n := &netlink.Neigh{LinkIndex: link.Attrs().Index, State: netlink.NUD_PERMANENT, IP: e.address.AsSlice(), HardwareAddr: mac, Family: unix.AF_INET6}
	switch {
	case e.fdb:
		n.Family, n.Flags = unix.AF_BRIDGE, netlink.NTF_SELF
	case e.address.Is4():
		n.Family = unix.AF_INET
	}
	return n
}
