package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// The shoot's pools: one that is scaled, and one that is rolled.
const (
	growing = "cpu"
	rolled  = "mem"
)

// machineInventory has the resources before the first machine, and those added with machines.
type machineInventory struct {
	inSeed  inventory
	inCloud []string
	parts   inventory
	// garbage are parts that gardener-resource-manager collects later.
	garbage inventory
}

// pool returns the shoot's pool of a name, for changes.
func (d *demo) pool(name string) *gardencorev1beta1.Worker {
	for i := range d.shoot.Workers {
		if d.shoot.Workers[i].Name == name {
			return &d.shoot.Workers[i]
		}
	}
	panic("the demo knows no pool " + name)
}

// prepareMachines prints what is real about machines, and what is simulated.
func (d *demo) prepareMachines(ctx context.Context) (err error) {
	d.screen.Heading("Machines: machine-controller-manager and our machine controller are real. Simulated:")
	for _, duty := range nodes.Duties(d.entry.nodes...) {
		d.screen.Linef("  · %s", duty)
	}
	d.screen.Linef("")
	if d.machines.inSeed, err = listInventory(ctx, d.Source.Config, d.Source.Client, d.shoot.Namespace()); err != nil {
		return err
	}
	if d.machines.inCloud, err = d.Account.ResourceNames(ctx); err != nil {
		return err
	}
	return d.StartMachines(ctx, d.entry.nodes...)
}

func (d *demo) worker() shownObject {
	return shownObject{name: "worker/" + d.shoot.Name, get: func(ctx context.Context) (extensionsv1alpha1.Object, error) {
		return d.Source.Gardenlet.GetWorker(ctx, d.shoot)
	}}
}

func (d *demo) createWorker(ctx context.Context) error {
	d.screen.Heading(fmt.Sprintf("gardenlet deploys machine-controller-manager and the Worker: pool %s with %d machines, pool %s with %d",
		growing, d.pool(growing).Minimum, rolled, d.pool(rolled).Minimum))
	cost, err := d.measure(ctx, d.worker(), d.ReconcileWorker)
	if err != nil {
		return err
	}
	calls := d.Cloud.Log()
	d.screen.Linef("  %s", cost)
	d.screen.Heading("Servers in the cloud, and their Nodes in the shoot")
	servers, err := d.showServers(ctx)
	if err != nil {
		return err
	}
	d.screen.Heading("Requests to the cloud, by name")
	for _, line := range cloud.Costs(calls, servers) {
		d.screen.Linef("  %s", line)
	}
	return nil
}

func (d *demo) reconcileWorker(ctx context.Context) error {
	if err := d.reconcileAgain(ctx, d.Worker.Name(), d.worker(), d.ReconcileWorker); err != nil {
		return err
	}
	// One request for what the pool's machines share, and none for machines: those are machine-controller-manager's.
	d.printCalls(d.Cloud.Log())
	return nil
}

// maxCall is how much of a call is shown: creations in AWS have long parameters.
const maxCall = 160

// printCalls lists calls in their order.
func (d *demo) printCalls(calls wire.Calls) {
	for _, call := range calls {
		d.screen.Linef("    %s", cut(call.String(), maxCall))
	}
}

// recordMachineObjects records the objects in the seed that were added with the machines.
func (d *demo) recordMachineObjects(ctx context.Context) error {
	now, err := listInventory(ctx, d.Source.Config, d.Source.Client, d.shoot.Namespace())
	if err != nil {
		return err
	}
	collected := &corev1.SecretList{}
	ofGarbage := client.MatchingLabels{references.LabelKeyGarbageCollectable: references.LabelValueGarbageCollectable}
	if err := d.Source.Client.List(ctx, collected, client.InNamespace(d.shoot.Namespace()), ofGarbage); err != nil {
		return err
	}
	d.machines.parts, d.machines.garbage = now.Difference(d.machines.inSeed), inventory{}
	for _, secret := range collected.Items {
		if name := "Secret " + secret.Name; d.machines.parts.Has(name) {
			d.machines.parts.Delete(name)
			d.machines.garbage.Insert(name)
		}
	}
	return nil
}

