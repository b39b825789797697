package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/machinedriver"
	driveropenstack "github.com/trellis-garden/trellis/e2e/internal/machinedriver/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// machines is how many are created at a time, as in the monolith's record.
const machines = 100

// limiterPause is how long the rate limiter of an account's session takes to be full again after the creation of machines: 200 calls, 50 a second.
const limiterPause = 4 * time.Second

// machineBench measures the costs of machines, in a landscape of its own: machine-controller-manager and the machine controller run as their
// Deployment describes them.
type machineBench struct {
	*landscape.Landscape
	place
	screen  *terminal.Screen
	shoot   *gardenlet.Shoot
	latency time.Duration
}

func benchMachines(ctx context.Context, screen *terminal.Screen, o options, into *results) (err error) {
	screen.Heading(fmt.Sprintf("Trellis: what %d machines of one pool cost", machines))
	l, err := landscape.Start(ctx, screen, landscape.Options{Cloud: openstack.Fake(o.latency), Type: openstack.Type, Machines: true})
	if err != nil {
		return err
	}
	b := &machineBench{Landscape: l, place: placeOf(l), screen: screen, latency: o.latency}
	defer func() {
		if err != nil && b.Source.Machines != nil {
			screen.Linef("%s", b.Source.Machines.Tails(10))
		}
		err = errors.Join(err, l.Stop())
	}()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	created, err := b.step(ctx, fmt.Sprintf("%d machines", machines), b.pool(machines))
	if err != nil {
		return err
	}
	taken, err := b.footprint()
	if err != nil {
		return err
	}
	more, err := b.step(ctx, "one more", b.pool(machines+1))
	if err != nil {
		return err
	}
	deleted, err := b.step(ctx, "none", b.DestroyWorker)
	if err != nil {
		return err
	}
	b.print(o, created, more, deleted, taken)
	managed := withinManagedBudget(created.log, slices.Concat(created.log, more.log, deleted.log))
	into.Machines, err = b.asRecorded(ctx)
	if _, over := errors.AsType[budgetError](err); err != nil && !over {
		return err
	}
	return overBudget(errors.Join(managed, err))
}

// asRecorded creates and deletes the machines under the conditions of the monolith's record: first by the machine controller, then by its driver alone.
func (b *machineBench) asRecorded(ctx context.Context) (*machinesResult, error) {
	record, err := readMonolith()
	if err != nil {
		return nil, err
	}
	b.latency = time.Duration(record.Machines.LatencyMilliseconds) * time.Millisecond
	b.cloud.SetLatency(b.latency)
	b.cloud.Fake.SetTransition(fake.ServerBuild, fake.Transition{})
	b.cloud.Fake.SetTransition(fake.ServerDelete, fake.Transition{})
	b.screen.Heading(fmt.Sprintf("%d machines again: %d ms for each call, servers ready at once", machines, record.Machines.LatencyMilliseconds))
	created, err := b.step(ctx, fmt.Sprintf("%d machines", machines), b.pool(machines))
	if err != nil {
		return nil, err
	}
	class, err := machinedriver.ReadClass(ctx, b.Source.Client, b.shoot.Namespace())
	if err != nil {
		return nil, err
	}
	deleted, err := b.step(ctx, "none", b.DestroyWorker)
	if err != nil {
		return nil, err
	}
	if err := b.StopMachines(); err != nil {
		return nil, err
	}
	result, err := b.byDriver(ctx, class, record.Machines.AtOnce)
	if result != nil {
		result.Managed = managedMachines{Create: newMachinesOperation(created), Delete: newMachinesOperation(deleted)}
	}
	return result, err
}

// byDriver creates and deletes machines of a class without machine-controller-manager. Between the two the rate limiter recovers, since it is not what is compared:
// nobody deletes machines in the second after their creation.
func (b *machineBench) byDriver(ctx context.Context, class machinedriver.Class, atOnce int) (*machinesResult, error) {
	b.screen.Heading(fmt.Sprintf("And by the driver alone, %d at a time", atOnce))
	driver, err := driveropenstack.New()
	if err != nil {
		return nil, err
	}
	made := machinedriver.New(driver, class, machines, atOnce)
	created, err := b.step(ctx, fmt.Sprintf("%d machines", machines), made.Create)
	if err != nil {
		return nil, err
	}
	if err := wait(ctx, limiterPause); err != nil {
		return nil, err
	}
	deleted, err := b.step(ctx, "none", made.Delete)
	if err != nil {
		return nil, err
	}
	left, err := b.account.Servers(b.shoot)(ctx)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("%d of %d servers are left", len(left), machines)
	}
	return &machinesResult{Create: newMachinesOperation(created), Delete: newMachinesOperation(deleted)},
		overBudget(errors.Join(withinBudget(created.log), onceEach(deleted.log, machines, deletesPort, deletesServer)))
}

