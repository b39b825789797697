package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/fleet"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/machinedriver"
	driveropenstack "github.com/trellis-garden/trellis/e2e/internal/machinedriver/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// machines is how many are created at a time, as in the monolith's record.
const machines = 100

// machineBench measures the costs of machines, in a landscape of its own: machine-controller-manager and the machine controller run as their
// Deployment describes them.
type machineBench struct {
	*landscape.Landscape
	place
	screen  *terminal.Screen
	shoot   *gardenlet.Shoot
	latency time.Duration
	// before are the names of the account's resources before the first machine.
	before []string
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
	if b.before, err = b.account.ResourceNames(ctx); err != nil {
		return err
	}
	exceeded, err := b.asConfigured(ctx, o)
	if err != nil {
		return err
	}
	record, err := readMonolith()
	if err != nil {
		return err
	}
	var more error
	into.Machines, more, err = b.asRecorded(ctx, record)
	return errors.Join(overBudget(errors.Join(exceeded, more)), err)
}

// asConfigured creates and deletes the machines by the machine controller. The first error names budgets that were exceeded.
func (b *machineBench) asConfigured(ctx context.Context, o options) (exceeded, err error) {
	created, objects, err := b.createManaged(ctx)
	if err != nil {
		return nil, err
	}
	taken, err := b.footprint()
	if err != nil {
		return nil, err
	}
	more, err := b.step(ctx, "one more", b.pool(machines+1))
	if err != nil {
		return nil, err
	}
	deleted, err := b.step(ctx, "none", b.DestroyWorker)
	if err != nil {
		return nil, err
	}
	b.print(o, created, more, deleted, taken, objects)
	return withinManagedBudget(created.log, objects), b.checkLeft(ctx)
}

// asRecorded creates and deletes the machines under the conditions of the monolith's record: first by the machine controller, then by its driver alone.
func (b *machineBench) asRecorded(ctx context.Context, record *monolith) (result *machinesResult, exceeded, err error) {
	b.latency = time.Duration(record.Machines.LatencyMilliseconds) * time.Millisecond
	b.cloud.SetLatency(b.latency)
	b.cloud.Fake.SetTransition(fake.ServerBuild, fake.Transition{})
	b.cloud.Fake.SetTransition(fake.ServerDelete, fake.Transition{})
	b.screen.Heading(fmt.Sprintf("%d machines again: %d ms for each call, servers ready at once", machines, record.Machines.LatencyMilliseconds))
	created, objects, err := b.createManaged(ctx)
	if err != nil {
		return nil, nil, err
	}
	exceeded = withinManagedBudget(created.log, objects)
	class, err := machinedriver.ReadClass(ctx, b.Source.Client, b.shoot.Namespace())
	if err != nil {
		return nil, exceeded, err
	}
	deleted, err := b.step(ctx, "none", b.DestroyWorker)
	if err != nil {
		return nil, exceeded, err
	}
	if err := errors.Join(b.checkLeft(ctx), b.StopMachines()); err != nil {
		return nil, exceeded, err
	}
	result, more, err := b.byDriver(ctx, class, record.Machines.AtOnce)
	if result != nil {
		result.Managed = managedMachines{Create: newMachinesOperation(created), Delete: newMachinesOperation(deleted)}
	}
	return result, errors.Join(exceeded, more), err
}

// createManaged creates the machines by the machine controller. It returns, too, how many Machines machine-controller-manager has created for that.
func (b *machineBench) createManaged(ctx context.Context) (created cost, objects int, err error) {
	before, err := b.createdMachines()
	if err != nil {
		return cost{}, 0, err
	}
	if created, err = b.step(ctx, fmt.Sprintf("%d machines", machines), b.pool(machines)); err != nil {
		return cost{}, 0, err
	}
	all, err := b.createdMachines()
	return created, all - before, err
}

// byDriver creates and deletes machines of a class twice, without machine-controller-manager: once as quickly as possible, and once with a pause in which the rate limiter
// of the driver's session recovers, since that is not what is compared.
func (b *machineBench) byDriver(ctx context.Context, class machinedriver.Class, atOnce int) (result *machinesResult, exceeded, err error) {
	b.screen.Heading(fmt.Sprintf("And by the driver alone, %d at a time", atOnce))
	driver, err := driveropenstack.New()
	if err != nil {
		return nil, nil, err
	}
	recovery := driveropenstack.LimiterRecovery()
	made := machinedriver.New(driver, class, machines, atOnce)
	costs := map[string]cost{}
	for _, step := range []struct {
		pause time.Duration // before it
		name  string
		do    func(context.Context) error
	}{
		{0, "created", made.Create}, {0, "deleted at once", made.Delete}, {recovery, "created again", made.Create}, {recovery, "deleted", made.Delete},
	} {
		if err := fleet.Sleep(ctx, step.pause); err != nil {
			return nil, exceeded, err
		}
		if costs[step.name], err = b.step(ctx, step.name, step.do); err != nil {
			return nil, exceeded, err
		}
		exceeded = errors.Join(exceeded, withinBudget(costs[step.name].log))
	}
	return &machinesResult{
		Create: newMachinesOperation(costs["created"]), Delete: newMachinesOperation(costs["deleted"]), DeleteAtOnce: new(newMachinesOperation(costs["deleted at once"])),
	}, exceeded, b.checkLeft(ctx)
}

// createdMachines is how many Machines machine-controller-manager has created.
func (b *machineBench) createdMachines() (int, error) {
	requests, err := b.Source.Requests(audit.UserOf(b.shoot.Namespace(), mcm.Manager))
	number := 0
	for _, request := range requests {
		if request.Verb == "create" && request.Resource == "machines" && request.Code == http.StatusCreated {
			number++
		}
	}
	return number, err
}

// checkLeft fails unless the account has the same resources as before the first machine.
func (b *machineBench) checkLeft(ctx context.Context) error {
	left, err := b.account.ResourceNames(ctx)
	if err != nil {
		return err
	}
	if more := slices.DeleteFunc(left, func(name string) bool { return slices.Contains(b.before, name) }); len(more) > 0 {
		return fmt.Errorf("%s left of the machines: %s", count(len(more), "resource"), strings.Join(more, "; "))
	}
	return nil
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

func (b *machineBench) print(o options, created, more, deleted cost, taken footprint, objects int) {
	b.screen.Heading(fmt.Sprintf("%d machines of one pool, %d ms per call, a server is built in %s",
		machines, o.latency.Milliseconds(), inSeconds(openstack.ServerTime)))
	lines := cloud.Costs(created.log, machines)
	for _, line := range append(lines, machineBudgetLines(created, objects)...) {
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
