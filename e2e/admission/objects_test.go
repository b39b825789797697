package admission

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

const (
	// profile is the CloudProfile of most shoots, azureProfile belongs to another provider.
	profile, azureProfile = "cloud", "azure"
	// olderVersion and olderImage are replaced by maintenance. Shoots of lastWithSecretBindings are the last that may have a SecretBinding.
	olderVersion, olderImage = "1.36.2", "1877.2.0"
	newerImage               = "1877.3.0"
	lastWithSecretBindings   = "1.33.5"
	// aUUID and anotherUUID are IDs in OpenStack's format.
	aUUID, anotherUUID = "12345678-abcd-4321-9876-0123456789ab", "00000000-abcd-4321-9876-0123456789ab"

	openstackGroup = "openstack.provider.extensions.gardener.cloud/v1alpha1"
	calicoGroup    = "calico.networking.extensions.gardener.cloud/v1alpha1"
)

// newShoot is a valid shoot with the required fields only.
func newShoot(name string) *gardencorev1beta1.Shoot {
	return &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: garden.Namespace},
		Spec: gardencorev1beta1.ShootSpec{
			CloudProfile:           &gardencorev1beta1.CloudProfileReference{Kind: v1beta1constants.CloudProfileReferenceKindCloudProfile, Name: profile},
			CredentialsBindingName: new("robot"),
			Region:                 "RegionOne",
			Kubernetes:             gardencorev1beta1.Kubernetes{Version: olderVersion},
			Networking: &gardencorev1beta1.Networking{
				Type: new("calico"), Nodes: new("10.250.0.0/16"), Pods: new("100.96.0.0/11"), Services: new("100.64.0.0/13"),
			},
			Provider: gardencorev1beta1.Provider{
				Type: "openstack",
				InfrastructureConfig: document(openstackGroup, "InfrastructureConfig",
					`{floatingPoolName: public, networks: {workers: 10.250.0.0/17}}`),
				ControlPlaneConfig: document(openstackGroup, "ControlPlaneConfig", `{loadBalancerProvider: amphora}`),
				Workers:            []gardencorev1beta1.Worker{newPool("one")},
			},
		},
	}
}

func newPool(name string) gardencorev1beta1.Worker {
	return gardencorev1beta1.Worker{
		Name: name, Minimum: 1, Maximum: 2, Zones: []string{"nova"},
		Machine: gardencorev1beta1.Machine{
			Type: "m1.small", Architecture: new(v1beta1constants.ArchitectureAMD64),
			Image: &gardencorev1beta1.ShootMachineImage{Name: garden.MachineImage, Version: new(olderImage)},
		},
		CRI:    &gardencorev1beta1.CRI{Name: gardencorev1beta1.CRINameContainerD},
		Volume: &gardencorev1beta1.Volume{Type: new("default"), VolumeSize: "20Gi"},
	}
}

const cloudProfileConfig = `{
  constraints: {
    floatingPools: [
      {name: public},
      {name: dmz-*},
      {name: sorted, loadBalancerClasses: [{name: inside, purpose: private, subnetID: ` + aUUID + `}]},
      {name: partners, domain: partners},
      {name: far, region: RegionTwo},
    ],
    loadBalancerProviders: [{name: amphora}, {name: ovn, region: RegionTwo}],
  },
  keystoneURL: https://keystone.example.org/v3,
  serverGroupPolicies: [affinity, soft-anti-affinity],
  machineImages: [{name: gardenlinux, versions: [{version: ` + newerImage + `, image: gl-3}, {version: ` + olderImage + `, image: gl-2}]}],
}`

