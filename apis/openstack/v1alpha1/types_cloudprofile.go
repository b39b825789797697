package v1alpha1

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CloudProfileConfig is a landscape admin's description of one OpenStack cloud (CloudProfile.spec.providerConfig).
//
// +kubebuilder:object:root=true
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Constraints limit what users may choose.
	Constraints Constraints `json:"constraints"`
	// DNSServers are the addresses of the DNS servers of created node subnets.
	// +optional
	DNSServers []string `json:"dnsServers,omitempty"`
	// DHCPDomain has no effect.
	// +optional
	DHCPDomain *string `json:"dhcpDomain,omitempty"`
	// KeyStoneURL is the URL of Keystone for regions that keystoneURLs does not list. Every region needs one of the two. The
	// authURL in a Secret with credentials is ignored.
	// +optional
	KeyStoneURL string `json:"keystoneURL,omitempty"`
	// KeyStoneCACert is the CA bundle (PEM) for regions whose entry in keystoneURLs has none. It takes precedence over the
	// caCert in a Secret with credentials, as the caCert of an entry does.
	// +optional
	KeyStoneCACert *string `json:"keystoneCACert,omitempty"`
	// KeyStoneForceInsecure turns the verification of certificates off. A Secret with credentials cannot do that: its key
	// insecure is ignored.
	//
	// Default: false.
	// +optional
	KeyStoneForceInsecure bool `json:"keystoneForceInsecure,omitempty"`
	// KeyStoneURLs are the URLs of Keystone by region.
	// +optional
	KeyStoneURLs []KeyStoneURL `json:"keystoneURLs,omitempty"`
	// MachineImages map the CloudProfile's machine images to images in Glance.
	MachineImages []MachineImages `json:"machineImages"`
	// RequestTimeout bounds every call to OpenStack.
	// +optional
	RequestTimeout *metav1.Duration `json:"requestTimeout,omitempty"`
	// RescanBlockStorageOnResize makes nodes rescan a block device before its file system is resized. Some hypervisors
	// need that.
	// +optional
	RescanBlockStorageOnResize *bool `json:"rescanBlockStorageOnResize,omitempty"`
	// IgnoreVolumeAZ makes the scheduler ignore the availability zone of volumes, for clouds whose volume zones have other
	// names than their compute zones.
	// +optional
	IgnoreVolumeAZ *bool `json:"ignoreVolumeAZ,omitempty"`
	// NodeVolumeAttachLimit is how many volumes can be attached to a node.
	// +optional
	NodeVolumeAttachLimit *int32 `json:"nodeVolumeAttachLimit,omitempty"`
	// UseSNAT switches source NAT of created routers on or off. Many clouds let only admins change their default.
	//
	// Default: the cloud's default.
	// +optional
	UseSNAT *bool `json:"useSNAT,omitempty"`
	// ServerGroupPolicies are the server group policies that users may choose.
	// +optional
	ServerGroupPolicies []string `json:"serverGroupPolicies,omitempty"`
	// ResolvConfOptions are appended as options to /etc/resolv.conf of the nodes.
	// +optional
	ResolvConfOptions []string `json:"resolvConfOptions,omitempty"`
	// StorageClasses replace the two built-in storage classes of shoots.
	// +optional
	StorageClasses []StorageClassDefinition `json:"storageClasses,omitempty"`
}

// Constraints limit what users may choose.
type Constraints struct {
	// FloatingPools are the external networks that users may choose. At least one.
	FloatingPools []FloatingPool `json:"floatingPools"`
	// LoadBalancerProviders are the Octavia providers that users may choose. At least one.
	LoadBalancerProviders []LoadBalancerProvider `json:"loadBalancerProviders"`
}

// FloatingPool allows an external network.
type FloatingPool struct {
	// Name is what users give as floatingPoolName: the network's name, or its ID. A `*` matches any characters.
	Name string `json:"name"`
	// Region restricts the entry to a region. If a region has entries of its own, entries without a region do not apply to
	// it.
	// +optional
	Region *string `json:"region,omitempty"`
	// Domain restricts the entry to a Keystone domain, in the same way.
	// +optional
	Domain *string `json:"domain,omitempty"`
	// DefaultFloatingSubnet applies if the user sets no floatingPoolSubnetName. It has the same patterns.
	// +optional
	DefaultFloatingSubnet *string `json:"defaultFloatingSubnet,omitempty"`
	// NonConstraining allows the entry in addition to others, without restricting its region or domain to it.
	//
	// Default: false.
	// +optional
	NonConstraining *bool `json:"nonConstraining,omitempty"`
	// LoadBalancerClasses are the load balancer classes on this network.
	// +optional
	LoadBalancerClasses []LoadBalancerClass `json:"loadBalancerClasses,omitempty"`
}

