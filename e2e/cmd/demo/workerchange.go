package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// scalePool adds a machine to a pool. Those that are there stay.
func (d *demo) scalePool(ctx context.Context) error {
	pool := d.pool(growing)
	former := pool.Minimum
	pool.Minimum, pool.Maximum = former+1, former+1
	d.screen.Heading(fmt.Sprintf("The user wants %d machines in pool %s, not %d", pool.Minimum, growing, former))
	before := d.servers("")
	cost, err := d.measure(ctx, d.worker(), d.FulfilWorker)
	if err != nil {
		return err
	}
	calls := d.Place.Cloud.Log()
	d.screen.Linef("  %s:", cost)
	for _, call := range calls {
		d.screen.Linef("    %s", call)
	}
	after := d.servers("")
	if kept := stayed(before, after); len(kept) != len(before) || len(after) != len(before)+1 {
		return fmt.Errorf("scaling pool %s from %d to %d machines: of servers %q there are now %q", growing, former, pool.Minimum, before, after)
	}
	d.done(fmt.Sprintf("one server more, the other %d are the same", len(before)))
	return nil
}

// rollPool gives a pool another image. Its machines are replaced, the others are not touched.
func (d *demo) rollPool(ctx context.Context) error {
	image := d.pool(rolled).Machine.Image
	d.screen.Heading(fmt.Sprintf("The user wants pool %s on %s %s, not %s: its machines are replaced, one after another, and no others",
		rolled, image.Name, openstack.LatestImage, *image.Version))
	image.Version = new(openstack.LatestImage)
	others, replaced := d.servers(growing), d.servers(rolled)
	cost, err := d.measure(ctx, d.worker(), d.FulfilWorker)
	if err != nil {
		return err
	}
	d.screen.Linef("  %s\n", cost)
	if _, err := d.exhibitServers(ctx); err != nil {
		return err
	}
	d.screen.Linef("")
	if kept := stayed(others, d.servers(growing)); len(kept) != len(others) {
		return fmt.Errorf("rolling pool %s: pool %s has kept %d of its %d servers", rolled, growing, len(kept), len(others))
	}
	d.done(fmt.Sprintf("pool %s has its %d servers, by their IDs", growing, len(others)))
	now := d.servers(rolled)
	if kept := stayed(replaced, now); len(kept) > 0 || len(now) != len(replaced) {
		return fmt.Errorf("rolling pool %s: of its servers %q it has now %q", rolled, replaced, now)
	}
	d.done(fmt.Sprintf("pool %s has %d new of %d", rolled, len(now), len(replaced)))
	return d.noteParts(ctx)
}

// servers returns the IDs of the servers of a pool, or of all.
func (d *demo) servers(pool string) []string {
	ids := map[string]bool{}
	for _, server := range d.Place.Cloud.StandIn.State(d.Place.Account.Project).Servers {
		if poolOf(server.Name, d.shoot.Namespace()) == pool || pool == "" {
			ids[server.ID] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// stayed returns those that are still there.
func stayed(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(before), func(id string) bool { return !slices.Contains(after, id) })
}
