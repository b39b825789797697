package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// scalePool adds a machine to a pool. The others stay.
func (d *openStackDemo) scalePool(ctx context.Context) error {
	pool := d.pool(growing)
	previous := pool.Minimum
	pool.Minimum, pool.Maximum = previous+1, previous+1
	d.screen.Heading(fmt.Sprintf("The user wants %d machines in pool %s, not %d", pool.Minimum, growing, previous))
	before := d.servers("")
	cost, err := d.measure(ctx, d.worker(), d.ReconcileWorker)
	if err != nil {
		return err
	}
	d.screen.Linef("  %s:", cost)
	d.printCalls(d.cloud.Log())
	after := d.servers("")
	if kept := inBoth(before, after); len(kept) != len(before) || len(after) != len(before)+1 {
		return fmt.Errorf("scaling pool %s from %d to %d machines: of servers %q there are now %q", growing, previous, pool.Minimum, before, after)
	}
	d.done(fmt.Sprintf("one server more, the other %d are the same", len(before)))
	return d.recordMachineObjects(ctx)
}

// rollPool replaces the machines of a pool by machines with another image, and checks that no others are replaced.
func (d *openStackDemo) rollPool(ctx context.Context) error {
	others, replaced := d.servers(growing), d.servers(rolled)
	if err := d.show(ctx, []shownObject{d.network(), d.worker()}, d.ReconcileWorker); err != nil {
		return err
	}
	d.screen.Linef("")
	if _, err := d.showServers(ctx); err != nil {
		return err
	}
	d.screen.Linef("")
	if kept := inBoth(others, d.servers(growing)); len(kept) != len(others) {
		return fmt.Errorf("rolling pool %s: pool %s has kept %d of its %d servers", rolled, growing, len(kept), len(others))
	}
	d.done(fmt.Sprintf("pool %s has all of its %s, by their IDs", growing, count(len(others), "server")))
	now := d.servers(rolled)
	if kept := inBoth(replaced, now); len(kept) > 0 || len(now) != len(replaced) {
		return fmt.Errorf("rolling pool %s: of its servers %q it has now %q", rolled, replaced, now)
	}
	d.done(fmt.Sprintf("pool %s has none of its former servers, and %d new", rolled, len(now)))
	return nil
}

// servers returns the IDs of the servers of a pool, or of all.
func (d *openStackDemo) servers(pool string) []string {
	ids := map[string]bool{}
	for _, server := range d.cloud.Fake.State(d.account.Project).Servers {
		if poolOf(server.Name, d.shoot.Namespace()) == pool || pool == "" {
			ids[server.ID] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// inBoth returns the intersection.
func inBoth(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(before), func(id string) bool { return !slices.Contains(after, id) })
}
