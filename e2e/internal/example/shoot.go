package example

import (
	"context"
	"fmt"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	networkv1alpha1 "github.com/trellis-garden/trellis/apis/examplenet/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/internal/cloud/example/fake"
)

const (
	// Type is the provider type of the shoots, NetworkType that of their network plugin.
	Type        = "example"
	NetworkType = "example-net"

	region       = "one"
	zone         = "nova" // the zone of gardenlet's cloud profiles
	machineImage = "linux"
	imageVersion = "1.0.0"
	machineType  = "small"
)

// Account is the only account of the fake.
type Account struct{ cloud *Cloud }

var _ cloud.MachineAccount = (*Account)(nil)

// NewShoot implements cloud.Account.
func (a *Account) NewShoot(name string) *gardenlet.Shoot {
	shoot := gardenlet.NewShoot(name, Type, region)
	shoot.NetworkType = NetworkType
	shoot.Credentials = map[string][]byte{"key": []byte(fake.Key)}
	shoot.CloudProfileConfig = &v1alpha1.CloudProfileConfig{TypeMeta: typeMeta("CloudProfileConfig"), URL: a.cloud.URL()}
	shoot.InfrastructureConfig = &v1alpha1.InfrastructureConfig{
		TypeMeta: typeMeta("InfrastructureConfig"), Networks: v1alpha1.Networks{Workers: "10.250.0.0/19"},
	}
	shoot.ControlPlaneConfig = &v1alpha1.ControlPlaneConfig{TypeMeta: typeMeta("ControlPlaneConfig")}
	shoot.NetworkConfig = &networkv1alpha1.NetworkConfig{
		TypeMeta: metav1.TypeMeta{APIVersion: networkv1alpha1.GroupVersion().String(), Kind: "NetworkConfig"},
	}
	return shoot
}

// OfferMachines implements cloud.MachineAccount.
func (a *Account) OfferMachines(shoot *gardenlet.Shoot) {
	shoot.MachineTypes = []gardencorev1beta1.MachineType{gardenlet.NewMachineType(machineType, "1", "2Gi")}
	shoot.MachineImages = []gardencorev1beta1.MachineImage{gardenlet.NewMachineImage(machineImage, imageVersion)}
}

// NewPool returns a pool, defaulted as by Gardener's API server.
func NewPool(name string, machines int32) gardencorev1beta1.Worker {
	return gardenlet.NewPool(name, machines, machines, machineType, machineImage, imageVersion, zone)
}

// MachineControllerEnv implements cloud.MachineAccount: cloud profiles name the cloud.
func (a *Account) MachineControllerEnv() map[string]string { return nil }

// Servers implements cloud.MachineAccount.
func (a *Account) Servers(shoot *gardenlet.Shoot) func(context.Context) ([]nodes.Server, error) {
	owner, version := string(shoot.UID), shoot.KubernetesVersion
	return func(ctx context.Context) ([]nodes.Server, error) {
		resources, err := a.cloud.Resources(ctx, owner)
		if err != nil {
			return nil, err
		}
		var servers []nodes.Server
		for i, each := range resources {
			if each.Kind == fake.Servers {
				servers = append(servers, nodes.Server{
					ID: each.ID, Name: each.Name, Running: true, ProviderID: "example:///" + each.ID, Zone: each.Zone, Region: region, Address: fmt.Sprintf("10.250.0.%d", i+10),
					KubernetesVersion: version,
				})
			}
		}
		return servers, nil
	}
}

// ResourceNames implements cloud.Account.
func (a *Account) ResourceNames(ctx context.Context) ([]string, error) { return a.cloud.Names(ctx, "") }

// Remove implements cloud.Account.
func (a *Account) Remove(ctx context.Context) error {
	left, err := a.cloud.Names(ctx, "")
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("the account is not empty: %s", strings.Join(left, ", "))
	}
	return err
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: kind}
}
