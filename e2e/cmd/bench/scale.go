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
	// scaleLatency is how long each call to the cloud takes.
	scaleLatency = 50 * time.Millisecond
	// scaleMachines is the size of a shoot's pool.
	scaleMachines = 3
	// emptyFor is how long controllers without shoots are left alone before their memory is read.
	emptyFor = 5 * time.Second
	// stepTimeout bounds a step for ten shoots, and for each further ten, on a machine that compiles at the same time.
	stepTimeout = 5 * time.Minute
)

// The steps of a run with many shoots.
const (
	stepEmpty     = "empty"
	stepCreate    = "create"
	stepReconcile = "reconcile"
	stepIdle      = "idle"
	stepRestart   = "restart"
	stepDelete    = "delete"
)

// scaleBench measures the controllers of all contracts with many shoots.
type scaleBench struct {
	*fleet.Fleet
	screen *terminal.Screen
	idle   time.Duration
	// before is what each controller had used at the end of the last step.
	before map[string]fleet.Usage
	result scaleResult
}

// benchScale measures with each number of shoots, with new clusters and controllers for each.
func benchScale(ctx context.Context, screen *terminal.Screen, o options, into *results) error {
	for _, shoots := range o.scale {
		screen.Heading(fmt.Sprintf("Trellis: what %s of all contracts cost", count(shoots, "shoot")))
		result, err := measureScale(ctx, screen, o, shoots)
		if err != nil {
			return fmt.Errorf("measuring %s: %w", count(shoots, "shoot"), err)
		}
		into.Scale = append(into.Scale, result)
		screen.Linef("")
		for _, line := range scaleTable(result) {
			screen.Linef("  %s", line)
		}
	}
	return overBudget(checkScale(into.Scale))
}

func measureScale(ctx context.Context, screen *terminal.Screen, o options, shoots int) (_ scaleResult, err error) {
	b := &scaleBench{screen: screen, idle: o.idle, before: map[string]fleet.Usage{}, result: scaleResult{Shoots: shoots}}
	err = screen.Step("fleet", func(progress io.Writer) (_ string, err error) {
		b.Fleet, err = fleet.New(ctx, fleet.Options{
			Shoots: shoots, Cloud: openstack.FakeReady(scaleLatency), Workers: []gardencorev1beta1.Worker{openstack.NewPool("cpu", scaleMachines, scaleMachines)},
		}, progress)
		return "API server with Gardener's CRDs, a fake cloud, what gardenlet prepares is simulated", err
	})
	if err != nil {
		return scaleResult{}, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{stepEmpty, b.startEmpty},
		{stepCreate, b.Create},
		{stepReconcile, b.Reconcile},
		{stepIdle, b.wait},
		{stepRestart, b.restart},
		{stepDelete, b.Delete},
	} {
		if err := b.step(ctx, step.name, step.do); err != nil {
			return scaleResult{}, err
		}
	}
	return b.result, b.StopControllers(ctx)
}

// startEmpty starts the controllers, and prepares the shoots once the memory of the controllers without shoots was read.
func (b *scaleBench) startEmpty(ctx context.Context) error {
	if err := b.StartControllers(ctx); err != nil {
		return err
	}
	return fleet.Sleep(ctx, emptyFor)
}

// wait does nothing: the components of all shoots are healthy.
func (b *scaleBench) wait(ctx context.Context) error { return fleet.Sleep(ctx, b.idle) }

// restart ends all controllers, and starts new processes.
func (b *scaleBench) restart(ctx context.Context) error {
	if err := b.StopControllers(ctx); err != nil {
		return err
	}
	b.before = map[string]fleet.Usage{}
	if err := b.StartControllers(ctx); err != nil {
		return err
	}
	return b.AwaitConverged(ctx)
}

// step measures the time until all shoots have converged, and what the controllers have used until they have nothing left to do.
func (b *scaleBench) step(ctx context.Context, name string, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stepTimeout+time.Duration(len(b.Shoots)/10)*stepTimeout/10, fmt.Errorf("%s took too long", name))
	defer cancel()
	return b.screen.Step(name, func(io.Writer) (string, error) {
		if name == stepCreate {
			if err := b.Prepare(ctx); err != nil { // the controllers' webhooks see the objects
				return "", err
			}
		}
		result, err := b.measure(ctx, name, do)
		if err != nil {
			return "", err
		}
		b.result.Steps = append(b.result.Steps, result)
		return fmt.Sprintf("%.1f s, %d requests, %d calls", result.Seconds, result.requests(), result.calls()), nil
	})
}

func (b *scaleBench) measure(ctx context.Context, name string, do func(context.Context) error) (stepResult, error) {
	b.Cloud.ResetLog()
	if _, err := b.Requests(); err != nil {
		return stepResult{}, err
	}
	start := time.Now()
	if err := do(ctx); err != nil {
		return stepResult{}, err
	}
	end := time.Now()
	if name != stepIdle && name != stepEmpty {
		quiet, err := b.AwaitQuiet(ctx)
		if err != nil {
			return stepResult{}, err
		}
		if quiet.After(end) && name == stepRestart {
			end = quiet // the objects were healthy all the time
		}
	}
	return b.read(ctx, name, end.Sub(start))
}

// read reads what was used since the last step.
func (b *scaleBench) read(ctx context.Context, name string, took time.Duration) (stepResult, error) {
	usage, err := b.Usage(ctx)
	if err != nil {
		return stepResult{}, err
	}
	requests, err := b.Requests()
	if err != nil {
		return stepResult{}, err
	}
	calls := b.Cloud.Log()
	result := stepResult{Name: name, Seconds: took.Seconds(), Calls: calls.Count(), Logins: calls.Logins(), Controllers: map[string]controllerResult{}}
	for _, c := range b.Controllers {
		used, before := usage[c.Name()], b.before[c.Name()]
		result.Controllers[c.Name()] = newControllerResult(c.Name(), used, before, requests)
	}
	b.before = usage
	return result, b.leaveOutMetrics()
}

// leaveOutMetrics keeps the processor time for the metrics that were just read out of the next step.
func (b *scaleBench) leaveOutMetrics() error {
	times, err := b.CPU()
	for name, used := range b.before {
		used.CPU = times[name]
		b.before[name] = used
	}
	return err
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
