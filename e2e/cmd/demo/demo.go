package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// demo is one run of the demo.
type demo struct {
	*landscape.Landscape
	cloud   *openstack.Cloud
	account *openstack.Account
	screen  *terminal.Screen
	shoot   *gardenlet.Shoot

	// before is the content of the shoot's namespace before the ControlPlane was created.
	before inventory
	// applied are the objects of the ControlPlane's ManagedResources in the shoot.
	applied []resourcesv1alpha1.ObjectReference
	// machines are those of machines.
	machines machineInventory
	// container is the container that initializes nodes.
	container *workload.Container
	// containerAddress is its address.
	containerAddress string
}

// step is a step of the demo.
type step func(context.Context) error

// run runs all steps and stops everything at the end, even after a failure.
func run(ctx context.Context, screen *terminal.Screen, latency time.Duration, exit bool) (err error) {
	screen.Heading("Trellis: one shoot's Infrastructure, ControlPlane, Network and Worker, live")
	l, err := landscape.Start(ctx, screen, landscape.Options{Cloud: openstack.Fake(latency), Clusters: true, Machines: true, InSteps: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stop()) }()
	on := openstack.In(l.Clusters)
	d := &demo{Landscape: l, cloud: on.Cloud, account: on.Account, screen: screen}
	defer func() { err = d.stopPods(err) }()
	acts := []step{
		d.prepare, d.createInfrastructure, d.reconcileInfrastructure,
		d.complete, d.startCluster, d.createControlPlane, d.reconcileControlPlane,
		d.createNetwork, d.reconcileNetwork,
		d.prepareMachines, d.createWorker, d.reconcileWorker, d.scalePool,
		d.initializeNodes, d.changeShoot, d.waitHealthy,
	}
	if exit {
		acts = append(acts, d.deleteNetworkAndWorker, d.deleteControlPlane, d.stopCluster, d.deleteInfrastructure)
	} else {
		acts = append(acts, d.waitForInterrupt)
	}
	for _, act := range acts {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) prepare(ctx context.Context) error {
	return d.screen.Step("shoot", func(io.Writer) (detail string, err error) {
		d.shoot, err = d.newShoot(ctx)
		return d.shoot.Namespace() + " with Cluster and Secret cloudprovider", err
	})
}

// complete starts what was built while the Infrastructure was shown: all that the other contracts need.
func (d *demo) complete(ctx context.Context) error {
	d.screen.Heading("The controllers of ControlPlane, Network and Worker start")
	if err := d.Complete(ctx); err != nil {
		return err
	}
	return d.screen.Step("shoot", func(io.Writer) (string, error) {
		if err := d.Source.Gardenlet.Prepare(ctx, d.shoot); err != nil {
			return "", err
		}
		return d.addedCredentials(ctx)
	})
}

func (d *demo) waitForInterrupt(ctx context.Context) error {
	d.screen.Heading("Look further")
	d.printCommands()
	select {
	case <-ctx.Done():
		d.screen.Linef("\nStopping.")
		return nil
	case <-d.Infrastructure.Exited():
		return endedByItself(d.Infrastructure)
	case <-d.ControlPlane.Exited():
		return endedByItself(d.ControlPlane)
	case <-d.Network.Exited():
		return endedByItself(d.Network)
	case <-d.Worker.Exited():
		return endedByItself(d.Worker)
	}
}

func endedByItself(c *landscape.Controller) error {
	return fmt.Errorf("the %s has ended by itself; its log was %s", c.Name(), c.Log)
}

func (d *demo) printCommands() {
	of := "kubectl -n " + d.shoot.Namespace()
	for _, part := range []struct {
		title string
		lines []string
	}{
		{"in the seed", []string{
			"export KUBECONFIG=" + d.Source.Kubeconfig,
			"kubectl get infrastructures,controlplanes,networks,workers -A",
			of + " get managedresources,deployments,pods,secrets",
			of + " get machinedeployments,machines,machineclasses",
			of + " delete $(" + of + " get machines -o name | head -n 1)   # another one comes",
			of + " get controlplane " + d.shoot.Name + " -o yaml",
			of + " annotate controlplane " + d.shoot.Name + " gardener.cloud/operation=reconcile",
			of + " delete deployment csi-driver-controller   # it comes back",
			of + " get network " + d.shoot.Name + " -o jsonpath='{.status.providerStatus.effective}'",
		}},
		{"in the shoot", []string{
			"export KUBECONFIG=" + d.Cluster.Kubeconfig,
			"kubectl get nodes,storageclasses,csidrivers",
			"kubectl get ippools && kubectl -n kube-system get daemonsets,deployments,pods",
			"kubectl auth can-i --list --as=system:serviceaccount:kube-system:cloud-controller-manager",
		}},
		{"behind the scenes", []string{
			"curl -s " + d.ControlPlane.MetricsURL + " | grep trellis_",
			"tail -f " + d.Infrastructure.Log + " " + d.ControlPlane.Log + " " + d.Network.Log + " " + d.Worker.Log,
			"tail -f " + strings.Join(d.Source.Machines.Outputs(), " "),
		}},
	} {
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
	d.cloud.ResetLog()
	start := time.Now()
	if err := d.show(ctx, []shownObject{object}, do); err != nil {
		return "", err
	}
	return costOf(d.cloud.Log(), time.Since(start)), nil
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
