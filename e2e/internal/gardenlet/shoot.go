package gardenlet

import (
	"cmp"
	"encoding/json"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Shoot has the inputs of a shoot's extension objects, from user, admin and Gardener.
type Shoot struct {
	// Name and Project identify the shoot.
	Name, Project string
	// UID is set by the garden.
	UID types.UID
	// ProviderType and Region are the shoot's, and Zones those of the region; default nova.
	ProviderType, Region string
	Zones                []string
	// SeedType is the provider type of the seed; default ProviderType.
	SeedType string
	// InfrastructureConfig and ControlPlaneConfig are the user's, CloudProfileConfig is the admin's, all encoded as JSON.
	InfrastructureConfig, ControlPlaneConfig, CloudProfileConfig any
	// KubernetesVersion is the shoot's, and NetworkConfig the user's configuration of the network plugin, encoded as JSON.
	KubernetesVersion string
	NetworkConfig     any
	// NetworkType is the type of the network plugin; default calico.
	NetworkType string
	// Networking is the part of the shoot's status with the ranges, where the cloud chose them or a family was added.
	Networking gardencorev1beta1.NetworkingStatus
	// Constraints are the constraints of the shoot's status.
	Constraints []gardencorev1beta1.Condition
	// KubeProxy is the user's configuration. If it is nil, Gardener's default is iptables.
	KubeProxy *gardencorev1beta1.KubeProxyConfig
	// Resources are objects that the user's configurations refer to.
	Resources []gardencorev1beta1.NamedResourceReference
	// CARotation is the state of the rotation of the shoot's CAs; nil if there was none.
	CARotation *gardencorev1beta1.CARotation
	// Workers are the shoot's pools; default one.
	Workers []gardencorev1beta1.Worker
	// MachineTypes and MachineImages are the cloud profile's.
	MachineTypes  []gardencorev1beta1.MachineType
	MachineImages []gardencorev1beta1.MachineImage
	// InfrastructureStatus is the provider status of the Infrastructure, encoded as JSON.
	InfrastructureStatus any
	// Hibernated is the spec's field, IsHibernated the status'.
	Hibernated, IsHibernated bool
	// Credentials is the data of the Secret cloudprovider.
	Credentials map[string][]byte
	// IPFamilies are the families of the shoot's networks.
	IPFamilies []gardencorev1beta1.IPFamily
	// SSHPublicKey is the nodes'; empty if the shoot disables SSH access.
	SSHPublicKey []byte
	// LastOperationType and LastOperationState are the shoot's.
	LastOperationType  gardencorev1beta1.LastOperationType
	LastOperationState gardencorev1beta1.LastOperationState
	// Requests is how often somebody has requested a reconciliation by the operation annotation of the shoot: Gardener's API server increments the
	// generation for each.
	Requests int64
	// Annotations are the shoot's.
	Annotations map[string]string
}

// NewShoot returns a new shoot of the project dev, with the networks of Gardener's documentation.
func NewShoot(name, providerType, region string) *Shoot {
	return &Shoot{
		Name: name, Project: "dev", UID: uuid.NewUUID(), ProviderType: providerType, Region: region,
		LastOperationType:  gardencorev1beta1.LastOperationTypeCreate,
		LastOperationState: gardencorev1beta1.LastOperationStateProcessing,
		KubernetesVersion:  "1.36.3",
		IPFamilies:         []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4},
		SSHPublicKey: []byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Vj7iS3TTy0o6R2nmFhyMbjPcKgpuwXIzqXTqE2vGq " +
			name + "@example.org\n"),
	}
}

// Namespace is the shoot's namespace in the seed, and its technical ID.
func (s *Shoot) Namespace() string { return fmt.Sprintf("shoot--%s--%s", s.Project, s.Name) }

