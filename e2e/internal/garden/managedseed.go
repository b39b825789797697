package garden

import (
	"context"
	"encoding/json"
	"fmt"

	gardenletconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/gardenlet/v1alpha1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	seedmanagementv1alpha1 "github.com/gardener/gardener/pkg/apis/seedmanagement/v1alpha1"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"github.com/gardener/gardener/pkg/utils/secrets"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ManagedSeedOptions describe the cluster of the shoot that becomes a seed.
type ManagedSeedOptions struct {
	// URL is its API server's, CABundle its CA certificates, in PEM.
	URL      string
	CABundle []byte
	// ClientCA is the API server's CA for clients, with its key: gardener-apiserver signs kubeconfigs with it.
	ClientCA *secrets.Certificate
	// Labels are the Seed's.
	Labels map[string]string
}

// AddManagedSeed creates a Seed that is a Shoot, and the objects of both that gardenlet would create in the garden, so that gardener-apiserver
// issues kubeconfigs for it. The kinds that both need must have been registered before.
func (g *Garden) AddManagedSeed(ctx context.Context, name string, options ManagedSeedOptions) (*gardencorev1beta1.Seed, error) {
	for _, object := range cloudCredentials(v1beta1constants.GardenNamespace) {
		if err := g.Client.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
			return nil, fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
	}
	shoot, err := g.CreateShoot(ctx, ShootOptions{Name: name, Namespace: v1beta1constants.GardenNamespace, Domain: name + ".example.com", Unassigned: true})
	if err != nil {
		return nil, err
	}
	before := shoot.DeepCopy()
	shoot.Status.AdvertisedAddresses = []gardencorev1beta1.ShootAdvertisedAddress{{Name: v1beta1constants.AdvertisedAddressExternal, URL: options.URL}}
	if err := g.Client.Status().Patch(ctx, shoot, client.MergeFrom(before)); err != nil {
		return nil, fmt.Errorf("advertising the address of Shoot %s: %w", name, err)
	}
	for _, object := range options.authorities(name) {
		if err := g.Client.Create(ctx, object); err != nil {
			return nil, fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
	}
	seedOptions := SeedOptions{Provider: CloudProfile, Labels: options.Labels, Ingress: "ingress." + name + ".example.com"}
	seedOptions.Networks = gardencorev1beta1.SeedNetworks{
		Nodes: shoot.Spec.Networking.Nodes, Pods: *shoot.Spec.Networking.Pods, Services: *shoot.Spec.Networking.Services,
	}
	seed, err := g.AddSeed(ctx, name, seedOptions)
	if err != nil {
		return nil, err
	}
	managed, err := managedSeed(name, seedOptions.seed(name).Spec)
	if err != nil {
		return nil, err
	}
	if err := g.create(ctx, managed); err != nil {
		return nil, fmt.Errorf("creating ManagedSeed %s: %w", name, err)
	}
	return seed, nil
}

// authorities are the CAs that gardener-apiserver issues a kubeconfig from.
func (o ManagedSeedOptions) authorities(name string) []client.Object {
	meta := func(suffix string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: gardenerutils.ComputeShootProjectResourceName(name, suffix), Namespace: v1beta1constants.GardenNamespace,
		}
	}
	return []client.Object{
		&gardencorev1beta1.InternalSecret{
			ObjectMeta: meta(gardenerutils.ShootProjectSecretSuffixCAClient),
			Data: map[string][]byte{
				secrets.DataKeyCertificateCA: o.ClientCA.CertificatePEM, secrets.DataKeyPrivateKeyCA: o.ClientCA.PrivateKeyPEM,
			},
		},
		&corev1.ConfigMap{
			ObjectMeta: meta(gardenerutils.ShootProjectConfigMapSuffixCACluster),
			Data:       map[string]string{secrets.DataKeyCertificateCA: string(o.CABundle)},
		},
	}
}

func managedSeed(name string, spec gardencorev1beta1.SeedSpec) (*seedmanagementv1alpha1.ManagedSeed, error) {
	config, err := json.Marshal(&gardenletconfigv1alpha1.GardenletConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: gardenletconfigv1alpha1.SchemeGroupVersion.String(), Kind: "GardenletConfiguration"},
		SeedConfig: &gardenletconfigv1alpha1.SeedConfig{SeedTemplate: gardencorev1beta1.SeedTemplate{Spec: spec}},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration of gardenlet: %w", err)
	}
	return &seedmanagementv1alpha1.ManagedSeed{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: v1beta1constants.GardenNamespace},
		Spec: seedmanagementv1alpha1.ManagedSeedSpec{
			Shoot:     &seedmanagementv1alpha1.Shoot{Name: name},
			Gardenlet: seedmanagementv1alpha1.GardenletConfig{Config: runtime.RawExtension{Raw: config}},
		},
	}, nil
}
