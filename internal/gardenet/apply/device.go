package apply

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/trellis-garden/trellis/internal/gardenet/desired"
)

// find returns a device, or nil if there is none of that name.
func (a *Applier) find(name string) (netlink.Link, error) {
	link, err := a.netlink.LinkByName(name)
	if missing := (netlink.LinkNotFoundError{}); errors.As(err, &missing) {
		return nil, nil
	}
	return link, err
}

// applyDevice creates the tunnel, or changes what differs. What a device cannot change, such as its VXLAN network identifier, needs a new device.
func (s *step) applyDevice() {
	wanted := s.state.Device
	if wanted == nil {
		return
	}
	link, err := s.applier.find(wanted.Name)
	if s.failed("looking for the device "+wanted.Name, err) {
		return
	}
	if link != nil && !isSame(link, *wanted) {
		if !s.do("deleting the device "+wanted.Name+", which has other settings", func() error { return s.applier.netlink.LinkDel(link) }) {
			return
		}
		link = nil
	}
	if link == nil {
		created := newLink(*wanted)
		if !s.do("creating the device "+wanted.Name, func() error { return s.applier.netlink.LinkAdd(created) }) {
			return
		}
		link, err = s.applier.find(wanted.Name)
		if s.failed("looking for the device "+wanted.Name, err) || link == nil {
			return
		}
	}
	s.changeDevice(link, *wanted)
	s.applyAddresses(link, wanted.Addresses)
}

func (s *step) changeDevice(link netlink.Link, wanted desired.Device) {
	attributes := link.Attrs()
	mac, err := net.ParseMAC(wanted.MAC)
	if s.failed("reading the MAC of the device "+wanted.Name, err) {
		return
	}
	if attributes.HardwareAddr.String() != wanted.MAC {
		s.do(fmt.Sprintf("setting the MAC of the device %s to %s", wanted.Name, wanted.MAC), func() error { return s.applier.netlink.LinkSetHardwareAddr(link, mac) })
	}
	if attributes.MTU != wanted.MTU {
		s.do(fmt.Sprintf("setting the MTU of the device %s to %d", wanted.Name, wanted.MTU), func() error { return s.applier.netlink.LinkSetMTU(link, wanted.MTU) })
	}
	if attributes.Flags&net.FlagUp == 0 {
		s.do("bringing the device "+wanted.Name+" up", func() error { return s.applier.netlink.LinkSetUp(link) })
	}
}

func newLink(d desired.Device) *netlink.Vxlan {
	attributes := netlink.NewLinkAttrs()
	attributes.Name, attributes.MTU = d.Name, d.MTU
	attributes.HardwareAddr, _ = net.ParseMAC(d.MAC)
	return &netlink.Vxlan{LinkAttrs: attributes, VxlanId: d.ID, Port: d.Port, SrcAddr: d.Local.AsSlice(), Learning: false}
}

// isSame reports whether a device has the settings that cannot be changed.
func isSame(link netlink.Link, wanted desired.Device) bool {
	device, ok := link.(*netlink.Vxlan)
	if !ok {
		return false
	}
	local, _ := netip.AddrFromSlice(device.SrcAddr)
	return device.VxlanId == wanted.ID && device.Port == wanted.Port && local.Unmap() == wanted.Local && !device.Learning
}

// applyAddresses sets the addresses of the device. The link-local one is the kernel's.
func (s *step) applyAddresses(link netlink.Link, wanted []netip.Prefix) {
	present, err := s.applier.netlink.AddrList(link, unix.AF_UNSPEC)
	name := link.Attrs().Name
	if s.failed("listing the addresses of the device "+name, err) {
		return
	}
	missing := map[netip.Prefix]bool{}
	for _, prefix := range wanted {
		missing[prefix] = true
	}
	for _, address := range present {
		prefix := prefixOf(address.IPNet)
		switch {
		case missing[prefix]:
			delete(missing, prefix)
		case !prefix.Addr().IsLinkLocalUnicast():
			s.do(fmt.Sprintf("deleting the address %s of the device %s", prefix, name), func() error { return s.applier.netlink.AddrDel(link, &address) })
		}
	}
	for _, prefix := range wanted {
		if !missing[prefix] {
			continue
		}
		address := &netlink.Addr{IPNet: ipNetOf(prefix)}
		if prefix.Addr().Is6() {
			address.Flags = unix.IFA_F_NODAD // nobody else can have it
		}
		s.do(fmt.Sprintf("adding the address %s to the device %s", prefix, name), func() error { return s.applier.netlink.AddrAdd(link, address) })
	}
}

// removeDevice deletes the tunnel if it is not needed any more.
func (s *step) removeDevice() {
	if s.state.Device != nil || len(s.errs) > 0 {
		return
	}
	link, err := s.applier.find(desired.DeviceName)
	if s.failed("looking for the device "+desired.DeviceName, err) || link == nil {
		return
	}
	s.do("deleting the device "+desired.DeviceName, func() error { return s.applier.netlink.LinkDel(link) })
}

func prefixOf(n *net.IPNet) netip.Prefix {
	if n == nil {
		return netip.Prefix{}
	}
	address, _ := netip.AddrFromSlice(n.IP)
	bits, _ := n.Mask.Size()
	return netip.PrefixFrom(address.Unmap(), bits)
}

func ipNetOf(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
