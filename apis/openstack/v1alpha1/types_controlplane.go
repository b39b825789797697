package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ControlPlaneConfig is the user's configuration of the control plane of a shoot
// (Shoot.spec.provider.controlPlaneConfig, ControlPlane.spec.providerConfig).
//
// +kubebuilder:object:root=true
type ControlPlaneConfig struct {
	metav1.TypeMeta `json:",inline"`

	// CloudControllerManager configures the cloud-controller-manager.
	// +optional
	CloudControllerManager *CloudControllerManagerConfig `json:"cloudControllerManager,omitempty"`
	// LoadBalancerClasses are classes that Services may choose by annotation. If the field is absent, the classes of the
	// floating pool in the CloudProfile apply; an empty list means no classes.
	// +optional
	LoadBalancerClasses []LoadBalancerClass `json:"loadBalancerClasses,omitempty"`
	// LoadBalancerProvider is the Octavia provider, one of those that the CloudProfile lists.
	LoadBalancerProvider string `json:"loadBalancerProvider"`
	// LoadBalancer configures all load balancers of the shoot.
	// Trellis extension.
	// +optional
	LoadBalancer *LoadBalancerConfig `json:"loadBalancer,omitempty"`
	// NodeAddresses configures which addresses of nodes the cloud-controller-manager reports, and in which order. Trellis
	// extension.
	// +optional
	NodeAddresses *NodeAddresses `json:"nodeAddresses,omitempty"`
	// Zone has no effect.
	//
	// Deprecated: leave it out.
	// +optional
	Zone *string `json:"zone,omitempty"`
	// Storage configures storage.
	// +optional
	Storage *Storage `json:"storage,omitempty"`
}

// CloudControllerManagerConfig configures the cloud-controller-manager.
type CloudControllerManagerConfig struct {
	// FeatureGates switches features of the cloud-controller-manager on or off. A name that its version does not know is
	// rejected. In a shoot that already has it, it is ignored with a message.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// LoadBalancerConfig configures all load balancers of a shoot. Annotations of a Service take precedence.
type LoadBalancerConfig struct {
	// AvailabilityZone is the Octavia availability zone of new load balancers. `openstack loadbalancer availabilityzone
	// list` lists the zones; they may differ from those of the nodes.
	//
	// Default: the cloud chooses.
	// +optional
	AvailabilityZone *string `json:"availabilityZone,omitempty"`
	// FlavorID is the ID of the Octavia flavor of new load balancers.
	//
	// Default: the cloud chooses.
	// +optional
	FlavorID *string `json:"flavorID,omitempty"`
	// MaxSharedLB is how many Services may share a load balancer that one of them names by annotation. With 1 none is
	// shared.
	//
	// Default: 2.
	// +optional
	MaxSharedLB *int32 `json:"maxSharedLB,omitempty"`
	// CascadeDelete lets Octavia delete all parts of a load balancer in one call. Set it to false for providers that do
	// not support that.
	//
	// Default: true.
	// +optional
	CascadeDelete *bool `json:"cascadeDelete,omitempty"`
	// IngressHostname reports a host name instead of the address in the status of Services whose load balancers use the
	// proxy protocol, so that traffic from pods of the shoot also goes through the load balancer instead of bypassing it.
	// +optional
	IngressHostname *IngressHostname `json:"ingressHostname,omitempty"`
	// Monitor is the health monitor of load balancers.
	// +optional
	Monitor *HealthMonitor `json:"monitor,omitempty"`
}

// IngressHostname configures the host name of load balancers that use the proxy protocol: their address, a dot, and a
// suffix.
type IngressHostname struct {
	// Enabled is true for host names.
	Enabled bool `json:"enabled"`
	// Suffix is a DNS domain that resolves every name of this form to the address in it.
	//
	// Default: nip.io.
	// +optional
	Suffix *string `json:"suffix,omitempty"`
}

// HealthMonitor configures how load balancers detect healthy nodes.
type HealthMonitor struct {
	// Enabled is false for load balancers that send traffic to all nodes. Services with externalTrafficPolicy Local need
	// a monitor.
	//
	// Default: true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Delay is the time between two probes of a node, in whole seconds.
	//
	// Default: 20s.
	// +optional
	Delay *metav1.Duration `json:"delay,omitempty"`
	// Timeout is the timeout of a probe, in whole seconds. Many clouds require that it is shorter than delay.
	//
	// Default: 30s.
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// MaxRetries is how many consecutive probes must succeed before a node gets traffic. Between 1 and 10.
	//
	// Default: 2.
	// +optional
	MaxRetries *int32 `json:"maxRetries,omitempty"`
	// MaxRetriesDown is how many consecutive probes must fail before a node gets no more traffic. Between 1 and 10.
	//
	// Default: 3.
	// +optional
	MaxRetriesDown *int32 `json:"maxRetriesDown,omitempty"`
}

// NodeAddresses configures which addresses of nodes the cloud-controller-manager reports, and in which order.
type NodeAddresses struct {
	// PublicNetworkNames are the names of networks in which the addresses of nodes are external.
	// +optional
	PublicNetworkNames []string `json:"publicNetworkNames,omitempty"`
	// InternalNetworkNames are the names of networks, besides the shoot's own, in which the addresses of nodes are
	// internal. Addresses in networks that are neither public nor internal are not reported.
	// +optional
	InternalNetworkNames []string `json:"internalNetworkNames,omitempty"`
	// SortOrder are ranges (CIDR): addresses in the first come first, and so on. All others come last.
	//
	// Default: the cloud's order.
	// +optional
	SortOrder []string `json:"sortOrder,omitempty"`
	// IPv6Disabled leaves out all IPv6 addresses. Not allowed in a shoot with IPv6.
	//
	// Default: false.
	// +optional
	IPv6Disabled *bool `json:"ipv6Disabled,omitempty"`
}

// Storage configures storage.
type Storage struct {
	// CSIManila configures shared file systems (NFS) by Manila.
	// +optional
	CSIManila *CSIManila `json:"csiManila,omitempty"`
}

// CSIManila configures shared file systems (NFS) by Manila.
type CSIManila struct {
	// Enabled deploys the Manila CSI driver. It needs networks.shareNetwork.enabled in the InfrastructureConfig.
	//
	// Default: false.
	Enabled bool `json:"enabled"`
	// CredentialsRef names credentials for Manila alone. The driver needs credentials on every node and reads them from a
	// Secret in the shoot, which everyone who may read Secrets in kube-system can read. Use an application credential
	// whose access rules allow nothing but Manila (service type sharev2), in the project of the infrastructure: existing
	// shares are found in no other project. Required for new shoots. Trellis extension.
	//
	// Default: the credentials of the infrastructure, in shoots that already had Manila without this field.
	// +optional
	CredentialsRef *CredentialsReference `json:"credentialsRef,omitempty"`
}

// CredentialsReference names credentials that the Shoot refers to.
type CredentialsReference struct {
	// Name is the name of an entry in spec.resources of the Shoot that refers to a Secret. The Secret has the same keys as
	// a Secret with credentials of the infrastructure.
	Name string `json:"name"`
}
