package openstack

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/sets"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// account is the state that all machines of an account share.
type account struct {
	client

	ids      *idCache
	servers  *machineprocess.Coalescer[cloudopenstack.Server]
	statuses machineprocess.Memo[[]cloudopenstack.Server]
	// builds and deletions are how long servers take.
	builds, deletions machineprocess.WaitTimes

	mu       sync.Mutex
	networks map[string]*portCache
}

func newAccount(c client) *account {
	return &account{
		client: c, ids: newIDCache(c), networks: map[string]*portCache{},
		servers: &machineprocess.Coalescer[cloudopenstack.Server]{
			Timeout: machineprocess.LookUpTimeout,
			NameOf:  func(s cloudopenstack.Server) string { return s.Name },
			List: func(ctx context.Context, names []string) ([]cloudopenstack.Server, error) {
				if len(names) == 1 {
					return c.ListServers(ctx, cloudopenstack.ServerFilter{Name: names[0]})
				}
				return c.ListServers(ctx, cloudopenstack.ServerFilter{NamePrefix: machineprocess.CommonPrefix(names)})
			},
		},
	}
}

// portsIn returns the cached state of the ports in a network.
func (a *account) portsIn(networkID string) *portCache {
	a.mu.Lock()
	defer a.mu.Unlock()
	cache, ok := a.networks[networkID]
	if !ok {
		cache = newPortCache(a.client, networkID)
		a.networks[networkID] = cache
	}
	return cache
}

// portCache has the names of possible ports in a network, so that new machines need no request. Before the first machine, all ports are listed once: an
// earlier process may have ended between the creations of a port and of its server. Afterwards, the name of each requested port is
// added before the request.
type portCache struct {
	client    client
	networkID string
	ports     *machineprocess.Coalescer[cloudopenstack.Port]
	// noPortSecurity is true after the network has rejected security groups.
	noPortSecurity atomic.Bool

	flights singleflight.Group
	mu      sync.Mutex
	names   sets.Set[string] // nil until the ports are listed
}

func newPortCache(c client, networkID string) *portCache {
	return &portCache{
		client: c, networkID: networkID,
		ports: &machineprocess.Coalescer[cloudopenstack.Port]{
			Timeout: machineprocess.LookUpTimeout,
			NameOf:  func(p cloudopenstack.Port) string { return p.Name },
			List: func(ctx context.Context, names []string) ([]cloudopenstack.Port, error) {
				filter := cloudopenstack.PortFilter{NetworkID: networkID}
				if len(names) == 1 {
					filter.Name = names[0]
				}
				return c.ListPorts(ctx, filter)
			},
		},
	}
}

// reserve returns the ports with the name, and records that there may be one from now on. The ports must be loaded.
func (b *portCache) reserve(ctx context.Context, name string) ([]cloudopenstack.Port, error) {
	b.mu.Lock()
	uncertain := b.names.Has(name)
	b.names.Insert(name)
	b.mu.Unlock()
	if !uncertain {
		return nil, nil
	}
	return b.ports.Find(ctx, name, 0)
}

// load lists the ports before the first machine.
func (b *portCache) load(ctx context.Context) error {
	if b.isLoaded() {
		return nil
	}
	_, err := machineprocess.Shared(ctx, &b.flights, "open", func(ctx context.Context) (any, error) {
		if b.isLoaded() { // by a list that ended since the caller has looked
			return nil, nil
		}
		ports, err := b.client.ListPorts(ctx, cloudopenstack.PortFilter{NetworkID: b.networkID})
		if err != nil {
			return nil, err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.names = sets.New[string]()
		for _, port := range ports {
			b.names.Insert(port.Name)
		}
		return nil, nil
	})
	return err
}

func (b *portCache) isLoaded() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.names != nil
}

// release records that there is no port with the name any more.
func (b *portCache) release(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names.Delete(name)
}
