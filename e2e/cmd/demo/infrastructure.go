package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// newShoot creates a shoot's objects in the seed, as gardenlet does first.
func (d *demo) newShoot(ctx context.Context) (*gardenlet.Shoot, error) {
	shoot := d.account.NewShoot("demo")
	config := &openstackv1alpha1.ControlPlaneConfig{LoadBalancerProvider: "amphora"}
	config.APIVersion, config.Kind = openstackv1alpha1.GroupVersion().String(), "ControlPlaneConfig"
	shoot.ControlPlaneConfig = config
	d.account.OfferMachines(shoot)
	var err error
	if shoot.Workers, err = newPools(); err != nil {
		return nil, err
	}
	return shoot, d.Source.Gardenlet.Prepare(ctx, shoot)
}

// addedCredentials describes what gardenlet did not write into the Secret cloudprovider: controlplane-controller's webhook adds the cloud's
// addresses from the cloud profile.
func (d *demo) addedCredentials(ctx context.Context) (string, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: d.shoot.Namespace(), Name: v1beta1constants.SecretNameCloudProvider}
	if err := d.Source.Client.Get(ctx, key, secret); err != nil {
		return "", err
	}
	var added []string
	for name := range secret.Data {
		if d.shoot.Credentials[name] == nil {
			added = append(added, name)
		}
	}
	if len(added) == 0 {
		return "", errors.New("no webhook has completed the Secret cloudprovider")
	}
	slices.Sort(added)
	return "Secret cloudprovider, to which a webhook has added " + strings.Join(added, ", "), nil
}

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
	d.screen.Heading("Resources in the cloud")
	for _, line := range openstack.Draw(d.cloud.Fake.State("")) {
		d.screen.Linef("  %s", line)
	}
	return nil
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
	left, err := d.account.Resources(ctx)
	if err != nil {
		return err
	}
	for _, resource := range left {
		err = errors.Join(err, fmt.Errorf("left behind in the cloud: %s %s (%s)", resource.Kind, resource.Name, resource.ID))
	}
	if err != nil {
		return err
	}
	d.done("the cloud is empty again")
	return nil
}
