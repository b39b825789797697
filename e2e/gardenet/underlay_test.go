//go:build gardenet

package gardenet

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
)

// The network of the nodes: a bridge in the namespace of the tests, which has the API server and the rest of the world.
const (
	bridgeName = "underlay"
	router4    = "10.250.0.1/24"
	router6    = "fd00:250::1/64"
	// outside4 and outside6 are addresses that are neither nodes' nor pods'.
	outside4 = "192.0.2.1"
	outside6 = "2001:db8::1"
)

func newUnderlay() error {
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridgeName}}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("creating the bridge of the nodes: %w", err)
	}
	for _, address := range []string{router4, router6, outside4 + "/32", outside6 + "/128"} {
		if err := addAddress(bridge, address); err != nil {
			return err
		}
	}
	return up(bridgeName)
}

// deleteUnderlay makes room for the cluster of the next test.
func deleteUnderlay() error {
	return netlink.LinkDel(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridgeName}})
}

// connect connects a namespace to the bridge, by a device eth0 with addresses and default routes.
func connect(n *namespace, name string, addresses ...netip.Prefix) error {
	inside, outside := netlink.NewLinkAttrs(), "veth-"+name
	inside.Name = "eth0-" + name
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: inside, PeerName: outside}); err != nil {
		return fmt.Errorf("creating the device of node %s: %w", name, err)
	}
	bridge, err := netlink.LinkByName(bridgeName)
	if err != nil {
		return err
	}
	peer, err := netlink.LinkByName(outside)
	if err != nil {
		return err
	}
	if err := netlink.LinkSetMaster(peer, bridge); err != nil {
		return fmt.Errorf("connecting node %s: %w", name, err)
	}
	link, err := netlink.LinkByName(inside.Name)
	if err != nil {
		return err
	}
	if err := netlink.LinkSetNsFd(link, int(n.file.Fd())); err != nil {
		return fmt.Errorf("moving the device of node %s: %w", name, err)
	}
	if err := up(outside); err != nil {
		return err
	}
	return n.do(func() error { return configure(inside.Name, addresses) })
}

func configure(device string, addresses []netip.Prefix) error {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return err
	}
	if err := netlink.LinkSetName(link, "eth0"); err != nil {
		return fmt.Errorf("renaming %s: %w", device, err)
	}
	for _, address := range addresses {
		if err := addAddress(link, address.String()); err != nil {
			return err
		}
	}
	if err := up("eth0"); err != nil {
		return err
	}
	for _, gateway := range []string{router4, router6} {
		via, _, err := net.ParseCIDR(gateway)
		if err != nil {
			return err
		}
		if err := netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Gw: via}); err != nil {
			return fmt.Errorf("adding a default route by %s: %w", via, err)
		}
	}
	for _, path := range []string{"/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv6/conf/all/forwarding"} {
		if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
			return fmt.Errorf("forwarding packets: %w", err)
		}
	}
	return nil
}

// addAddress adds an address that is usable at once: nobody else has it.
func addAddress(link netlink.Link, text string) error {
	address, err := netlink.ParseAddr(text)
	if err != nil {
		return err
	}
	if address.IP.To4() == nil {
		address.Flags = 0x02 // IFA_F_NODAD
	}
	if err := netlink.AddrAdd(link, address); err != nil {
		return fmt.Errorf("adding the address %s to %s: %w", text, link.Attrs().Name, err)
	}
	return nil
}
