package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InfrastructureConfig is the user's configuration of the infrastructure of a shoot
// (Shoot.spec.provider.infrastructureConfig, Infrastructure.spec.providerConfig).
//
// +kubebuilder:object:root=true
type InfrastructureConfig struct {
	metav1.TypeMeta `json:",inline"`

	// FloatingPoolName names the external network that gives the shoot's router its addresses and load balancers their
	// floating IPs. It is the network's name or its ID; the CloudProfile must allow it. Immutable.
	FloatingPoolName string `json:"floatingPoolName"`

	// FloatingPoolSubnetName selects the subnet of the external network from which the router takes its address: a name, a
	// glob (`public-*`, `public-?`), or a regular expression behind a tilde (`~public-\d+`), always for the whole name; an
	// exclamation mark in front negates (`!internal-*`). If several subnets match, the first with a free address is used.
	// It is evaluated only when the router gets its address, so that a Shoot may keep a regular expression without tilde,
	// which former releases of the upstream extension accepted. Not allowed together with networks.router. Immutable.
	//
	// Default: the pool's defaultFloatingSubnet in the CloudProfile; without that the cloud chooses.
	// +optional
	FloatingPoolSubnetName *string `json:"floatingPoolSubnetName,omitempty"`

	// Networks describes the network of the nodes. Existing resources are referenced by ID and are never changed or
	// deleted; everything else is created.
	Networks Networks `json:"networks"`
}

// Networks describes the network of the nodes. Exactly one of workers, subnetPool and subnetId is the source of the
// nodes' addresses.
type Networks struct {
	// Router is an existing router to use. It must have an address on the external network. Immutable.
	//
	// Default: a router is created.
	// +optional
	Router *Router `json:"router,omitempty"`

	// Worker is the former name of workers, and is ignored when both are set.
	// +optional
	Worker string `json:"worker,omitempty"`

	// Workers is the range (CIDR) of the node subnet to create. It must lie within spec.networking.nodes of the Shoot.
	// Immutable.
	// +optional
	Workers string `json:"workers,omitempty"`

	// SubnetPool is a Neutron subnet pool from which the node subnet takes its range. Immutable.
	// +optional
	SubnetPool *SubnetPool `json:"subnetPool,omitempty"`

	// ID is the ID of an existing network. Immutable.
	//
	// Default: a network is created.
	// +optional
	ID *string `json:"id,omitempty"`

	// SubnetID is the ID of an existing IPv4 subnet for the nodes, in the network given by id. The subnet itself is never
	// changed: its owner configures its DNS servers and gateway. If the router has no interface in it yet, one is added,
	// and removed again with the shoot. Immutable. Trellis extension, with the name that the upstream extension plans to
	// use.
	// +optional
	SubnetID *string `json:"subnetId,omitempty"`

	// SecurityGroupID is the ID of an existing security group for the nodes. Its owner configures its rules: they must
	// allow traffic among the nodes and to the internet, traffic of pods if the shoot routes them natively, and traffic
	// from load balancers to ports 30000-32767. Immutable. Trellis extension, with the name that the upstream extension
	// plans to use.
	//
	// Default: a security group is created.
	// +optional
	SecurityGroupID *string `json:"securityGroupId,omitempty"`

	// ShareNetwork switches a Manila share network on, in the node subnet. It may be switched on later, but never off.
	//
	// Default: not enabled.
	// +optional
	ShareNetwork *ShareNetwork `json:"shareNetwork,omitempty"`

	// IPv6 makes the nodes dual-stack. Required if the Shoot's ipFamilies contain IPv6, and ignored otherwise, as in a
	// Shoot that went back from dual stack. It may be set later and is immutable from then on.
	// +optional
	IPv6 *IPv6Config `json:"ipv6,omitempty"`

	// MTU is the maximum transmission unit in bytes of the created network. It may be changed later; nodes take the new
	// value with their next DHCP lease. Between 1280 and 9216. Not allowed together with id.
	// Trellis extension.
	//
	// Default: the cloud chooses.
	// +optional
	MTU *int `json:"mtu,omitempty"`

	// AvailabilityZoneHints make Neutron schedule the created network and router in the given zones. Immutable. Trellis
	// extension.
	// +optional
	AvailabilityZoneHints *AvailabilityZoneHints `json:"availabilityZoneHints,omitempty"`

	// NodePortSourceRanges are the ranges (CIDR) from which the created security group allows TCP and UDP to ports
	// 30000-32767 of the nodes. An empty list closes the ports to all but the shoot's own nodes and pods; load balancers
	// outside the node subnet then need their range here. Not allowed together with securityGroupId. May be changed later.
	// Trellis extension.
	//
	// Default: everywhere: 0.0.0.0/0, and ::/0 too if ipv6 is set.
	// +optional
	NodePortSourceRanges []string `json:"nodePortSourceRanges,omitzero"`
}

// Router is an existing router.
type Router struct {
	// ID is the router's ID.
	ID string `json:"id"`
}

// SubnetPool is a Neutron subnet pool as the source of a range.
type SubnetPool struct {
	// ID is the pool's ID.
	ID string `json:"id"`

	// PrefixLength is the length of the range to take, e.g. 24 for a /24. Between 1 and 29.
	//
	// Default: the pool's own default.
	// +optional
	PrefixLength *int `json:"prefixLength,omitempty"`
}

// ShareNetwork switches a Manila share network on.
type ShareNetwork struct {
	// Enabled is true for a share network.
	Enabled bool `json:"enabled"`
}

// IPv6Config is the source of the IPv6 ranges of a dual-stack shoot: either one subnet pool for all, or all three
// ranges.
type IPv6Config struct {
	// SubnetPoolID is the ID of a Neutron subnet pool from which nodes, pods and services take their ranges. Explicit ranges take
	// precedence: the pool has no effect then.
	// +optional
	SubnetPoolID *string `json:"subnetPoolID,omitempty"`

	// NodeCIDR is the IPv6 range of the nodes, a /64.
	// +optional
	NodeCIDR string `json:"nodeCIDR,omitempty"`

	// PodCIDR is the IPv6 range of the pods, a /64 or larger: every node takes a /64 of it.
	// +optional
	PodCIDR string `json:"podCIDR,omitempty"`

	// ServiceCIDR is the IPv6 range of the services, preferably a /112: Kubernetes uses the first /112 of the range.
	// +optional
	ServiceCIDR string `json:"serviceCIDR,omitempty"`
}

// AvailabilityZoneHints are the zones in which Neutron's agents should serve a network or a router. `openstack
// availability zone list --network` lists the zones; they may differ from those of the nodes.
type AvailabilityZoneHints struct {
	// Network is for the created network. Not allowed together with networks.id.
	// +optional
	Network []string `json:"network,omitempty"`

	// Router is for the created router. Not allowed together with networks.router.
	// +optional
	Router []string `json:"router,omitempty"`
}
