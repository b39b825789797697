package seednode

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// addresses gives addresses to pods. A freed one is used again as late as possible.
type addresses struct {
	lock   sync.Mutex
	prefix netip.Prefix
	last   netip.Addr
	used   map[netip.Addr]bool
	of     map[string]netip.Addr // by whose they are
}

// newAddresses returns the addresses of a range without some that others have.
func newAddresses(prefix netip.Prefix, others ...netip.Addr) *addresses {
	a := &addresses{prefix: prefix.Masked(), last: prefix.Masked().Addr(), used: map[netip.Addr]bool{}, of: map[string]netip.Addr{}}
	for _, other := range others {
		a.used[other] = true
	}
	return a
}

var errNoAddress = errors.New("all addresses of pods are in use")

// take returns the address of an owner. The first of the range, which names the network, and the last, which may be for broadcasts, are left out.
func (a *addresses) take(owner string) (netip.Addr, error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if address, found := a.of[owner]; found {
		return address, nil
	}
	address, turned := a.last, false
	for {
		address = address.Next()
		if !a.prefix.Contains(address) || !a.prefix.Contains(address.Next()) {
			if turned {
				return netip.Addr{}, errNoAddress
			}
			address, turned = a.prefix.Addr(), true
			continue
		}
		if !a.used[address] {
			a.used[address], a.of[owner], a.last = true, address, address
			return address, nil
		}
	}
}

func (a *addresses) free(owner string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if address, found := a.of[owner]; found {
		delete(a.used, address)
		delete(a.of, owner)
	}
}

// readBridge reads the address of the bridge.
func (n *node) readBridge() error {
	bridge, err := net.InterfaceByName(n.Bridge)
	if err != nil {
		return fmt.Errorf("reading bridge %s: %w", n.Bridge, err)
	}
	found, err := bridge.Addrs()
	if err != nil {
		return fmt.Errorf("reading the addresses of bridge %s: %w", n.Bridge, err)
	}
	for _, address := range found {
		prefix, err := netip.ParsePrefix(address.String())
		if err == nil && prefix.Contains(n.PodRange.Addr()) && prefix.Bits() <= n.PodRange.Bits() {
			n.bridge, n.addresses = prefix, newAddresses(n.PodRange, prefix.Addr())
			if !n.Address.IsValid() {
				n.Address = prefix.Addr()
			}
			return nil
		}
	}
	return fmt.Errorf("bridge %s has no address in a network with the range %s of pods", n.Bridge, n.PodRange)
}
