package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Provider is the value of MachineClass.provider for classes of this kind.
const Provider = "OpenStack"

// Prefixes of the two tags that every machine has. The first is followed by the shoot's technical ID, the second by "node". Machines are
// found by them.
const (
	TagClusterPrefix = "kubernetes.io-cluster-"
	TagRolePrefix    = "kubernetes.io-role-"
)

// MachineProviderConfig describes the machines of a MachineClass in OpenStack (MachineClass.providerSpec).
//
// +kubebuilder:object:root=true
type MachineProviderConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Spec describes the machines.
	Spec MachineProviderConfigSpec `json:"spec,omitempty"`
}

// MachineProviderConfigSpec describes machines.
type MachineProviderConfigSpec struct {
	// ImageID is the ID of the image in Glance. It takes precedence over ImageName; one of the two is required.
	ImageID string `json:"imageID"`
	// ImageName is the name of the image in Glance.
	ImageName string `json:"imageName"`
	// Region is the region.
	Region string `json:"region"`
	// AvailabilityZone is Nova's availability zone. Nova creates volumes in the zone of this name if the cloud does not let servers use
	// volumes of other zones, and in Cinder's default zone if it does (option cross_az_attach).
	AvailabilityZone string `json:"availabilityZone"`
	// FlavorName is the name of the flavor.
	FlavorName string `json:"flavorName"`
	// KeyName is the name of the Nova key pair. It is empty if SSH access is disabled.
	KeyName string `json:"keyName"`
	// SecurityGroups are the names of the security groups.
	SecurityGroups []string `json:"securityGroups"`
	// Tags become the Nova metadata of machines. The two tags described above are among them.
	Tags map[string]string `json:"tags,omitempty"`
	// NetworkID is the ID of the network. It and Networks exclude each other; one of the two is required.
	NetworkID string `json:"networkID"`
	// Networks are several networks; the machine's interfaces are in this order.
	Networks []Network `json:"networks,omitempty"`
	// SubnetID is the only subnet in older classes.
	//
	// Deprecated: SubnetIDs.
	// +optional
	SubnetID *string `json:"subnetID,omitempty"`
	// SubnetIDs are the subnets in which the machine's first interface has an address each.
	SubnetIDs []string `json:"subnetIDs,omitempty"`
	// PodNetworkCidr is the only range of pods in older classes.
	//
	// Deprecated: PodNetworkCIDRs.
	PodNetworkCidr string `json:"podNetworkCidr,omitempty"`
	// PodNetworkCIDRs are the ranges of pods: interfaces for pods may send from these addresses.
	PodNetworkCIDRs []string `json:"podNetworkCIDRs,omitempty"`
	// RootDiskSize is the size of a boot volume in GB. 0 means that the machine boots from the flavor's own disk.
	RootDiskSize int `json:"rootDiskSize,omitempty"`
	// RootDiskType is the volume type of the boot volume.
	//
	// Default: the cloud's default.
	// +optional
	RootDiskType *string `json:"rootDiskType,omitempty"`
	// UseConfigDrive gives the machine its metadata on a disk.
	//
	// Default: the cloud's default.
	// +optional
	UseConfigDrive *bool `json:"useConfigDrive,omitempty"`
	// ServerGroupID is the ID of the server group that machines belong to.
	// +optional
	ServerGroupID *string `json:"serverGroupID,omitempty"`
	// DataVolumes are further volumes that exist as long as the machine. Trellis extension.
	// +optional
	DataVolumes []DataVolume `json:"dataVolumes,omitempty"`
}

// Network is a network that machines are attached to, by its ID or its name.
type Network struct {
	// ID is the network's ID. It takes precedence over Name; one of the two is required.
	ID string `json:"id,omitempty"`
	// Name is the network's name.
	Name string `json:"name,omitempty"`
	// PodNetwork is true where pods use the interface.
	PodNetwork bool `json:"podNetwork,omitempty"`
}

// DataVolume is a Cinder volume that is created for a machine and deleted with it. Trellis extension.
type DataVolume struct {
	// Name is unique among the volumes of a machine.
	Name string `json:"name"`
	// Size is the volume's size in GB.
	Size int `json:"size"`
	// Type is the volume type.
	//
	// Default: the cloud's default.
	// +optional
	Type *string `json:"type,omitempty"`
}
