package apply

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/trellis-garden/trellis/internal/gardenet/desired"
)

// Facts reads what only the node knows: its uplinks, and which other nodes it reaches without a router.
func (a *Applier) Facts(_ context.Context, own desired.Node, others []desired.Node) (desired.Facts, error) {
	uplinks, err := a.uplinks(own.Addresses)
	if err != nil {
		return desired.Facts{}, err
	}
	facts := desired.Facts{Uplinks: uplinks, HostHasNFT: a.hostHasNFT()}
	for _, other := range others {
		for _, address := range other.Addresses {
			if a.isOnLink(address) {
				facts.OnLink = append(facts.OnLink, address)
			}
		}
	}
	return facts, nil
}

// uplinks returns the devices that have one of the addresses.
func (a *Applier) uplinks(addresses []netip.Addr) ([]desired.Uplink, error) {
	present, err := a.netlink.AddrList(nil, unix.AF_UNSPEC)
	if err != nil {
		return nil, fmt.Errorf("listing addresses: %w", err)
	}
	var uplinks []desired.Uplink
	for _, address := range present {
		if !slices.Contains(addresses, prefixOf(address.IPNet).Addr()) {
			continue
		}
		link, err := a.netlink.LinkByIndex(address.LinkIndex)
		if err != nil {
			return nil, fmt.Errorf("reading the device of the address %s: %w", address.IP, err)
		}
		uplink := desired.Uplink{Name: link.Attrs().Name, MTU: link.Attrs().MTU}
		if !slices.Contains(uplinks, uplink) {
			uplinks = append(uplinks, uplink)
		}
	}
	return uplinks, nil
}

// isOnLink reports whether packets to an address go to it directly. Without any route they do not.
func (a *Applier) isOnLink(address netip.Addr) bool {
	routes, err := a.netlink.RouteGet(address.AsSlice())
	return err == nil && len(routes) > 0 && !slices.ContainsFunc(routes, func(r netlink.Route) bool { return len(r.Gw) > 0 || r.Via != nil })
}

// hostHasNFT looks for nft in the node's file system, where CNI plugins run.
func (a *Applier) hostHasNFT() bool {
	for _, folder := range []string{"usr/sbin", "sbin", "usr/bin", "bin", "usr/local/sbin"} {
		if _, err := os.Stat(a.hostPath(folder, "nft")); err == nil {
			return true
		}
	}
	return false
}
