package garden

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ShootOptions describe the needs of a shoot.
type ShootOptions struct {
	Name string
	// Namespace is its project's; default Namespace.
	Namespace string
	// Seed is the name of the shoot's Seed. Unassigned is for a shoot that waits for a seed.
	Seed       string
	Unassigned bool
	// Domain is the shoot's; empty for none.
	Domain string
	// Networking is the type of its Network; default "calico".
	Networking string
	// Workerless is for a shoot without nodes: it needs no kinds of a cloud.
	Workerless bool
	// Extensions are the enabled types of the kind Extension.
	Extensions []string
}

// CreateShoot creates a Shoot of type openstack that is bound to its seed from the beginning. It is never reconciled, but determines what a seed
// needs. The kinds that it needs must have been registered before.
func (g *Garden) CreateShoot(ctx context.Context, options ShootOptions) (*gardencorev1beta1.Shoot, error) {
	shoot := options.shoot()
	if err := g.create(ctx, shoot); err != nil {
		return nil, fmt.Errorf("creating Shoot %s: %w", options.Name, err)
	}
	return shoot, nil
}

// DeleteShoot deletes a Shoot with its finalizers.
func (g *Garden) DeleteShoot(ctx context.Context, name string) error {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: Namespace}}
	confirm := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"true"}}}`, v1beta1constants.ConfirmationDeletion)
	if err := g.Client.Patch(ctx, shoot, client.RawPatch("application/merge-patch+json", confirm)); err != nil {
		return fmt.Errorf("confirming that Shoot %s is to be deleted: %w", name, err)
	}
	if err := g.Client.Delete(ctx, shoot); err != nil {
		return fmt.Errorf("deleting Shoot %s: %w", name, err)
	}
	// gardener-apiserver adds a finalizer that gardenlet would remove.
	err := g.Client.Patch(ctx, shoot, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("releasing Shoot %s: %w", name, err)
	}
	return nil
}

func (o ShootOptions) shoot() *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Name: o.Name, Namespace: orElse(o.Namespace, Namespace)},
		Spec: gardencorev1beta1.ShootSpec{
			CloudProfile: &gardencorev1beta1.CloudProfileReference{Kind: v1beta1constants.CloudProfileReferenceKindCloudProfile, Name: CloudProfile},
			Region:       region,
			SeedName:     new(o.Seed),
			Kubernetes:   gardencorev1beta1.Kubernetes{Version: KubernetesVersion},
			Networking:   &gardencorev1beta1.Networking{Services: new("100.64.0.0/13")},
			Provider:     gardencorev1beta1.Provider{Type: CloudProfile},
		},
	}
	if o.Unassigned {
		shoot.Spec.SeedName = nil
	}
	if o.Domain != "" {
		shoot.Spec.DNS = &gardencorev1beta1.DNS{Domain: new(o.Domain)}
	}
	for _, extension := range o.Extensions {
		shoot.Spec.Extensions = append(shoot.Spec.Extensions, gardencorev1beta1.Extension{Type: extension})
	}
	if !o.Workerless {
		o.addWorkers(&shoot.Spec)
	}
	return shoot
}

func (o ShootOptions) addWorkers(spec *gardencorev1beta1.ShootSpec) {
	const group = `"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1"`
	spec.CredentialsBindingName = new(credentials)
	spec.Networking.Type = new(orElse(o.Networking, "calico"))
	spec.Networking.Nodes, spec.Networking.Pods = new("10.250.0.0/16"), new("100.96.0.0/11")
	spec.Provider.InfrastructureConfig = &runtime.RawExtension{
		Raw: []byte(`{` + group + `,"kind":"InfrastructureConfig","networks":{"workers":"10.250.0.0/16"}}`),
	}
	spec.Provider.ControlPlaneConfig = &runtime.RawExtension{Raw: []byte(`{` + group + `,"kind":"ControlPlaneConfig"}`)}
	spec.Provider.Workers = []gardencorev1beta1.Worker{{
		Name: "worker", Minimum: 1, Maximum: 2, Zones: []string{zone},
		Machine: gardencorev1beta1.Machine{
			Type: machineType, Architecture: new(v1beta1constants.ArchitectureAMD64),
			Image: &gardencorev1beta1.ShootMachineImage{Name: MachineImage, Version: new(machineImageVersion)},
		},
		CRI:    &gardencorev1beta1.CRI{Name: gardencorev1beta1.CRINameContainerD},
		Volume: &gardencorev1beta1.Volume{Type: new(volumeType), VolumeSize: "20Gi"},
	}}
}
