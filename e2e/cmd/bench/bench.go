package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

const megabyte = 1_000_000

// cost is what one operation took; logins are calls, too.
type cost struct {
	calls, logins int
	wall          time.Duration
}

// footprint is what the controller takes.
type footprint struct {
	binary int64 // bytes
	idle   process.Memory
}

// bench measures in one landscape.
type bench struct{ *landscape.Landscape }

func run(ctx context.Context, screen *terminal.Screen, latency time.Duration) (err error) {
	screen.Heading("Trellis: what an Infrastructure costs")
	l, err := landscape.Start(ctx, screen, latency)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stop()) }()
	b := bench{l}
	l.Gardenlet.Interval = 10 * time.Millisecond

	var taken footprint
	costs := map[string]cost{}
	err = screen.Step("measuring", func(io.Writer) (_ string, err error) {
		if taken, err = b.footprint(ctx); err != nil {
			return "", err
		}
		if costs[rowCold], err = b.coldStart(ctx); err != nil {
			return "", err
		}
		return "calls, logins, time, memory", b.lifecycle(ctx, costs)
	})
	if err != nil {
		return err
	}
	screen.Heading(fmt.Sprintf("One default shoot, %d ms per call, cloud instantly ready", latency.Milliseconds()))
	for _, line := range costTable(costs) {
		screen.Linef("  %s", line)
	}
	screen.Heading("The process")
	for _, line := range footprintTable(taken) {
		screen.Linef("  %s", line)
	}
	screen.Linef("\n%s", footnote)
	return nil
}

// coldStart creates a shoot with the first login of the process, and removes it.
func (b bench) coldStart(ctx context.Context) (cost, error) {
	shoot, err := b.NewShoot(ctx, "cold")
	if err != nil {
		return cost{}, err
	}
	first, err := b.measure(func() error { return b.fulfil(ctx, shoot) })
	if err != nil {
		return cost{}, err
	}
	return first, b.destroy(ctx, shoot)
}

// lifecycle creates, reconciles and deletes a shoot with the session that is there.
func (b bench) lifecycle(ctx context.Context, costs map[string]cost) error {
	shoot, err := b.NewShoot(ctx, "warm")
	if err != nil {
		return err
	}
	for _, step := range []struct {
		row string
		do  func(context.Context, *gardenlet.Shoot) error
	}{{rowFirst, b.fulfil}, {rowNoOp, b.fulfil}, {rowDelete, b.destroy}} {
		// Gardener tells orders from results by whole seconds.
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		if costs[step.row], err = b.measure(func() error { return step.do(ctx, shoot) }); err != nil {
			return fmt.Errorf("measuring %s: %w", step.row, err)
		}
	}
	return nil
}

// measure takes the time from the order until gardenlet sees it fulfilled.
func (b bench) measure(do func() error) (cost, error) {
	b.Cloud.ResetLog()
	start := time.Now()
	if err := do(); err != nil {
		return cost{}, err
	}
	calls := b.Cloud.Log()
	return cost{calls: len(calls), logins: calls.Logins(), wall: time.Since(start)}, nil
}

func (b bench) fulfil(ctx context.Context, shoot *gardenlet.Shoot) error {
	component := b.Gardenlet.Infrastructure(shoot)
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	return component.Wait(ctx)
}

func (b bench) destroy(ctx context.Context, shoot *gardenlet.Shoot) error {
	component := b.Gardenlet.Infrastructure(shoot)
	if err := component.Destroy(ctx); err != nil {
		return err
	}
	return component.WaitCleanup(ctx)
}

// footprint lets the process come to rest before it looks.
func (b bench) footprint(ctx context.Context) (footprint, error) {
	info, err := os.Stat(b.Binary)
	if err != nil {
		return footprint{}, err
	}
	select {
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
		return footprint{}, ctx.Err()
	}
	idle, err := b.Controller.Memory()
	return footprint{binary: info.Size(), idle: idle}, err
}