func (s *Shoot) shoot() *gardencorev1beta1.Shoot {
	return &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{
			Name: s.Name, Namespace: "garden-" + s.Project, UID: s.UID, Generation: 1 + s.Requests, Annotations: s.Annotations,
		},
		Spec: gardencorev1beta1.ShootSpec{
			CloudProfile: &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: s.ProviderType},
			Region:       s.Region,
			Kubernetes:   gardencorev1beta1.Kubernetes{Version: s.KubernetesVersion, KubeProxy: s.kubeProxy()},
			Hibernation:  &gardencorev1beta1.Hibernation{Enabled: &s.Hibernated},
			Networking: &gardencorev1beta1.Networking{
				Type: new(cmp.Or(s.NetworkType, "calico")), Nodes: new("10.250.0.0/16"), Pods: new("100.96.0.0/11"), Services: new("100.64.0.0/13"),
				IPFamilies: s.IPFamilies, ProviderConfig: raw(s.NetworkConfig),
			},
			Resources: s.Resources,
			Provider: gardencorev1beta1.Provider{
				Type: s.ProviderType, InfrastructureConfig: raw(s.InfrastructureConfig), ControlPlaneConfig: raw(s.ControlPlaneConfig),
				Workers: s.workers(),
			},
		},
		Status: gardencorev1beta1.ShootStatus{
			TechnicalID: s.Namespace(), UID: s.UID, IsHibernated: s.IsHibernated, Networking: &s.Networking, Constraints: s.Constraints,
			AdvertisedAddresses: []gardencorev1beta1.ShootAdvertisedAddress{
				{Name: v1beta1constants.AdvertisedAddressExternal, URL: fmt.Sprintf("https://api.%s.%s.example.org", s.Name, s.Project)},
			},
			LastOperation: &gardencorev1beta1.LastOperation{
				Type: s.LastOperationType, State: s.LastOperationState,
			},
			Credentials: &gardencorev1beta1.ShootCredentials{
				Rotation: &gardencorev1beta1.ShootCredentialsRotation{CertificateAuthorities: s.CARotation},
			},
		},
	}
}

func (s *Shoot) workers() []gardencorev1beta1.Worker {
	if s.Workers == nil {
		return []gardencorev1beta1.Worker{{Name: "pool", Minimum: 1, Maximum: 3, Zones: s.zones()}}
	}
	return s.Workers
}

// kubeProxy sets the defaults of Gardener's API server.
func (s *Shoot) kubeProxy() *gardencorev1beta1.KubeProxyConfig {
	config := &gardencorev1beta1.KubeProxyConfig{}
	if s.KubeProxy != nil {
		config = s.KubeProxy.DeepCopy()
	}
	if config.Enabled == nil {
		config.Enabled = new(true)
	}
	if config.Mode == nil {
		config.Mode = new(gardencorev1beta1.ProxyModeIPTables)
	}
	return config
}

func (s *Shoot) zones() []string {
	if s.Zones == nil {
		return []string{"nova"}
	}
	return s.Zones
}

func (s *Shoot) cloudProfile() *gardencorev1beta1.CloudProfile {
	var zones []gardencorev1beta1.AvailabilityZone
	for _, name := range s.zones() {
		zones = append(zones, gardencorev1beta1.AvailabilityZone{Name: name})
	}
	return &gardencorev1beta1.CloudProfile{
		ObjectMeta: metav1.ObjectMeta{Name: s.ProviderType},
		Spec: gardencorev1beta1.CloudProfileSpec{
			Type:           s.ProviderType,
			Regions:        []gardencorev1beta1.Region{{Name: s.Region, Zones: zones}},
			MachineTypes:   s.MachineTypes,
			MachineImages:  s.MachineImages,
			ProviderConfig: raw(s.CloudProfileConfig),
		},
	}
}

func (s *Shoot) seedType() string { return cmp.Or(s.SeedType, s.ProviderType) }

func (s *Shoot) seed() *gardencorev1beta1.Seed {
	return &gardencorev1beta1.Seed{
		ObjectMeta: metav1.ObjectMeta{Name: "seed"},
		Spec: gardencorev1beta1.SeedSpec{
			Provider: gardencorev1beta1.SeedProvider{Type: s.seedType(), Region: s.Region, Zones: s.zones()},
			Networks: gardencorev1beta1.SeedNetworks{Nodes: new("10.240.0.0/16"), Pods: "10.241.128.0/17", Services: "10.241.0.0/17"},
		},
	}
}

// raw encodes a provider's configuration. It panics on an error, since tests only have values that can be encoded.
func raw(config any) *runtime.RawExtension {
	if config == nil {
		return nil
	}
	encoded, err := json.Marshal(config)
	if err != nil {
		panic(fmt.Sprintf("encoding %T: %v", config, err))
	}
	return &runtime.RawExtension{Raw: encoded}
}
