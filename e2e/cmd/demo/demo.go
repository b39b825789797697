package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// demo is one run of the demo: what is the same in all clouds.
type demo struct {
	*landscape.Landscape
	screen *terminal.Screen
	entry  cloudEntry
	plugin pluginEntry
	in     cloudDemo
	shoot  *gardenlet.Shoot

	// before is the content of the shoot's namespace before the ControlPlane was created.
	before inventory
	// applied are the objects of the ControlPlane's ManagedResources in the shoot.
	applied []resourcesv1alpha1.ObjectReference
	// machines are those of machines.
	machines machineInventory
	// container is the container that initializes nodes; nil while it is simulated.
	container *workload.Container
}

// step is a step of the demo.
type step func(context.Context) error

// cloudDemo is what a cloud adds to the demo.
type cloudDemo interface {
	// newShoot describes the shoot.
	newShoot() (*gardenlet.Shoot, error)
	// draw returns the resources in the cloud as lines of a tree.
	draw() ([]string, error)
	// servers lists the servers, and describes other resources for machines.
	servers(ctx context.Context) (servers []server, others []string, err error)
	// steps follow the creation of all objects.
	steps() []step
	// commands are what users may enter besides contractCommands while the demo waits.
	commands() []commands
}

// run runs all steps in a cloud and stops everything at the end, even after a failure.
func run(ctx context.Context, screen *terminal.Screen, in cloudEntry, plugin pluginEntry, latency time.Duration, exit bool) (err error) {
	screen.Heading(in.heading)
	l, err := landscape.Start(ctx, screen, landscape.Options{
		Cloud: in.start(latency), Type: in.name, Clusters: true, Machines: true, InSteps: true,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stop()) }()
	d := &demo{Landscape: l, screen: screen, entry: in, plugin: plugin}
	d.in = in.attach(d)
	defer func() { err = d.stop(err) }()
	for _, step := range d.steps(exit) {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// steps lists all steps.
func (d *demo) steps(exit bool) []step {
	steps := append([]step{
		d.prepare, d.createInfrastructure, d.reconcileInfrastructure,
		d.complete, d.startCluster, d.createControlPlane, d.reconcileControlPlane,
		d.createNetwork, d.reconcileNetwork,
		d.prepareMachines, d.createWorker, d.reconcileWorker, d.scaleOut, d.scaleIn,
	}, d.in.steps()...)
	if exit {
		return append(steps, d.waitHealthy, d.deleteNetworkAndWorker, d.deleteControlPlane, d.stopCluster, d.deleteInfrastructure)
	}
	return append(steps, d.waitHealthy, d.waitForInterrupt)
}

// prepare creates the shoot's objects in the seed, as gardenlet does first.
func (d *demo) prepare(ctx context.Context) error {
	return d.screen.Step("shoot", func(io.Writer) (string, error) {
		var err error
		if d.shoot, err = d.in.newShoot(); err != nil {
			return "", err
		}
		d.shoot.NetworkType = d.plugin.name
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
	for _, part := range append(d.contractCommands(), d.in.commands()...) {
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
