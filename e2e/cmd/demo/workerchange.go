package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scaleOut adds a machine to a pool. The others stay.
func (d *demo) scaleOut(ctx context.Context) error {
	before, after, err := d.scale(ctx, 1)
	if err != nil {
		return err
	}
	if kept := inBoth(before, after); len(kept) != len(before) || len(after) != len(before)+1 {
		return fmt.Errorf("scaling pool %s out: of servers %q there are now %q", growing, before, after)
	}
	d.done(fmt.Sprintf("one server more, the other %d are the same", len(before)))
	return d.recordMachineObjects(ctx)
}

// scaleIn removes a machine of a pool. The others stay.
func (d *demo) scaleIn(ctx context.Context) error {
	before, after, err := d.scale(ctx, -1)
	if err != nil {
		return err
	}
	if kept := inBoth(before, after); len(kept) != len(after) || len(after) != len(before)-1 {
		return fmt.Errorf("scaling pool %s in: of servers %q there are now %q", growing, before, after)
	}
	d.done(fmt.Sprintf("one server less, the other %d are the same", len(after)))
	return nil
}

// scale adds a number of machines to a pool, and returns the IDs of the shoot's servers before and after.
func (d *demo) scale(ctx context.Context, by int32) (before, after []string, err error) {
	pool := d.pool(growing)
	previous := pool.Minimum
	pool.Minimum, pool.Maximum = previous+by, previous+by
	d.screen.Heading(fmt.Sprintf("The user wants %d machines in pool %s, not %d", pool.Minimum, growing, previous))
	if before, err = d.serverIDs(ctx, ""); err != nil {
		return nil, nil, err
	}
	// gardenlet compares the times of the machine deployments by whole seconds.
	if err := sleep(ctx, time.Second); err != nil {
		return nil, nil, err
	}
	cost, err := d.measure(ctx, d.worker(), func(ctx context.Context) error {
		if err := d.ReconcileWorker(ctx); err != nil {
			return err
		}
		return d.waitMachines(ctx, len(before)+int(by))
	})
	if err != nil {
		return nil, nil, err
	}
	d.screen.Linef("  %s:", cost)
	d.printCalls(d.Cloud.Log())
	after, err = d.serverIDs(ctx, "")
	return before, after, err
}

// waitMachines waits until the shoot has a number of Machines: a Worker does not wait for those that a smaller pool no longer has.
func (d *demo) waitMachines(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	for {
		list := &machinev1alpha1.MachineList{}
		err := d.Source.Client.List(ctx, list, client.InNamespace(d.shoot.Namespace()))
		if err != nil || len(list.Items) == want {
			return err
		}
		if err := sleep(ctx, interval); err != nil {
			return fmt.Errorf("waiting for %s, there are %d: %w", count(want, "machine"), len(list.Items), err)
		}
	}
}

// changeImage replaces the machines of a pool by machines with the latest image.
func (d *demo) changeImage(ctx context.Context) error {
	image := d.pool(rolled).Machine.Image
	d.screen.Heading(fmt.Sprintf("The user wants pool %s on %s %s, not %s", rolled, image.Name, d.entry.machines.latestImage, *image.Version))
	image.Version = new(d.entry.machines.latestImage)
	if err := d.Source.Gardenlet.Prepare(ctx, d.shoot); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	return d.rollPool(ctx)
}

// rollPool replaces the machines of a pool by machines with another image, and checks that no others are replaced.
func (d *demo) rollPool(ctx context.Context) error {
	others, err := d.serverIDs(ctx, growing)
	if err != nil {
		return err
	}
	replaced, err := d.serverIDs(ctx, rolled)
	if err != nil {
		return err
	}
	if err := d.show(ctx, []shownObject{d.network(), d.worker()}, d.ReconcileWorker); err != nil {
		return err
	}
	d.screen.Linef("")
	if _, err := d.showServers(ctx); err != nil {
		return err
	}
	d.screen.Linef("")
	grown, err := d.serverIDs(ctx, growing)
	if err != nil {
		return err
	}
	if kept := inBoth(others, grown); len(kept) != len(others) {
		return fmt.Errorf("rolling pool %s: pool %s has kept %d of its %d servers", rolled, growing, len(kept), len(others))
	}
	d.done(fmt.Sprintf("pool %s has all of its %s, by their IDs", growing, count(len(others), "server")))
	now, err := d.serverIDs(ctx, rolled)
	if err != nil {
		return err
	}
	if kept := inBoth(replaced, now); len(kept) > 0 || len(now) != len(replaced) {
		return fmt.Errorf("rolling pool %s: of its servers %q it has now %q", rolled, replaced, now)
	}
	d.done(fmt.Sprintf("pool %s has none of its former servers, and %d new", rolled, len(now)))
	return nil
}

// serverIDs returns the IDs of the servers of a pool, or of all, sorted.
func (d *demo) serverIDs(ctx context.Context, pool string) ([]string, error) {
	found, _, err := d.in.servers(ctx)
	var ids []string
	for _, one := range found {
		if poolOf(one.name, d.shoot.Namespace()) == pool || pool == "" {
			ids = append(ids, one.id)
		}
	}
	slices.Sort(ids)
	return ids, err
}

// inBoth returns the intersection.
func inBoth(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(before), func(id string) bool { return !slices.Contains(after, id) })
}
