// Package openstack connects shoots with an OpenStack, the fake or a real one: its proxy logs all requests, each test gets an account of its own,
// it writes the configuration that users and admins would write for that cloud, and draws the resources. It must not depend on a controller.
package openstack

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
)

// Type is the provider type of the shoots.
const Type = "openstack"

// NewShoot returns a shoot for which all resources are created: network, subnet, router, security group, key pair.
func (a *Account) NewShoot(name string) *gardenlet.Shoot {
	shoot := gardenlet.NewShoot(name, Type, a.Cloud.Region())
	shoot.Credentials = a.Credentials()
	shoot.InfrastructureConfig = InfrastructureConfig(a.Cloud)
	shoot.ControlPlaneConfig = ControlPlaneConfig()
	shoot.CloudProfileConfig = cloudProfileConfig(a.Cloud)
	return shoot
}

func cloudProfileConfig(cloud *Cloud) *openstackv1alpha1.CloudProfileConfig {
	return &openstackv1alpha1.CloudProfileConfig{
		TypeMeta:    typeMeta("CloudProfileConfig"),
		KeyStoneURL: cloud.AuthURL(),
		Constraints: openstackv1alpha1.Constraints{
			FloatingPools:         []openstackv1alpha1.FloatingPool{{Name: "*"}},
			LoadBalancerProviders: []openstackv1alpha1.LoadBalancerProvider{{Name: "amphora"}},
		},
		DNSServers:    []string{"1.1.1.1", "9.9.9.9"},
		MachineImages: []openstackv1alpha1.MachineImages{},
	}
}

// InfrastructureConfig is the configuration of a shoot without existing resources.
func InfrastructureConfig(cloud *Cloud) *openstackv1alpha1.InfrastructureConfig {
	return &openstackv1alpha1.InfrastructureConfig{
		TypeMeta:         typeMeta("InfrastructureConfig"),
		FloatingPoolName: cloud.ExternalNetwork(),
		Networks:         openstackv1alpha1.Networks{Workers: "10.250.0.0/19"},
	}
}

// ControlPlaneConfig is the configuration of a shoot with the cloud profile's defaults.
func ControlPlaneConfig() *openstackv1alpha1.ControlPlaneConfig {
	return &openstackv1alpha1.ControlPlaneConfig{TypeMeta: typeMeta("ControlPlaneConfig"), LoadBalancerProvider: "amphora"}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: kind}
}
