package main

import (
	"context"
	"errors"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
)

func (d *demo) infrastructure() shownObject {
	return shownObject{name: "infrastructure/" + d.shoot.Name, get: func(ctx context.Context) (extensionsv1alpha1.Object, error) {
		return d.Source.Gardenlet.Get(ctx, d.shoot)
	}}
}

func (d *demo) createInfrastructure(ctx context.Context) error {
	d.screen.Heading("gardenlet deploys the Infrastructure")
	cost, err := d.measure(ctx, d.infrastructure(), d.deployInfrastructure)
	if err != nil {
		return err
	}
	d.screen.Linef("  %s", cost)
	return d.showResources("Resources in the cloud")
}

// showResources draws the resources in the cloud.
func (d *demo) showResources(heading string) error {
	d.screen.Heading(heading)
	lines, err := d.in.draw()
	for _, line := range lines {
		d.screen.Linef("  %s", line)
	}
	return err
}

func (d *demo) reconcileInfrastructure(ctx context.Context) error {
	return d.reconcileAgain(ctx, d.Infrastructure.Name(), d.infrastructure(), d.deployInfrastructure)
}

func (d *demo) deployInfrastructure(ctx context.Context) error {
	component := d.Source.Gardenlet.Infrastructure(d.shoot)
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	return component.Wait(ctx)
}

func (d *demo) deleteInfrastructure(ctx context.Context) error {
	d.screen.Heading("gardenlet deletes the Infrastructure")
	cost, err := d.measure(ctx, d.infrastructure(), func(ctx context.Context) error {
		component := d.Source.Gardenlet.Infrastructure(d.shoot)
		if err := component.Destroy(ctx); err != nil {
			return err
		}
		return component.WaitCleanup(ctx)
	})
	if err != nil {
		return err
	}
	d.screen.Linef("  %s", cost)
	left, err := d.Account.ResourceNames(ctx)
	if err != nil {
		return err
	}
	for _, name := range left {
		err = errors.Join(err, fmt.Errorf("left behind in the cloud: %s", name))
	}
	if err != nil {
		return err
	}
	d.done("the cloud is empty again")
	return nil
}
