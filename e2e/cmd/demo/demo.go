package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// demo is one run of the demo: what is the same in all clouds.
type demo struct {
	*landscape.Landscape
	screen *terminal.Screen
	in     cloudDemo
	shoot  *gardenlet.Shoot
}

// step is a step of the demo.
type step func(context.Context) error

// cloudDemo is what a cloud adds to the demo.
type cloudDemo interface {
	// newShoot describes the shoot.
	newShoot() (*gardenlet.Shoot, error)
	// draw returns the resources in the cloud as lines of a tree.
	draw() ([]string, error)
	// steps follow those of the Infrastructure, and cleanUp precedes its deletion.
	steps() (steps, cleanUp []step)
	// commands are what users may enter while the demo waits.
	commands() []commands
	// stop stops what the steps have started, after the demo has failed with an error, if any.
	stop(err error) error
}

// commands are commands about one subject.
type commands struct {
	title string
	lines []string
}

// run runs all steps in a cloud and stops everything at the end, even after a failure.
func run(ctx context.Context, screen *terminal.Screen, in cloudEntry, latency time.Duration, exit bool) (err error) {
	screen.Heading(in.heading)
	l, err := landscape.Start(ctx, screen, in.options(latency))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stop()) }()
	d := &demo{Landscape: l, screen: screen}
	d.in = in.attach(d)
	defer func() { err = d.in.stop(err) }()
	steps, cleanUp := d.in.steps()
	steps = append([]step{d.prepare, d.createInfrastructure, d.reconcileInfrastructure}, steps...)
	if exit {
		steps = append(append(steps, cleanUp...), d.deleteInfrastructure)
	} else {
		steps = append(steps, d.waitForInterrupt)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare creates the shoot's objects in the seed, as gardenlet does first.
func (d *demo) prepare(ctx context.Context) error {
	return d.screen.Step("shoot", func(io.Writer) (string, error) {
		var err error
		if d.shoot, err = d.in.newShoot(); err != nil {
			return "", err
		}
		return d.shoot.Namespace() + " with Cluster and Secret cloudprovider", d.Source.Gardenlet.Prepare(ctx, d.shoot)
	})
}

func (d *demo) waitForInterrupt(ctx context.Context) error {
	d.screen.Heading("Look further")
	d.printCommands()
	if ended := d.AwaitExit(ctx); ended != nil {
		return fmt.Errorf("the %s has ended by itself; its log was %s", ended.Name(), ended.Log)
	}
	d.screen.Linef("\nStopping.")
	return nil
}

func (d *demo) printCommands() {
	for _, part := range d.in.commands() {
		d.screen.Linef("  %s", d.screen.Styled(terminal.Dim, "# "+part.title))
		for _, line := range part.lines {
			d.screen.Linef("  %s", line)
		}
	}
	d.screen.Linef("\n%s", d.screen.Styled(terminal.Dim,
		"There is no kubectl? In the folder e2e, `go run ./cmd/assets kubectl` builds one.\nCtrl-C stops everything and removes its files."))
}

// measure prints an object while do is running, and returns a sentence about the costs.
func (d *demo) measure(ctx context.Context, object shownObject, do func(context.Context) error) (string, error) {
	d.Cloud.ResetLog()
	start := time.Now()
	if err := d.show(ctx, []shownObject{object}, do); err != nil {
		return "", err
	}
	return costOf(d.Cloud.Log(), time.Since(start)), nil
}

func costOf(calls wire.Calls, took time.Duration) string {
	if len(calls) == 0 {
		return fmt.Sprintf("no call to the cloud, in %.1f s", took.Seconds())
	}
	return fmt.Sprintf("%s to the cloud, %s among them, in %.1f s",
		count(len(calls), "call"), count(calls.Logins(), "login"), took.Seconds())
}

func (d *demo) done(text string) {
	d.screen.Linef("  %s %s", d.screen.Styled(terminal.Green, "✓"), text)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// sleep waits.
func sleep(ctx context.Context, duration time.Duration) error {
	select {
	case <-time.After(duration):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
