package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/fleet"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const megabyte = 1_000_000

// The shoots that are created in each place, one after the other.
const (
	coldShoot = "cold"
	warmShoot = "warm"
)

// errEnded is the error of a canceled measurement.
var errEnded = errors.New("the controller has ended")

// cost is the cost of one operation; logins are calls, too.
type cost struct {
	calls, logins int
	wall          time.Duration
	// steps is how many calls followed each other, if that was measured.
	steps int
	// log are the calls one by one, if they were recorded.
	log wire.Calls
}

// footprint is the controller's memory and processor time.
type footprint struct {
	binary int64 // bytes
	idle   process.Memory
}

// bench measures in one landscape.
type bench struct {
	*landscape.Landscape
	screen *terminal.Screen
}

// options select what is measured.
type options struct {
	latency time.Duration
	// entry names the second cloud in clouds.yaml; default the one whose state is in dir, if there is one.
	entry, dir string
	// only is the part that is measured; default all.
	only string
	// scale are the numbers of shoots that are measured, in their order; none for no measurement. idle is how long nothing has to be done.
	scale []int
	idle  time.Duration
	// json is a file, and folder a folder of the documentation, for the results; empty for none.
	json, folder string
}

// part is a part of the benchmark. An errBudget does not end the other parts.
type part struct {
	name  string
	bench func(context.Context, *terminal.Screen, options, *results) error
}

func parts() []part {
	return []part{{"infrastructure", benchInfrastructure}, {partAWS, benchAWS}, {"machines", benchMachines}, {"scale", benchScale}, {"secondaries", benchSecondaries}, {"admission", benchAdmission}}
}

func run(ctx context.Context, screen *terminal.Screen, o options) error {
	record, err := readMonolith()
	if err != nil {
		return err
	}
	measured, err := newResults(ctx)
	if err != nil {
		return err
	}
	var exceeded []error
	known := false
	var names []string
	for _, part := range parts() {
		names = append(names, part.name)
		if o.only != "" && o.only != part.name {
			continue
		}
		known = true
		err := part.bench(ctx, screen, o, measured)
		if _, is := errors.AsType[budgetError](err); is {
			exceeded = append(exceeded, err)
		} else if err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("there is no part %q; the parts are %s", o.only, strings.Join(names, ", "))
	}
	measured.Comparison = compareAll(measured, record)
	printComparison(screen, measured, record)
	exceeded = append(exceeded, lostRows(measured.Comparison))
	return errors.Join(errors.Join(exceeded...), measured.write(o))
}

// budgetError is the error of a part that has measured more than is allowed.
type budgetError struct{ error }

// overBudget marks an error of a comparison with budgets, unless it is nil.
func overBudget(err error) error {
	if err == nil {
		return nil
	}
	return budgetError{err}
}

func benchInfrastructure(ctx context.Context, screen *terminal.Screen, o options, into *results) (err error) {
	screen.Heading("Trellis: what an Infrastructure costs")
	l, err := landscape.Start(ctx, screen, landscape.Options{Cloud: openstack.Fake(o.latency)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stop()) }()
	b := bench{Landscape: l, screen: screen}
	l.Source.Gardenlet.Interval = 10 * time.Millisecond

	var taken footprint
	err = screen.Step("at rest", func(io.Writer) (_ string, err error) {
		taken, err = b.footprint(ctx)
		return "memory of the process", err
	})
	if err != nil {
		return err
	}
	standIn, err := b.costs(ctx, placeOf(l))
	if err != nil {
		return err
	}
	into.Infrastructure, into.LatencyMilliseconds = map[string]operationResult{}, o.latency.Milliseconds()
	for row, measured := range standIn {
		into.Infrastructure[row] = measured.result()
	}
	screen.Heading(fmt.Sprintf("One default shoot, %d ms per call, cloud instantly ready", o.latency.Milliseconds()))
	record, err := readMonolith()
	if err != nil {
		return err
	}
	b.print(costTable(standIn, record))
	screen.Heading("The process")
	b.print(footprintTable(taken, record))
	screen.Linef("\n%s", footnote)
	return errors.Join(overBudget(withinCosts(standIn)), b.addRealCloudColumn(ctx, o, standIn))
}

