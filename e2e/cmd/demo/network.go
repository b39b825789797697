package main

import (
	"context"
	"strings"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// appliedTimeout bounds gardener-resource-manager's work, for which the Network itself does not wait.
const appliedTimeout = time.Minute

func (d *demo) network() shownObject {
	return shownObject{name: "network/" + d.shoot.Name, get: func(ctx context.Context) (extensionsv1alpha1.Object, error) {
		return d.Source.Gardenlet.GetNetwork(ctx, d.shoot)
	}}
}

func (d *demo) createNetwork(ctx context.Context) error {
	d.screen.Heading("gardenlet deploys the Network")
	cost, err := d.measure(ctx, d.network(), d.deployNetwork)
	if err != nil {
		return err
	}
	d.screen.Linef("  %s", cost)
	if err := d.waitApplied(ctx); err != nil {
		return err
	}
	d.screen.Heading("Objects of the Network in the shoot")
	if err := d.showPlugin(ctx); err != nil {
		return err
	}
	d.screen.Heading("The effective configuration in the status of the Network")
	return d.showEffective(ctx)
}

func (d *demo) reconcileNetwork(ctx context.Context) error {
	return d.reconcileAgain(ctx, d.Network.Name(), d.network(), d.deployNetwork)
}

func (d *demo) deployNetwork(ctx context.Context) error {
	component, err := d.Source.Gardenlet.Network(d.shoot)
	if err != nil {
		return err
	}
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	return component.Wait(ctx)
}

// waitApplied waits until the Network's ManagedResource is applied in the shoot.
func (d *demo) waitApplied(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, appliedTimeout)
	defer cancel()
	for {
		resource, err := d.readNetworkResource(ctx)
		if err != nil {
			return err
		}
		for _, condition := range resource.Status.Conditions {
			if condition.Type == resourcesv1alpha1.ResourcesApplied && condition.Status == "True" &&
				resource.Status.ObservedGeneration == resource.Generation {
				return nil
			}
		}
		if err := sleep(ctx, interval); err != nil {
			return err
		}
	}
}

func (d *demo) readNetworkResource(ctx context.Context) (*resourcesv1alpha1.ManagedResource, error) {
	resource := &resourcesv1alpha1.ManagedResource{}
	return resource, d.Source.Client.Get(ctx, client.ObjectKey{Namespace: d.shoot.Namespace(), Name: d.plugin.resource()}, resource)
}

func (d *demo) destroyNetwork(ctx context.Context) error {
	component, err := d.Source.Gardenlet.Network(d.shoot)
	if err != nil {
		return err
	}
	if err := component.Destroy(ctx); err != nil {
		return err
	}
	return component.WaitCleanup(ctx)
}

// proveNoNetwork checks that all objects of the Network are gone.
func (d *demo) proveNoNetwork(ctx context.Context, inSeed inventory, inShoot []resourcesv1alpha1.ObjectReference) error {
	if err := d.nothingLeftInSeed(ctx, inSeed.Has); err != nil {
		return err
	}
	d.done("the shoot's namespace holds nothing of the network")
	garbage, err := d.nothingLeftInShoot(ctx, inShoot)
	if err != nil {
		return err
	}
	d.done("neither does the shoot" + exceptGarbage(garbage))
	return nil
}

// partsOfNetwork lists the Network's ManagedResources and their objects, in the seed and in the shoot.
func (d *demo) partsOfNetwork(ctx context.Context) (inSeed inventory, inShoot []resourcesv1alpha1.ObjectReference, err error) {
	list := &resourcesv1alpha1.ManagedResourceList{}
	if err := d.Source.Client.List(ctx, list, client.InNamespace(d.shoot.Namespace())); err != nil {
		return nil, nil, err
	}
	inSeed = inventory{}
	for _, resource := range list.Items {
		if !strings.HasPrefix(resource.Name, "extension-networking-") {
			continue
		}
		inSeed.Insert("ManagedResource " + resource.Name)
		for _, secret := range resource.Spec.SecretRefs {
			inSeed.Insert("Secret " + secret.Name)
		}
		if resource.Spec.Class == nil {
			inShoot = append(inShoot, resource.Status.Resources...)
			continue
		}
		for _, reference := range resource.Status.Resources {
			inSeed.Insert(reference.Kind + " " + reference.Name)
		}
	}
	return inSeed, inShoot, nil
}
