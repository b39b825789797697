package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/trellis-garden/trellis/e2e/internal/fleet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

const (
	// heapGrowth is by how much the heap of a controller may grow between the middle and the end, and heapSlack how many bytes besides: maps do not shrink,
	// and caches of connections differ.
	heapGrowth, heapSlack = 1.25, 3 << 20
	// goroutineSlack is how many more goroutines a controller may have: connections under way differ.
	goroutineSlack = 30
)

// inventory is how often the cloud has a resource of a kind and a name, over all accounts.
type inventory map[string]int

// inventory lists what the accounts have.
func (s *soak) inventory(ctx context.Context) (inventory, error) {
	found := inventory{}
	for _, account := range s.accounts() {
		if err := account.Renew(ctx); err != nil { // its tokens have expired, too
			return nil, fmt.Errorf("logging in to look for leaks: %w", err)
		}
		resources, err := account.Resources(ctx)
		if err != nil {
			return nil, err
		}
		for _, resource := range resources {
			found.add(resource)
		}
	}
	return found, nil
}

// add counts a resource. A new one has another ID.
func (i inventory) add(resource openstack.Resource) {
	name := resource.Name
	if name == resource.ID {
		name = "without a name"
	}
	i[resource.Kind+" "+name]++
}

// accounts are the accounts of the shoots.
func (s *soak) accounts() []*openstack.Account {
	var all []*openstack.Account
	for _, account := range s.Accounts {
		if own, is := account.(*openstack.Account); is {
			all = append(all, own)
		}
	}
	return all
}

// compare returns an error that names each resource of which there are more or fewer than before.
func (i inventory) compare(now inventory) error {
	names := maps.Clone(i)
	maps.Copy(names, now)
	var failures []error
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if i[name] != now[name] {
			failures = append(failures, fmt.Errorf("the cloud has %d times %s, and had %d", now[name], name, i[name]))
		}
	}
	return errors.Join(failures...)
}

// removeAccounts fails if an account is not empty.
func (s *soak) removeAccounts(ctx context.Context) error {
	var failures []error
	for _, account := range s.accounts() {
		if err := account.Renew(ctx); err != nil {
			failures = append(failures, err)
			continue
		}
		failures = append(failures, account.Remove(ctx))
	}
	return errors.Join(failures...)
}

// readLive reads what the replicas of each controller keep in sum, by its name: a leader keeps more than the others, and another one may lead by now.
func (s *soak) readLive(ctx context.Context) (map[string]fleet.Live, error) {
	all := map[string]fleet.Live{}
	for _, c := range s.Controllers {
		var sum fleet.Live
		for _, replica := range c.Running() {
			live, err := replica.Live(ctx)
			if err != nil {
				return nil, fmt.Errorf("reading what %s keeps: %w", c.Name(), err)
			}
			sum.Heap, sum.Goroutines = sum.Heap+live.Heap, sum.Goroutines+live.Goroutines
		}
		all[c.Name()] = sum
	}
	return all, nil
}

// compareLive prints what the controllers kept in the middle and keep at the end, and returns an error that names those that have grown.
func (s *soak) compareLive(middle, end map[string]fleet.Live) error {
	const layout = "  %-28s %14s %14s %12s %12s"
	s.screen.Heading("What the replicas of each controller keep, after a garbage collection")
	s.screen.Linef(layout, "", "heap, middle", "end", "goroutines", "end")
	var failures []error
	for _, name := range slices.Sorted(maps.Keys(end)) {
		before, after := middle[name], end[name]
		s.screen.Linef(layout, name, megabytes(before.Heap), megabytes(after.Heap), fmt.Sprint(before.Goroutines), fmt.Sprint(after.Goroutines))
		failures = append(failures, grown(name, before, after))
	}
	s.screen.Linef("")
	for _, name := range slices.Sorted(maps.Keys(s.counts)) {
		s.screen.Linef("  %3d times %s", s.counts[name], name)
	}
	s.screen.Linef("")
	return errors.Join(failures...)
}

// grown returns an error if a controller keeps more than before.
func grown(name string, before, after fleet.Live) error {
	var failures []error
	if most := int64(heapGrowth*float64(before.Heap)) + heapSlack; after.Heap > most {
		failures = append(failures, fmt.Errorf("the heap of %s has grown from %s to %s, at most %s is allowed",
			name, megabytes(before.Heap), megabytes(after.Heap), megabytes(most)))
	}
	if most := before.Goroutines + goroutineSlack; after.Goroutines > most {
		failures = append(failures, fmt.Errorf("%s has %d goroutines and had %d, at most %d are allowed", name, after.Goroutines, before.Goroutines, most))
	}
	return errors.Join(failures...)
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1_000_000) }