// prepare creates a shoot without a limit for machines.
func (b *machineBench) prepare(ctx context.Context) error {
	err := b.screen.Step("shoot", func(io.Writer) (string, error) {
		b.shoot = b.account.NewShoot("many")
		b.account.OfferMachines(b.shoot)
		// controlplane-controller, which is not running here, would add the cloud's addresses.
		b.shoot.Credentials["authURL"] = []byte(b.cloud.AuthURL())
		for _, resource := range []string{"instances", "cores", "ram", "port"} {
			if err := b.cloud.Fake.SetQuota(b.account.Project, resource, fake.Unlimited); err != nil {
				return "", err
			}
		}
		return "with an Infrastructure", b.prepareInfrastructure(ctx)
	})
	if err != nil {
		return err
	}
	if err := b.StartCluster(ctx, b.shoot); err != nil {
		return err
	}
	return b.StartMachines(ctx)
}

func (b *machineBench) prepareInfrastructure(ctx context.Context) error {
	if err := b.Source.Gardenlet.Prepare(ctx, b.shoot); err != nil {
		return err
	}
	component := b.Source.Gardenlet.Infrastructure(b.shoot)
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	if err := component.Wait(ctx); err != nil {
		return err
	}
	b.shoot.InfrastructureStatus = component.ProviderStatus()
	return nil
}

// pool returns an action that sets the number of machines of a pool.
func (b *machineBench) pool(size int32) func(context.Context) error {
	return func(ctx context.Context) error {
		b.shoot.Workers = []gardencorev1beta1.Worker{openstack.NewPool("cpu", size, size)}
		return b.ReconcileWorker(ctx)
	}
}

// step measures the time from the request until gardenlet sees its result.
func (b *machineBench) step(ctx context.Context, name string, do func(context.Context) error) (took cost, err error) {
	return took, b.screen.Step(name, func(io.Writer) (string, error) {
		if err := pause(ctx); err != nil {
			return "", err
		}
		running := &spans{latency: b.latency}
		b.cloud.SetHook(running.record)
		defer b.cloud.SetHook(nil)
		took, err = measure(b.place.cloud, func() error { return do(ctx) })
		took.steps = running.steps()
		return fmt.Sprintf("%d calls, at most %d after each other", took.calls, took.steps), err
	})
}

// footprint is the machine controller's memory with all machines.
func (b *machineBench) footprint() (footprint, error) {
	info, err := os.Stat(b.MachineController)
	if err != nil {
		return footprint{}, err
	}
	pids := b.Source.Machines.PIDs(b.shoot.Namespace(), openstack.MachineController)
	if len(pids) != 1 {
		return footprint{}, fmt.Errorf("the machine controller runs %d times", len(pids))
	}
	busy, err := process.MemoryOf(pids[0])
	return footprint{binary: info.Size(), idle: busy}, err
}

func (b *machineBench) print(o options, created, more, deleted cost, taken footprint) {
	b.screen.Heading(fmt.Sprintf("%d machines of one pool, %d ms per call, a server is built in %s",
		machines, o.latency.Milliseconds(), inSeconds(openstack.ServerTime)))
	lines := cloud.Costs(created.log, machines)
	for _, line := range append(lines, machineBudgetLines(created)...) {
		b.screen.Linef("  %s", line)
	}
	b.screen.Heading(fmt.Sprintf("One machine more: its calls in their order, in %s", inSeconds(more.wall)))
	for _, call := range more.log {
		b.screen.Linef("  %2d  %s", call.Seq, call)
	}
	b.screen.Heading(fmt.Sprintf("Their deletion, in %s", inSeconds(deleted.wall)))
	for _, line := range cloud.Costs(deleted.log, machines+1) {
		b.screen.Linef("  %s", line)
	}
	b.screen.Heading("The machine controller")
	b.screen.Linef("  stripped binary %d MB; memory with %d machines: private %d MB, all %d MB", taken.binary/megabyte, machines,
		taken.idle.Private/megabyte, taken.idle.All/megabyte)
}
