package openstack

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

const (
	// catalogAge is how long an ID is believed to belong to a name.
	catalogAge = 5 * time.Minute
	// lookUpTimeout bounds a look-up that several callers may share.
	lookUpTimeout = 2 * time.Minute
)

// catalog knows the IDs of what machines refer to by name: each is looked up once for all. A name that stands for nothing is not remembered,
// so that what is missing is found as soon as it is there.
type catalog struct {
	line line

	flights singleflight.Group
	mu      sync.Mutex
	entries map[string]entry
}

type entry struct {
	id string
	at time.Time
}

func newCatalog(l line) *catalog { return &catalog{line: l, entries: map[string]entry{}} }

// forget drops everything: something that was looked up may not be there any more. It reports whether anything was known before the given
// time; what has been looked up since then, another look-up would find again.
func (c *catalog) forget(before time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := false
	for _, known := range c.entries {
		old = old || known.at.Before(before)
	}
	clear(c.entries)
	return old
}

func (c *catalog) flavor(ctx context.Context, name string) (string, error) {
	return c.id(ctx, "flavor", name, func(ctx context.Context) (sets.Set[string], error) {
		flavors, err := c.line.ListFlavors(ctx)
		return idsOf(flavors, func(f cloudopenstack.Flavor) (string, bool) { return f.ID, f.Name == name }), err
	})
}

func (c *catalog) image(ctx context.Context, name string) (string, error) {
	return c.id(ctx, "image", name, func(ctx context.Context) (sets.Set[string], error) {
		images, err := c.line.ListImages(ctx, cloudopenstack.ImageFilter{Name: name})
		return idsOf(images, func(i cloudopenstack.Image) (string, bool) { return i.ID, i.Status == "active" }), err
	})
}

func (c *catalog) network(ctx context.Context, name string) (string, error) {
	return c.id(ctx, "network", name, func(ctx context.Context) (sets.Set[string], error) {
		networks, err := c.line.ListNetworks(ctx, cloudopenstack.NetworkFilter{Name: name})
		return idsOf(networks, func(n cloudopenstack.Network) (string, bool) { return n.ID, true }), err
	})
}

func (c *catalog) securityGroup(ctx context.Context, name string) (string, error) {
	return c.id(ctx, "security group", name, func(ctx context.Context) (sets.Set[string], error) {
		groups, err := c.line.ListSecurityGroups(ctx, cloudopenstack.SecurityGroupFilter{Name: name})
		return idsOf(groups, func(g cloudopenstack.SecurityGroup) (string, bool) { return g.ID, true }), err
	})
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

// id returns the ID of the only object of a kind that goes by a name.
func (c *catalog) id(ctx context.Context, kind, name string, look func(context.Context) (sets.Set[string], error)) (string, error) {
	key := kind + " " + name
	c.mu.Lock()
	known, ok := c.entries[key]
	c.mu.Unlock()
	if ok && time.Since(known.at) < catalogAge {
		return known.id, nil
	}
	return shared(ctx, &c.flights, key, func(ctx context.Context) (string, error) {
		ids, err := look(ctx)
		if err != nil {
			return "", fmt.Errorf("looking up %s %q: %w", kind, name, err)
		}
		switch ids.Len() {
		case 0:
			return "", cloud.Errorf(cloud.Configuration, "there is no %s %q: create it, or change the pool", kind, name)
		case 1:
			id := ids.UnsortedList()[0]
			c.mu.Lock()
			defer c.mu.Unlock()
			c.entries[key] = entry{id: id, at: time.Now()}
			return id, nil
		default:
			return "", cloud.Errorf(cloud.Configuration, "%d things are called %s %q: rename all but one", ids.Len(), kind, name)
		}
	})
}

// shared runs look once for all who ask at the same time. One who gives up does not end it for the others.
func shared[T any](ctx context.Context, flights *singleflight.Group, key string, look func(context.Context) (T, error)) (T, error) {
	var none T
	flight := flights.DoChan(key, func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookUpTimeout)
		defer cancel()
		return look(detached)
	})
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case result := <-flight:
		value, _ := result.Val.(T)
		return value, result.Err
	}
}
