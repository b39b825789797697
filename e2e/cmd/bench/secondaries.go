package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/e2e/internal/fleet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

const (
	// observedShoots is how many shoots are observed, in two accounts.
	observedShoots = 100
	// observationInterval is the time between two observations of an object. It is the shortest that the controllers accept.
	observationInterval = 10 * time.Second
	// observedIntervals is how many intervals are measured in which nothing changes.
	observedIntervals = 6
)

// The steps of a run with secondary controllers.
const (
	stepFirst     = "first"
	stepUnchanged = "unchanged"
)

// secondaryBench measures the secondary controllers beside shoots on which no primary works.
type secondaryBench struct {
	scaleBench
	secondaries []*fleet.Controller
	into        *secondariesResult
}

func benchSecondaries(ctx context.Context, screen *terminal.Screen, _ options, into *results) (err error) {
	screen.Heading(fmt.Sprintf("Trellis: what secondary controllers cost beside %s", count(observedShoots, "shoot")))
	b := &secondaryBench{scaleBench: scaleBench{screen: screen, before: map[string]fleet.Usage{}}}
	defer func() {
		if b.Fleet != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	for _, step := range []struct {
		name string
		do   func(context.Context, io.Writer) (string, error)
	}{{"fleet", b.start}, {"shoots", b.create}, {stepFirst, b.first}, {stepUnchanged, b.unchanged}} {
		ctx, cancel := context.WithTimeoutCause(ctx, 2*stepTimeout, fmt.Errorf("%s took too long", step.name))
		err := screen.Step(step.name, func(progress io.Writer) (string, error) { return step.do(ctx, progress) })
		cancel()
		if err != nil {
			return err
		}
	}
	into.Secondaries = b.into
	screen.Linef("")
	for _, line := range secondaryTable(b.into) {
		screen.Linef("  %s", line)
	}
	return errors.Join(overBudget(checkSecondaries(b.into)), b.StopControllers(ctx))
}

func (b *secondaryBench) start(ctx context.Context, progress io.Writer) (_ string, err error) {
	b.Fleet, err = fleet.New(ctx, fleet.Options{
		Shoots: observedShoots, Cloud: openstack.FakeReady(scaleLatency),
		Workers: []gardencorev1beta1.Worker{openstack.NewPool("cpu", scaleMachines, scaleMachines)},
	}, progress)
	return "as for the other measurements of many shoots", err
}

// create creates the shoots. Then the primaries end: their requests would be counted, too.
func (b *secondaryBench) create(ctx context.Context, _ io.Writer) (string, error) {
	if err := b.StartControllers(ctx); err != nil {
		return "", err
	}
	if err := b.Prepare(ctx); err != nil {
		return "", err
	}
	if err := b.Create(ctx); err != nil {
		return "", err
	}
	if err := b.StopControllers(ctx); err != nil {
		return "", err
	}
	b.into = &secondariesResult{Shoots: len(b.Shoots), Accounts: len(b.Accounts), IntervalSeconds: observationInterval.Seconds()}
	return fmt.Sprintf("%s in %s, created by primaries, which have ended", count(len(b.Shoots), "shoot"), count(len(b.Accounts), "account")), nil
}

// first starts the secondaries, and waits until each object was observed once: that takes an interval, over which the first observations are spread.
func (b *secondaryBench) first(ctx context.Context, _ io.Writer) (string, error) {
	var err error
	if b.secondaries, err = b.AddSecondaries(ctx, "--observation-interval="+observationInterval.String()); err != nil {
		return "", err
	}
	b.Controllers = b.secondaries
	result, err := b.measureSecondaries(ctx, stepFirst, func(ctx context.Context) error {
		if err := b.StartControllers(ctx); err != nil {
			return err
		}
		return b.awaitObserved(ctx)
	})
	return fmt.Sprintf("each object was observed, after %.0f s", result.Seconds), err
}

// awaitObserved waits until each secondary has made as many observations as there are objects.
func (b *secondaryBench) awaitObserved(ctx context.Context) error {
	for {
		usage, err := b.Usage(ctx)
		if err != nil {
			return err
		}
		observed := 0
		for _, c := range b.secondaries {
			observed += min(usage[c.Name()].Reconciled, len(b.Shoots))
		}
		if observed == len(b.secondaries)*len(b.Shoots) {
			return nil
		}
		if err := fleet.Sleep(ctx, time.Second); err != nil {
			return fmt.Errorf("waiting for the first observation of each object: %w", err)
		}
	}
}

func (b *secondaryBench) unchanged(ctx context.Context, _ io.Writer) (string, error) {
	_, err := b.measureSecondaries(ctx, stepUnchanged, func(ctx context.Context) error {
		return fleet.Sleep(ctx, observedIntervals*observationInterval)
	})
	return fmt.Sprintf("nothing, for %s of %s", count(observedIntervals, "interval"), observationInterval), err
}

func (b *secondaryBench) measureSecondaries(ctx context.Context, name string, do func(context.Context) error) (stepResult, error) {
	b.Cloud.ResetLog()
	if _, err := b.Requests(); err != nil {
		return stepResult{}, err
	}
	start := time.Now()
	if err := do(ctx); err != nil {
		return stepResult{}, err
	}
	result, err := b.read(ctx, name, time.Since(start))
	if err != nil {
		return stepResult{}, err
	}
	b.into.Steps = append(b.into.Steps, secondaryStep{stepResult: result, CloudWrites: writesOf(b.Cloud.Log())})
	return result, nil
}
