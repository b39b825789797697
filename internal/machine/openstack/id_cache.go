package openstack

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

const (
	// idCacheTTL is how long an ID of a name is used.
	idCacheTTL = 5 * time.Minute
	kindFlavor = "flavor"
)

// idCache caches the IDs of resources to which machines refer by name: each is looked up once for all. Names without a resource are not cached,
// so that it is found as soon as it exists.
type idCache struct {
	client client

	flights singleflight.Group
	mu      sync.Mutex
	entries map[string]entry
}

// entry is an ID with the start of the look-up that found it.
type entry struct {
	id string
	at time.Time
}

func newIDCache(c client) *idCache { return &idCache{client: c, entries: map[string]entry{}} }

// forget drops entries that were looked up before the given time: their resources may not exist any more.
func (c *idCache) forget(before time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.entries, func(_ string, known entry) bool { return known.at.Before(before) })
}

// idLookup is the use of a catalog by one attempt. It is safe for concurrent use.
type idLookup struct {
	*idCache
	// startedAt is the start of the attempt.
	startedAt time.Time
	// cached is true if an ID was looked up before the attempt began.
	cached atomic.Bool
}

func (c *idCache) newIDLookup() *idLookup { return &idLookup{idCache: c, startedAt: time.Now()} }

func (n *idLookup) flavor(ctx context.Context, name string) (string, error) {
	return n.id(ctx, kindFlavor, name, func(ctx context.Context) (sets.Set[string], error) {
		flavors, err := n.client.ListFlavors(ctx)
		return idsOf(flavors, func(f cloudopenstack.Flavor) (string, bool) { return f.ID, f.Name == name }), err
	})
}

func (n *idLookup) image(ctx context.Context, name string) (string, error) {
	return n.id(ctx, "image", name, func(ctx context.Context) (sets.Set[string], error) {
		images, err := n.client.ListImages(ctx, cloudopenstack.ImageFilter{Name: name})
		return idsOf(images, func(i cloudopenstack.Image) (string, bool) { return i.ID, i.Status == cloudopenstack.ImageActive }), err
	})
}

func (n *idLookup) network(ctx context.Context, name string) (string, error) {
	return n.id(ctx, "network", name, func(ctx context.Context) (sets.Set[string], error) {
		networks, err := n.client.ListNetworks(ctx, cloudopenstack.NetworkFilter{Name: name})
		return idsOf(networks, func(n cloudopenstack.Network) (string, bool) { return n.ID, true }), err
	})
}

func (n *idLookup) securityGroup(ctx context.Context, name string) (string, error) {
	return n.id(ctx, "security group", name, func(ctx context.Context) (sets.Set[string], error) {
		groups, err := n.client.ListSecurityGroups(ctx, cloudopenstack.SecurityGroupFilter{Name: name})
		return idsOf(groups, func(g cloudopenstack.SecurityGroup) (string, bool) { return g.ID, true }), err
	})
}

// id returns the ID of the only object of a kind with a name.
func (n *idLookup) id(ctx context.Context, kind, name string, lookUp func(context.Context) (sets.Set[string], error)) (string, error) {
	known, err := n.entry(ctx, kind, name, lookUp)
	if err == nil && known.at.Before(n.startedAt) {
		n.cached.Store(true)
	}
	return known.id, err
}

func idsOf[T any](objects []T, idOf func(T) (string, bool)) sets.Set[string] {
	ids := sets.New[string]()
	for _, object := range objects {
		if id, ok := idOf(object); ok {
			ids.Insert(id)
		}
	}
	return ids
}

func (c *idCache) entry(ctx context.Context, kind, name string, lookUp func(context.Context) (sets.Set[string], error)) (entry, error) {
	key := kind + " " + name
	if known, ok := c.get(key); ok {
		return known, nil
	}
	return machineprocess.Shared(ctx, &c.flights, key, func(ctx context.Context) (entry, error) {
		if known, ok := c.get(key); ok { // found by a look-up that ended since the caller has looked
			return known, nil
		}
		at := time.Now()
		ids, err := lookUp(ctx)
		if err != nil {
			return entry{}, fmt.Errorf("looking up %s %q: %w", kind, name, err)
		}
		switch ids.Len() {
		case 0:
			return entry{}, notFoundError(kind, name)
		case 1:
			found := entry{id: ids.UnsortedList()[0], at: at}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.entries[key] = found
			return found, nil
		default:
			return entry{}, cloud.Errorf(cloud.Configuration, "%d things are called %s %q: rename all but one", ids.Len(), kind, name)
		}
	})
}

func (c *idCache) get(key string) (entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.entries[key]
	return known, ok && time.Since(known.at) < idCacheTTL
}

// notFoundError is the error of a name without a resource. A flavor is different: the CloudProfile offers the pool's machine type, and a region
// or a project without its flavor is one without capacity for it. With that code, the cluster-autoscaler uses another pool.
func notFoundError(kind, name string) error {
	if kind == kindFlavor {
		return machineprocess.Failuref(codes.ResourceExhausted, "%w", cloud.Errorf(cloud.Depleted,
			"there is no flavor %q in this region and project: choose another machine type, or ask the cloud's operator for it", name))
	}
	return cloud.Errorf(cloud.Configuration, "there is no %s %q: create it, or change the pool", kind, name)
}