// KeyStoneURL is the URL of Keystone for a region.
type KeyStoneURL struct {
	// Region is the region's name.
	Region string `json:"region"`
	// URL is the URL of Keystone.
	URL string `json:"url"`
	// CACert is the CA bundle (PEM) for the URL.
	// +optional
	CACert *string `json:"caCert,omitempty"`
}

// LoadBalancerClass is a set of network settings of load balancers. At most one of floatingSubnetID, floatingSubnetName
// and floatingSubnetTags is set.
type LoadBalancerClass struct {
	// Name is the class's name.
	Name string `json:"name"`
	// Purpose is `default` for the class of Services that choose none, `private` for load balancers without a floating IP,
	// or `vpn` (CloudProfile only). If no class has the purpose default (or private), a class of that name is used; if
	// there is no default class in either way, the first class is the default.
	// +optional
	Purpose *string `json:"purpose"`
	// FloatingSubnetID is the ID of the subnet of the external network.
	// +optional
	FloatingSubnetID *string `json:"floatingSubnetID,omitempty"`
	// FloatingSubnetTags are comma-separated tags that select subnets of the external network.
	// +optional
	FloatingSubnetTags *string `json:"floatingSubnetTags,omitempty"`
	// FloatingSubnetName is a name or pattern that selects subnets of the external network.
	// +optional
	FloatingSubnetName *string `json:"floatingSubnetName,omitempty"`
	// FloatingNetworkID is the ID of the external network.
	//
	// Default: that of the default class; without one there, the shoot's.
	// +optional
	FloatingNetworkID *string `json:"floatingNetworkID,omitempty"`
	// SubnetID is the ID of the subnet for the address of load balancers without a floating IP.
	// +optional
	SubnetID *string `json:"subnetID,omitempty"`
}

// Purposes of load balancer classes.
const (
	LoadBalancerPurposeDefault = "default" // of the class of Services that choose none
	LoadBalancerPurposePrivate = "private" // of the class of load balancers without a floating IP
	LoadBalancerPurposeVPN     = "vpn"     // of a class that is added to whatever classes the user gives
)

// LoadBalancerProvider allows an Octavia provider.
type LoadBalancerProvider struct {
	// Name is the provider's name.
	Name string `json:"name"`
	// Region restricts the entry to a region. If a region has an entry of its own, entries without a region do not apply
	// to it.
	// +optional
	Region *string `json:"region,omitempty"`
}

// MachineImages are the versions of one machine image.
type MachineImages struct {
	// Name is the name of the machine image in the CloudProfile.
	Name string `json:"name"`
	// Versions are its versions.
	Versions []MachineImageVersion `json:"versions"`
}

// MachineImageVersion maps one version of a machine image to images in Glance. An ID for the region takes precedence
// over image.
type MachineImageVersion struct {
	// Version is the version of the machine image in the CloudProfile.
	Version string `json:"version"`
	// Image is the name in Glance.
	// +optional
	Image string `json:"image,omitempty"`
	// Regions are the IDs in Glance by region.
	// +optional
	Regions []RegionIDMapping `json:"regions,omitempty"`
	// CapabilityFlavors map by capabilities, if the CloudProfile uses capabilities.
	// +optional
	CapabilityFlavors []MachineImageFlavor `json:"capabilityFlavors,omitempty"`
}

// MachineImageFlavor maps one set of capabilities to images in Glance.
type MachineImageFlavor struct {
	// Regions are the IDs in Glance by region.
	// +optional
	Regions []RegionIDMapping `json:"regions,omitempty"`
	// Image is the name in Glance.
	// +optional
	Image string `json:"image,omitempty"`
	// Capabilities are the capabilities of the image.
	// +optional
	Capabilities gardencorev1beta1.Capabilities `json:"capabilities,omitempty"`
}

// RegionIDMapping is the ID of an image in a region.
type RegionIDMapping struct {
	// Name is the region's name.
	Name string `json:"name"`
	// ID is the image's ID in Glance.
	ID string `json:"id"`
	// Architecture is the CPU architecture.
	//
	// Default: amd64.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
}

// StorageClassDefinition describes a StorageClass of shoots.
type StorageClassDefinition struct {
	// Name is the class's name.
	Name string `json:"name"`
	// Default makes it the default class.
	// +optional
	Default *bool `json:"default,omitempty"`
	// Provisioner is the class's provisioner.
	// +optional
	Provisioner *string `json:"provisioner,omitempty"`
	// Parameters are the class's parameters.
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
	// Annotations are the class's annotations.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// Labels are the class's labels.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// ReclaimPolicy is the class's reclaim policy.
	// +optional
	ReclaimPolicy *string `json:"reclaimPolicy,omitempty"`
	// VolumeBindingMode is the class's volume binding mode.
	// +optional
	VolumeBindingMode *string `json:"volumeBindingMode,omitempty"`
}
