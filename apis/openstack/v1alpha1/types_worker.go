package v1alpha1

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkerConfig is the user's configuration of one worker pool (Shoot.spec.provider.workers[].providerConfig,
// Worker.spec.pools[].providerConfig).
//
// +kubebuilder:object:root=true
type WorkerConfig struct {
	metav1.TypeMeta `json:",inline"`

	// NodeTemplate describes the capacity of a node of the pool to the cluster-autoscaler, if it differs from the machine
	// type.
	// +optional
	NodeTemplate *extensionsv1alpha1.NodeTemplate `json:"nodeTemplate,omitempty"`
	// ServerGroup puts the pool's machines into a Nova server group of its own. Changing it rolls the nodes.
	// +optional
	ServerGroup *ServerGroup `json:"serverGroup,omitempty"`
	// MachineLabels are added to the Nova metadata of the pool's machines, not to the nodes.
	// +optional
	MachineLabels []MachineLabel `json:"machineLabels,omitempty"`
	// AdditionalSecurityGroups are names of existing security groups for the pool's machines, besides the shoot's own.
	// Changing them rolls the nodes.
	// +optional
	AdditionalSecurityGroups []string `json:"additionalSecurityGroups,omitempty"`
	// AdditionalNetworks are existing networks that the pool's machines are attached to besides the shoot's own, which stays the
	// first. Pods do not use them. Changing them rolls the nodes. Trellis extension.
	// +optional
	AdditionalNetworks []AdditionalNetwork `json:"additionalNetworks,omitempty"`
	// ConfigDrive gives machines their metadata on a disk, for clouds without a metadata service. Changing it rolls the nodes.
	// Trellis extension.
	//
	// Default: the cloud's default.
	// +optional
	ConfigDrive *bool `json:"configDrive,omitempty"`
}

// AdditionalNetwork names an existing network, either by its ID or by its name. Trellis extension.
type AdditionalNetwork struct {
	// ID is the network's ID.
	// +optional
	ID string `json:"id,omitempty"`
	// Name is the network's name, which must be unique among those that the project sees.
	// +optional
	Name string `json:"name,omitempty"`
}

// MachineLabel is a key and value of Nova metadata.
type MachineLabel struct {
	// Name is the key.
	Name string `json:"name"`
	// Value is the value.
	Value string `json:"value"`
	// TriggerRollingOnUpdate rolls the nodes when the value changes.
	//
	// Default: false.
	// +optional
	TriggerRollingOnUpdate bool `json:"triggerRollingOnUpdate,omitempty"`
}

// ServerGroup describes a Nova server group.
type ServerGroup struct {
	// Policy is the group's placement policy, one of those that the CloudProfile allows, e.g. `soft-anti-affinity`.
	Policy string `json:"policy"`
}

// WorkerStatus is what the Worker controller records about a Worker (Worker.status.providerStatus).
//
// +kubebuilder:object:root=true
type WorkerStatus struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages are the images in use. They are used for pools whose image version is no longer in the CloudProfile.
	// +optional
	MachineImages []MachineImage `json:"machineImages,omitempty"`
	// ServerGroupDependencies are the server groups of the pools.
	// +optional
	ServerGroupDependencies []ServerGroupDependency `json:"serverGroupDependencies,omitempty"`
}

// MachineImage maps a machine image of the CloudProfile to an image in Glance. At least one of image and id is set.
type MachineImage struct {
	// Name is the name of the machine image in the CloudProfile.
	Name string `json:"name"`
	// Version is the version of the machine image in the CloudProfile.
	Version string `json:"version"`
	// Image is the name in Glance.
	// +optional
	Image string `json:"image,omitempty"`
	// ID is the ID in Glance.
	// +optional
	ID string `json:"id,omitempty"`
	// Architecture is the CPU architecture.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// Capabilities are the capabilities of the image, where the CloudProfile works with capabilities.
	// +optional
	Capabilities gardencorev1beta1.Capabilities `json:"capabilities,omitempty"`
}

// ServerGroupDependency is the server group of a pool.
type ServerGroupDependency struct {
	// PoolName is the name of the worker pool.
	PoolName string `json:"poolName"`
	// ID is the server group's ID.
	ID string `json:"id"`
	// Name is the server group's name.
	Name string `json:"name"`
}