func (b bench) print(lines []string) {
	for _, line := range lines {
		b.screen.Linef("  %s", line)
	}
}

// costs measures all rows of the table in one place.
func (b bench) costs(ctx context.Context, where place) (map[string]cost, error) {
	costs := map[string]cost{}
	err := b.screen.Step("measuring", func(io.Writer) (string, error) {
		return "calls, logins, time; cloud: " + where.cloud.Name(), b.whileControllerRuns(ctx, func(ctx context.Context) (err error) {
			if costs[rowCold], err = b.coldStart(ctx, where); err != nil {
				return err
			}
			return b.lifecycle(ctx, where, costs)
		})
	})
	if err != nil {
		return nil, err
	}
	return costs, nil
}

// whileControllerRuns runs a function, and cancels it if the controller ends.
func (b bench) whileControllerRuns(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	exited := b.Infrastructure.Exited()
	go func() {
		select {
		case <-exited:
			cancel(errEnded)
		case <-ctx.Done():
		}
	}()
	err := do(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// place is an account in a cloud for shoots.
type place struct {
	cloud   *openstack.Cloud
	account *openstack.Account
}

// placeOf returns the account of a landscape.
func placeOf(l *landscape.Landscape) place {
	on := openstack.In(l.Clusters)
	return place{cloud: on.Cloud, account: on.Account}
}

// newShoot prepares a shoot in a place, for which all resources are created.
func (b bench) newShoot(ctx context.Context, name string, where place) (*gardenlet.Shoot, error) {
	shoot := where.account.NewShoot(name)
	return shoot, b.Source.Gardenlet.Prepare(ctx, shoot)
}

// coldStart creates a shoot with the first login of the process, and deletes it.
func (b bench) coldStart(ctx context.Context, where place) (cost, error) {
	shoot, err := b.newShoot(ctx, coldShoot, where)
	if err != nil {
		return cost{}, err
	}
	first, err := measure(where.cloud, func() error { return b.deploy(ctx, shoot) })
	if err != nil {
		return cost{}, err
	}
	return first, b.destroy(ctx, shoot)
}

// lifecycle creates, reconciles and deletes a shoot with an existing session.
func (b bench) lifecycle(ctx context.Context, where place, costs map[string]cost) error {
	shoot, err := b.newShoot(ctx, warmShoot, where)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		row string
		do  func(context.Context, *gardenlet.Shoot) error
	}{{rowFirst, b.deploy}, {rowNoOp, b.deploy}, {rowRepeat, b.deploy}, {rowDelete, b.destroy}} {
		if err := pause(ctx); err != nil {
			return err
		}
		if costs[step.row], err = measure(where.cloud, func() error { return step.do(ctx, shoot) }); err != nil {
			return fmt.Errorf("measuring %s: %w", step.row, err)
		}
	}
	return nil
}

// pause waits before another operation on an object: Gardener compares the times of requests and results by whole seconds.
func pause(ctx context.Context) error { return fleet.Sleep(ctx, time.Second) }

// measure measures the time from the request until gardenlet sees its result.
func measure(traffic cloud.Traffic, do func() error) (cost, error) {
	traffic.ResetLog()
	start := time.Now()
	if err := do(); err != nil {
		return cost{}, err
	}
	calls := traffic.Log()
	return cost{calls: len(calls), logins: calls.Logins(), wall: time.Since(start), log: calls}, nil
}

func (b bench) deploy(ctx context.Context, shoot *gardenlet.Shoot) error {
	component := b.Source.Gardenlet.Infrastructure(shoot)
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	return component.Wait(ctx)
}

func (b bench) destroy(ctx context.Context, shoot *gardenlet.Shoot) error {
	component := b.Source.Gardenlet.Infrastructure(shoot)
	if err := component.Destroy(ctx); err != nil {
		return err
	}
	return component.WaitCleanup(ctx)
}

// footprint waits before it reads the process's memory.
func (b bench) footprint(ctx context.Context) (footprint, error) {
	info, err := os.Stat(b.Infrastructure.Binary)
	if err != nil {
		return footprint{}, err
	}
	if err := fleet.Sleep(ctx, 3*time.Second); err != nil {
		return footprint{}, err
	}
	idle, err := b.Infrastructure.Memory()
	return footprint{binary: info.Size(), idle: idle}, err
}
