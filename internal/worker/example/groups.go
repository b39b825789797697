package example

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
)

// groups are the groups of one shoot. Their names are a prefix and the name of the pool.
type groups struct {
	cloud         cloudexample.Collection[cloudexample.Group]
	owner, prefix string
}

// ensure creates the missing groups of pools. It returns the IDs of all groups of the shoot by pool.
func (g *groups) ensure(ctx context.Context, pools []string) (map[string]string, error) {
	owned, err := g.list(ctx)
	if err != nil {
		return nil, err
	}
	ids := map[string]string{}
	for _, group := range slices.Backward(owned) { // of several for one pool, the first is used
		ids[strings.TrimPrefix(group.Name, g.prefix)] = group.ID
	}
	for _, pool := range pools {
		if ids[pool] != "" {
			continue
		}
		created, err := g.cloud.Create(ctx, cloudexample.Group{Name: g.prefix + pool, Owner: g.owner})
		if err != nil {
			return nil, fmt.Errorf("creating the group of pool %q: %w", pool, err)
		}
		ids[pool] = created.ID
	}
	return ids, nil
}

// removeAll deletes all groups of the shoot.
func (g *groups) removeAll(ctx context.Context) error {
	owned, err := g.list(ctx)
	if err != nil {
		return err
	}
	for _, group := range owned {
		if err := g.remove(ctx, group.ID); err != nil {
			return err
		}
	}
	return nil
}

func (g *groups) list(ctx context.Context) ([]cloudexample.Group, error) {
	owned, err := g.cloud.List(ctx, cloudexample.Filter{Owner: g.owner})
	if err != nil {
		return nil, fmt.Errorf("listing groups: %w", err)
	}
	return owned, nil
}

func (g *groups) remove(ctx context.Context, id string) error {
	if err := g.cloud.Delete(ctx, id); err != nil && !cloud.IsNotFound(err) {
		return fmt.Errorf("deleting group %s: %w", id, err)
	}
	return nil
}

// unusedGroups returns the recorded pools that are not among those that need a group.
func unusedGroups(recorded *v1alpha1.WorkerStatus, pools []string) []string {
	recordedPools := slices.Sorted(maps.Keys(recorded.Groups))
	return slices.DeleteFunc(recordedPools, func(pool string) bool { return slices.Contains(pools, pool) })
}
