package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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

// addedCredentials describes what gardenlet did not write into the Secret cloudprovider: controlplane-controller's webhook adds what
// programs need besides: the addresses of the cloud, or the credentials in another format.
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
