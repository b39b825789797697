package apply

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// routeProtocol marks the agent's routes (the field proto of ip route; numbers from 128 to 191 are not assigned by the kernel or by iproute2).
const routeProtocol = netlink.RouteProtocol(152)

// Options say where things are on the node.
type Options struct {
	// NFT is the program nft, by its name in $PATH or by its path.
	NFT string
	// HostRoot is where the file system of the node is mounted. The CNI configuration is in etc/cni/net.d below it, sysctls are in proc/sys.
	HostRoot string
}

// Applier changes a node. Its methods can be called by several goroutines.
type Applier struct {
	options Options
	netlink *netlink.Handle

	mutex sync.Mutex
	// table is what the kernel has, as far as this process knows: nil before the first transaction, and after one that has failed.
	table *nft.Table
}

// New returns an Applier for the network namespace of the thread that calls.
func New(options Options) (*Applier, error) {
	handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("opening a netlink socket: %w", err)
	}
	return &Applier{options: options, netlink: handle}, nil
}

// Apply makes the node so, and returns what it has changed. Rules are compared with those that it applied last, and with the kernel's the first time; everything
// else is compared with the node each time. It does not stop at the first failure, except that the CNI configuration is written only if nothing has failed.
func (a *Applier) Apply(ctx context.Context, state desired.State) (changes []string, err error) {
	return a.sync(ctx, state, false)
}

// Verify is Apply with a comparison of all rules with the kernel's. What it returns was damaged, if Apply had succeeded before.
func (a *Applier) Verify(ctx context.Context, state desired.State) (repairs []string, err error) {
	return a.sync(ctx, state, true)
}

// steps are done in order.
func (a *Applier) sync(ctx context.Context, state desired.State, verify bool) ([]string, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	s := &step{applier: a, state: state}
	s.applyDevice()
	s.applyNeighbours()
	s.applyRoutes()
	s.applyRules(ctx, verify)
	s.applySysctls() // those of connections exist once there are rules
	if len(s.errs) == 0 {
		s.applyConflist()
	}
	s.removeRoutes()
	s.removeNeighbours()
	s.removeDevice()
	return s.changes, errors.Join(s.errs...)
}

// step collects what one call of Apply does.
type step struct {
	applier *Applier
	state   desired.State
	changes []string
	errs    []error
}

// do makes a change, and records it or its failure.
func (s *step) do(what string, change func() error) bool {
	if err := change(); err != nil {
		s.errs = append(s.errs, fmt.Errorf("%s: %w", what, err))
		return false
	}
	s.changes = append(s.changes, what)
	return true
}

// failed records an error, if there is one, of reading what the node has.
func (s *step) failed(what string, err error) bool {
	if err != nil {
		s.errs = append(s.errs, fmt.Errorf("%s: %w", what, err))
	}
	return err != nil
}

func (a *Applier) hostPath(elements ...string) string {
	return filepath.Join(append([]string{a.options.HostRoot}, elements...)...)
}
