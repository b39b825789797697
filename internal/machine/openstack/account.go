package openstack

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/sets"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// account is what all machines of one account share.
type account struct {
	line
	used time.Time

	names    *catalog
	servers  *gathering[cloudopenstack.Server]
	statuses memo

	mu       sync.Mutex
	networks map[string]*portBook
}

func newAccount(l line) *account {
	return &account{
		line: l, names: newCatalog(l), networks: map[string]*portBook{},
		servers: &gathering[cloudopenstack.Server]{
			timeout: lookUpTimeout,
			nameOf:  func(s cloudopenstack.Server) string { return s.Name },
			list: func(ctx context.Context, names []string) ([]cloudopenstack.Server, error) {
				if len(names) == 1 {
					return l.ListServers(ctx, cloudopenstack.ServerFilter{Name: names[0]})
				}
				return l.ListServers(ctx, cloudopenstack.ServerFilter{NamePrefix: commonPrefix(names)})
			},
		},
	}
}

// in returns what is known of the ports in a network.
func (a *account) in(networkID string) *portBook {
	a.mu.Lock()
	defer a.mu.Unlock()
	book, ok := a.networks[networkID]
	if !ok {
		book = newPortBook(a.line, networkID)
		a.networks[networkID] = book
	}
	return book
}

// portBook knows by which names there may be ports in a network, so that it need not be asked for each machine that is new. Before the first
// machine, all ports are listed once: a process before this one may have ended between a port and its server. From then on, a name
// is in doubt as soon as a port is asked for under it.
type portBook struct {
	line      line
	networkID string
	ports     *gathering[cloudopenstack.Port]
	// unprotected is true once the network has refused security groups.
	unprotected atomic.Bool

	flights singleflight.Group
	mu      sync.Mutex
	taken   sets.Set[string] // nil until the ports have been listed
}

func newPortBook(l line, networkID string) *portBook {
	return &portBook{
		line: l, networkID: networkID,
		ports: &gathering[cloudopenstack.Port]{
			timeout: lookUpTimeout,
			nameOf:  func(p cloudopenstack.Port) string { return p.Name },
			list: func(ctx context.Context, names []string) ([]cloudopenstack.Port, error) {
				filter := cloudopenstack.PortFilter{NetworkID: networkID}
				if len(names) == 1 {
					filter.Name = names[0]
				}
				return l.ListPorts(ctx, filter)
			},
		},
	}
}

// reserve returns the ports that go by the name, and notes that there may be one from now on.
func (b *portBook) reserve(ctx context.Context, name string) ([]cloudopenstack.Port, error) {
	if err := b.open(ctx); err != nil {
		return nil, err
	}
	b.mu.Lock()
	doubtful := b.taken.Has(name)
	b.taken.Insert(name)
	b.mu.Unlock()
	if !doubtful {
		return nil, nil
	}
	return b.ports.find(ctx, name, 0)
}

// open lists the ports before the first machine.
func (b *portBook) open(ctx context.Context) error {
	b.mu.Lock()
	opened := b.taken != nil
	b.mu.Unlock()
	if opened {
		return nil
	}
	_, err := shared(ctx, &b.flights, "open", func(ctx context.Context) (any, error) {
		ports, err := b.line.ListPorts(ctx, cloudopenstack.PortFilter{NetworkID: b.networkID})
		if err != nil {
			return nil, err
		}
		taken := sets.New[string]()
		for _, port := range ports {
			taken.Insert(port.Name)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.taken == nil {
			b.taken = taken
		}
		return nil, nil
	})
	return err
}

// release notes that there is no port by the name any more.
func (b *portBook) release(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken.Delete(name)
}
