package v1alpha1

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkerConfig is the user's configuration of one worker pool (Shoot.spec.provider.workers[].providerConfig,
// Worker.spec.pools[].providerConfig). Changing anything but nodeTemplate.virtualCapacity rolls the nodes.
//
// +kubebuilder:object:root=true
type WorkerConfig struct {
	metav1.TypeMeta `json:",inline"`

	// NodeTemplate describes the capacity of a node of the pool to the cluster-autoscaler, if it differs from the machine
	// type.
	// +optional
	NodeTemplate *extensionsv1alpha1.NodeTemplate `json:"nodeTemplate,omitempty"`
	// Volume configures the root volume.
	// +optional
	Volume *Volume `json:"volume,omitempty"`
	// DataVolumes configure the data volumes of the pool, by name.
	// +optional
	DataVolumes []DataVolume `json:"dataVolumes,omitempty"`
	// IAMInstanceProfile is the instance profile of the pool's machines.
	//
	// Default: that of the shoot.
	// +optional
	IAMInstanceProfile *IAMInstanceProfile `json:"iamInstanceProfile,omitempty"`
	// InstanceMetadataOptions restrict the metadata service.
	//
	// Default: tokens are required, and their answers may take two hops.
	// +optional
	InstanceMetadataOptions *InstanceMetadataOptions `json:"instanceMetadataOptions,omitempty"`
	// CpuOptions configure the processors of a machine, if they differ from the machine type.
	// +optional
	CpuOptions *CpuOptions `json:"cpuOptions,omitempty"`
	// CapacityReservation makes machines use reserved capacity.
	//
	// Default: AWS's: machines use open reservations that fit.
	// +optional
	CapacityReservation *CapacityReservation `json:"capacityReservation,omitempty"`
	// NetworkInterfaces are the network interfaces of a machine. One of them is that of card 0 and device 0.
	//
	// Default: one of type `interface`.
	// +optional
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitempty"`
	// Placement says where machines are placed.
	// +optional
	Placement *Placement `json:"placement,omitempty"`
	// InstanceMarketOptions say how machines are bought.
	//
	// Default: on demand.
	// +optional
	InstanceMarketOptions *InstanceMarketOptions `json:"instanceMarketOptions,omitempty"`
}

// Volume configures a volume.
type Volume struct {
	// IOPS is the number of operations per second. Required for volumes of type `io1`.
	// +optional
	IOPS *int32 `json:"iops,omitempty"`
	// Throughput is the throughput in MiB/s. For volumes of type `gp3`.
	// +optional
	Throughput *int32 `json:"throughput,omitempty"`
}

// DataVolume configures a data volume of the pool.
type DataVolume struct {
	// Name is the name of the data volume in the pool.
	Name string `json:"name"`
	// IOPS is the number of operations per second. Required for volumes of type `io1`.
	// +optional
	IOPS *int32 `json:"iops,omitempty"`
	// Throughput is the throughput in MiB/s. For volumes of type `gp3`.
	// +optional
	Throughput *int32 `json:"throughput,omitempty"`
	// SnapshotID is the ID of the snapshot that the volume begins with.
	//
	// Default: the volume is empty.
	// +optional
	SnapshotID *string `json:"snapshotID,omitempty"`
}

// IAMInstanceProfile is an existing instance profile. Exactly one of name and arn is set.
type IAMInstanceProfile struct {
	// Name is the name of the instance profile.
	// +optional
	Name *string `json:"name,omitempty"`
	// ARN is the ARN of the instance profile.
	// +optional
	ARN *string `json:"arn,omitempty"`
}

// WorkerStatus is what the Worker controller records about a Worker (Worker.status.providerStatus).
//
// +kubebuilder:object:root=true
type WorkerStatus struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages are the images in use. They are used for pools whose image version is no longer in the CloudProfile.
	// +optional
	MachineImages []MachineImage `json:"machineImages,omitempty"`
}

// MachineImage maps a machine image of the CloudProfile to an AMI.
type MachineImage struct {
	// Name is the name of the machine image in the CloudProfile.
	Name string `json:"name"`
	// Version is the version of the machine image in the CloudProfile.
	Version string `json:"version"`
	// AMI is the ID of the AMI in the region of the shoot.
	AMI string `json:"ami"`
	// Architecture is the CPU architecture, where the CloudProfile does not work with capabilities.
	//
	// Default: amd64.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// Capabilities are the capabilities of the image, where the CloudProfile works with capabilities.
	// +optional
	Capabilities gardencorev1beta1.Capabilities `json:"capabilities,omitempty"`
}
