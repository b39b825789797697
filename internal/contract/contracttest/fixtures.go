package contracttest

import (
	"encoding/json"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Region is the region of all fixtures.
const Region = "RegionOne"

// Fixture is a shoot in the form in which Gardener passes it to an extension controller.
type Fixture struct {
	// ProviderType is the type of the shoot's provider, of its seed and of its cloud profile.
	ProviderType string
	// TechnicalID is the shoot's name in the cloud. It may differ from the namespace.
	TechnicalID string
	// UID is the shoot's.
	UID types.UID
	// CloudProfileConfig and InfrastructureConfig may be nil.
	CloudProfileConfig, InfrastructureConfig *runtime.RawExtension
	// Credentials are the data of the cloudprovider Secret.
	Credentials map[string][]byte
}

// Shoot returns the shoot: Kubernetes with Calico, IPv4, nodes in 10.250.0.0/16.
func (f Fixture) Shoot() *gardencorev1beta1.Shoot {
	return &gardencorev1beta1.Shoot{
		TypeMeta:   metav1.TypeMeta{APIVersion: gardencorev1beta1.SchemeGroupVersion.String(), Kind: "Shoot"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-test", Name: "one", UID: f.UID},
		Spec: gardencorev1beta1.ShootSpec{
			Region:       Region,
			CloudProfile: &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: f.ProviderType},
			Kubernetes:   gardencorev1beta1.Kubernetes{Version: "1.34.2"},
			Networking: &gardencorev1beta1.Networking{
				Type:       new("calico"),
				Nodes:      new("10.250.0.0/16"),
				Pods:       new("100.96.0.0/11"),
				Services:   new("100.64.0.0/13"),
				IPFamilies: []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4},
			},
			Provider: gardencorev1beta1.Provider{Type: f.ProviderType, InfrastructureConfig: f.InfrastructureConfig},
		},
		Status: gardencorev1beta1.ShootStatus{
			TechnicalID:   f.TechnicalID,
			UID:           f.UID,
			LastOperation: &gardencorev1beta1.LastOperation{Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateProcessing},
		},
	}
}

// CloudProfile returns the shoot's cloud profile.
func (f Fixture) CloudProfile() *gardencorev1beta1.CloudProfile {
	return &gardencorev1beta1.CloudProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: gardencorev1beta1.SchemeGroupVersion.String(), Kind: "CloudProfile"},
		ObjectMeta: metav1.ObjectMeta{Name: f.ProviderType},
		Spec: gardencorev1beta1.CloudProfileSpec{
			Type:           f.ProviderType,
			Regions:        []gardencorev1beta1.Region{{Name: Region, Zones: []gardencorev1beta1.AvailabilityZone{{Name: "nova"}}}},
			ProviderConfig: f.CloudProfileConfig,
		},
	}
}

// Seed returns the seed that runs the shoot's control plane.
func (f Fixture) Seed() *gardencorev1beta1.Seed {
	return &gardencorev1beta1.Seed{
		TypeMeta:   metav1.TypeMeta{APIVersion: gardencorev1beta1.SchemeGroupVersion.String(), Kind: "Seed"},
		ObjectMeta: metav1.ObjectMeta{Name: "seed"},
		Spec: gardencorev1beta1.SeedSpec{
			Provider: gardencorev1beta1.SeedProvider{Type: f.ProviderType, Region: Region, Zones: []string{"nova"}},
			Networks: gardencorev1beta1.SeedNetworks{Pods: "10.0.0.0/16", Services: "10.1.0.0/16", Nodes: new("10.2.0.0/16")},
		},
	}
}

// Cluster returns the Cluster resource of the shoot's namespace.
func (f Fixture) Cluster(namespace string) (*extensionsv1alpha1.Cluster, error) {
	return NewCluster(namespace, f.Shoot(), f.CloudProfile(), f.Seed())
}

// Secret returns the cloudprovider Secret.
func (f Fixture) Secret(namespace string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      v1beta1constants.SecretNameCloudProvider,
			Labels:    map[string]string{v1beta1constants.GardenerPurpose: v1beta1constants.SecretNameCloudProvider},
		},
		Data: f.Credentials,
	}
}

// NewCluster encodes a Cluster resource. The seed may be nil.
func NewCluster(namespace string, shoot *gardencorev1beta1.Shoot, profile *gardencorev1beta1.CloudProfile, seed *gardencorev1beta1.Seed) (*extensionsv1alpha1.Cluster, error) {
	cluster := &extensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	var err error
	if cluster.Spec.Shoot.Raw, err = json.Marshal(shoot); err != nil {
		return nil, fmt.Errorf("encoding shoot for the Cluster: %w", err)
	}
	if cluster.Spec.CloudProfile.Raw, err = json.Marshal(profile); err != nil {
		return nil, fmt.Errorf("encoding cloud profile for the Cluster: %w", err)
	}
	if seed == nil {
		return cluster, nil
	}
	cluster.Spec.Seed = &runtime.RawExtension{}
	if cluster.Spec.Seed.Raw, err = json.Marshal(seed); err != nil {
		return nil, fmt.Errorf("encoding seed for the Cluster: %w", err)
	}
	return cluster, nil
}