func newCloudProfile(name string) *gardencorev1beta1.CloudProfile {
	image := func(version string) gardencorev1beta1.MachineImageVersion {
		return gardencorev1beta1.MachineImageVersion{
			ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: version},
			CRI:              []gardencorev1beta1.CRI{{Name: gardencorev1beta1.CRINameContainerD}},
			Architectures:    []string{v1beta1constants.ArchitectureAMD64},
			InPlaceUpdates:   &gardencorev1beta1.InPlaceUpdates{Supported: true, MinVersionForUpdate: new(olderImage)},
		}
	}
	return &gardencorev1beta1.CloudProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: gardencorev1beta1.CloudProfileSpec{
			Type: "openstack",
			Kubernetes: gardencorev1beta1.KubernetesSettings{
				Versions: []gardencorev1beta1.ExpirableVersion{
					{Version: garden.KubernetesVersion}, {Version: olderVersion}, {Version: lastWithSecretBindings},
				},
			},
			MachineImages: []gardencorev1beta1.MachineImage{{
				Name: garden.MachineImage, Versions: []gardencorev1beta1.MachineImageVersion{image(newerImage), image(olderImage)},
			}},
			MachineTypes: []gardencorev1beta1.MachineType{{
				Name: "m1.small", CPU: resource.MustParse("2"), GPU: resource.MustParse("0"), Memory: resource.MustParse("4Gi"),
				Architecture: new(v1beta1constants.ArchitectureAMD64), Usable: new(true),
			}},
			VolumeTypes: []gardencorev1beta1.VolumeType{{Name: "default", Class: "standard", Usable: new(true)}},
			Regions: []gardencorev1beta1.Region{
				{Name: "RegionOne", Zones: []gardencorev1beta1.AvailabilityZone{{Name: "nova"}, {Name: "vega"}}},
				{Name: "RegionTwo", Zones: []gardencorev1beta1.AvailabilityZone{{Name: "nova"}}},
			},
			ProviderConfig: document(openstackGroup, "CloudProfileConfig", cloudProfileConfig),
		},
	}
}

func newNamespacedCloudProfile(name string) *gardencorev1beta1.NamespacedCloudProfile {
	return &gardencorev1beta1.NamespacedCloudProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: garden.Namespace},
		Spec: gardencorev1beta1.NamespacedCloudProfileSpec{
			Parent: gardencorev1beta1.CloudProfileReference{Kind: v1beta1constants.CloudProfileReferenceKindCloudProfile, Name: profile},
		},
	}
}

// labelled are the labels with which Gardener marks credentials of a provider type.
func labelled(providerType string) map[string]string {
	return map[string]string{v1beta1constants.LabelShootProviderPrefix + providerType: "true"}
}

func newSecret(name string, data map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: garden.Namespace}, StringData: data}
}

// password is the content of a Secret with a user of a domain.
func password(domain string) map[string]string {
	return map[string]string{"domainName": domain, "tenantName": "project", "username": "robot", "password": "secret"}
}

func newCredentialsBinding(name, apiVersion, kind, credentials string) *securityv1alpha1.CredentialsBinding {
	return &securityv1alpha1.CredentialsBinding{
		ObjectMeta:     metav1.ObjectMeta{Name: name, Namespace: garden.Namespace},
		Provider:       securityv1alpha1.CredentialsBindingProvider{Type: "openstack"},
		CredentialsRef: corev1.ObjectReference{APIVersion: apiVersion, Kind: kind, Name: credentials, Namespace: garden.Namespace},
	}
}

func newSecretBinding(name, secret string) *gardencorev1beta1.SecretBinding {
	return &gardencorev1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: garden.Namespace},
		Provider:   &gardencorev1beta1.SecretBindingProvider{Type: "openstack"},
		SecretRef:  corev1.SecretReference{Name: secret, Namespace: garden.Namespace},
	}
}

// baseObjects are the objects in the garden for all cases.
func baseObjects() []client.Object {
	azure := newCloudProfile(azureProfile)
	azure.Spec.Type, azure.Spec.ProviderConfig = "azure", &runtime.RawExtension{Raw: []byte(`{"apiVersion":"azure.example.org/v1","kind":"CloudProfileConfig"}`)}
	elsewhere := newCredentialsBinding("azure", "v1", "Secret", "azure")
	elsewhere.Provider.Type = "azure"
	return []client.Object{
		newCloudProfile(profile), azure,
		newSecret("azure", map[string]string{"clientID": "robot"}), elsewhere,
		newSecret("robot", password("default")), newCredentialsBinding("robot", "v1", "Secret", "robot"),
		newSecret("partner", password("partners")), newCredentialsBinding("partner", "v1", "Secret", "partner"),
		newSecretBinding("robot", "robot"),
		newSecret("manila", password("default")),
	}
}