// deleteNetworkAndWorker deletes both concurrently, as gardenlet does, and checks that nothing is left of them.
func (d *demo) deleteNetworkAndWorker(ctx context.Context) error {
	d.screen.Heading("gardenlet deletes the Network and the Worker concurrently")
	inSeed, inShoot, err := d.partsOfNetwork(ctx)
	if err != nil {
		return err
	}
	servers, err := d.serverIDs(ctx, "")
	if err != nil {
		return err
	}
	start := time.Now()
	d.Cloud.ResetLog()
	err = d.show(ctx, []shownObject{d.network(), d.worker()}, func(ctx context.Context) error {
		both, ctx := errgroup.WithContext(ctx)
		both.Go(func() error { return d.destroyNetwork(ctx) })
		both.Go(func() error { return d.DestroyWorker(ctx) })
		return both.Wait()
	})
	if err != nil {
		return err
	}
	d.screen.Linef("  %s: %s", count(len(servers), "machine"), costOf(d.Cloud.Log(), time.Since(start)))
	if err := d.proveNoNetwork(ctx, inSeed, inShoot); err != nil {
		return err
	}
	return d.proveNoMachines(ctx)
}

// proveNoMachines checks that machines and all their objects are gone.
func (d *demo) proveNoMachines(ctx context.Context) error {
	for _, check := range []struct {
		of   string
		left func(context.Context) ([]string, error)
	}{
		{"no Machine, MachineSet, MachineDeployment, MachineClass, and no Secret of theirs is in the seed", d.machinesLeft},
		{"no " + d.entry.machines.what + " is in the cloud", d.serversLeft},
		{"no Node is in the shoot", d.nodesLeft},
	} {
		left, err := check.left(ctx)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return fmt.Errorf("left behind of the machines: %q", left)
		}
		d.done(check.of)
	}
	if err := d.nothingLeftInSeed(ctx, d.machines.parts.Has); err != nil {
		return err
	}
	d.done("the shoot's namespace holds nothing more than before the Worker" + exceptGarbage(len(d.machines.garbage)))
	return d.StopMachines()
}

// machinesLeft names the remaining objects for machines in the seed, and finalizers on the credentials.
func (d *demo) machinesLeft(ctx context.Context) (left []string, err error) {
	ofClasses := client.MatchingLabels{v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass}
	for _, kind := range []struct {
		list client.ObjectList
		of   []client.ListOption
	}{
		{list: &machinev1alpha1.MachineList{}},
		{list: &machinev1alpha1.MachineSetList{}},
		{list: &machinev1alpha1.MachineDeploymentList{}},
		{list: &machinev1alpha1.MachineClassList{}},
		{list: &corev1.SecretList{}, of: []client.ListOption{ofClasses}},
	} {
		if err := d.Source.Client.List(ctx, kind.list, append(kind.of, client.InNamespace(d.shoot.Namespace()))...); err != nil {
			return nil, err
		}
		err := meta.EachListItem(kind.list, func(item runtime.Object) error {
			object, err := meta.Accessor(item)
			if err == nil {
				left = append(left, fmt.Sprintf("%T %s", item, object.GetName()))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	credentials := &corev1.Secret{}
	key := client.ObjectKey{Namespace: d.shoot.Namespace(), Name: v1beta1constants.SecretNameCloudProvider}
	if err := d.Source.Client.Get(ctx, key, credentials); err != nil {
		return nil, err
	}
	for _, finalizer := range credentials.Finalizers {
		left = append(left, "finalizer "+finalizer+" of the credentials")
	}
	return left, nil
}

// serversLeft names the cloud's resources for machines that did not exist before the first one.
func (d *demo) serversLeft(ctx context.Context) (left []string, err error) {
	names, err := d.Account.ResourceNames(ctx)
	for _, name := range names {
		isPart := slices.ContainsFunc(d.entry.machines.prefixes, func(kind string) bool { return strings.HasPrefix(name, kind) })
		if isPart && !slices.Contains(d.machines.inCloud, name) {
			left = append(left, name)
		}
	}
	return left, err
}

func (d *demo) nodesLeft(ctx context.Context) (left []string, err error) {
	found, err := d.listNodes(ctx)
	for _, node := range found {
		left = append(left, node.Name)
	}
	return left, err
}

// tailLines is how much of a process's output is printed after a failure.
const tailLines = 20

// stop stops the processes that run instead of pods, and prints their last output after a failure.
func (d *demo) stop(err error) error {
	if err != nil && d.Source.Machines != nil {
		d.screen.Linef("%s", d.screen.Styled(terminal.Dim, d.Source.Machines.Tails(tailLines)))
	}
	d.stopContainer()
	return errors.Join(err, d.StopMachines())
}
