package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

const (
	// changeTimeout bounds the change of the network, and of the machines.
	changeTimeout = 5 * time.Minute
	// beingChanged is part of network-controller's message during a change.
	beingChanged = "being changed"
)

// changeShoot makes two changes at once: of the encapsulation between pods while there are nodes, and of the machine image of a pool.
//
// Packets may be sent without encapsulation only after the cloud has routes to the pods, which the cloud-controller-manager creates, in the
// ControlPlane's new version. Meanwhile nodes are replaced.
func (d *openStackDemo) changeShoot(ctx context.Context) error {
	image := d.pool(rolled).Machine.Image
	d.screen.Heading(fmt.Sprintf("The user switches the overlay off, and wants pool %s on %s %s, not %s; gardenlet reconciles one after another",
		rolled, image.Name, d.entry.machines.latestImage, *image.Version))
	image.Version = new(d.entry.machines.latestImage)
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	if err := d.requestWithoutOverlay(ctx); err != nil {
		return err
	}
	network, err := d.Source.Gardenlet.GetNetwork(ctx, d.shoot)
	if err != nil {
		return err
	}
	d.screen.Linef("\n  %s\n", network.Status.LastOperation.Description)
	if err := d.showPools(ctx); err != nil {
		return err
	}
	d.screen.Heading(fmt.Sprintf("gardenlet reconciles the Worker: machines of pool %s are replaced. The Network needs no further request", rolled))
	err = d.screen.Step("process", func(io.Writer) (string, error) {
		line, err := d.restartContainer(ctx)
		return line + ", as the changed Deployment describes it", err
	})
	if err != nil {
		return err
	}
	if err := d.rollPool(ctx); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		do   func(context.Context) (string, error)
	}{
		{"routes", d.waitRoutes},
		{"network", d.waitNetworkChanged},
	} {
		if err := d.screen.Step(part.name, func(io.Writer) (string, error) { return part.do(ctx) }); err != nil {
			return err
		}
	}
	return d.showPools(ctx)
}

// requestWithoutOverlay does what gardenlet does when a user has changed a shoot. The infrastructure permits packets of pods, the control
// plane creates routes for them, and the network waits for the routes.
func (d *openStackDemo) requestWithoutOverlay(ctx context.Context) error {
	d.shoot.NetworkConfig = d.plugin.config(map[string]any{"enabled": false, "createPodRoutes": false})
	if err := d.Source.Gardenlet.Prepare(ctx, d.shoot); err != nil {
		return err
	}
	for _, part := range []struct {
		object shownObject
		do     func(context.Context) error
	}{
		{d.infrastructure(), d.deployInfrastructure},
		{d.controlPlane(), d.deployControlPlane},
		{d.network(), d.deployNetwork},
	} {
		if err := d.show(ctx, []shownObject{part.object}, part.do); err != nil {
			return err
		}
	}
	return nil
}

func (d *openStackDemo) showPools(ctx context.Context) error {
	pools, err := d.plugin.ways(ctx, d.Cluster.Client)
	if err != nil {
		return err
	}
	for _, pool := range pools {
		d.screen.Linef("  %s", d.screen.Styled(terminal.Bold, pool))
	}
	return nil
}

// waitRoutes waits until the shoot's router has routes to the pods of all nodes.
func (d *openStackDemo) waitRoutes(ctx context.Context) (string, error) {
	infrastructure, err := d.Source.Gardenlet.Get(ctx, d.shoot)
	if err != nil {
		return "", err
	}
	status, err := openstackv1alpha1.DecodeInfrastructureStatus(infrastructure.Status.ProviderStatus)
	if err != nil {
		return "", err
	}
	found, err := d.listNodes(ctx)
	if err != nil {
		return "", err
	}
	for {
		response, err := d.account.DoAsMember(ctx, http.MethodGet, conformance.Network, "/v2.0/routers/"+status.Networks.Router.ID, nil)
		if err != nil {
			return "", err
		}
		hops := map[string]string{}
		for _, route := range response.Objects("router.routes") {
			hops[route.Text("destination")] = route.Text("nexthop")
		}
		if !slices.ContainsFunc(found, func(node corev1.Node) bool { return hops[node.Spec.PodCIDR] == "" }) {
			first := found[0].Spec.PodCIDR
			return fmt.Sprintf("%s in the shoot's router, e.g. %s via %s", count(len(found), "route"), first, hops[first]), nil
		}
		if err := sleep(ctx, interval); err != nil {
			return "", err
		}
	}
}

// waitNetworkChanged waits until the Network's message reports no change.
func (d *openStackDemo) waitNetworkChanged(ctx context.Context) (string, error) {
	for {
		network, err := d.Source.Gardenlet.GetNetwork(ctx, d.shoot)
		if err != nil {
			return "", err
		}
		if last := network.Status.LastOperation; isChangeDone(last) {
			return last.Description, d.waitApplied(ctx)
		}
		if err := sleep(ctx, interval); err != nil {
			return "", err
		}
	}
}

// isChangeDone reports whether the last reconciliation completed the change.
func isChangeDone(last *gardencorev1beta1.LastOperation) bool {
	return last.State == gardencorev1beta1.LastOperationStateSucceeded && !strings.Contains(last.Description, beingChanged)
}
