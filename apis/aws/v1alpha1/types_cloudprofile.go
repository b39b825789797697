package v1alpha1

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CloudProfileConfig is a landscape admin's configuration for AWS (CloudProfile.spec.providerConfig, NamespacedCloudProfile.spec.providerConfig).
//
// +kubebuilder:object:root=true
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages map the CloudProfile's machine images to AMIs. At least one.
	MachineImages []MachineImages `json:"machineImages"`
}

// MachineImages are the versions of one machine image.
type MachineImages struct {
	// Name is the name of the machine image in the CloudProfile.
	Name string `json:"name"`
	// Versions are its versions.
	Versions []MachineImageVersion `json:"versions"`
}

// MachineImageVersion maps one version of a machine image to AMIs. Either regions or capabilityFlavors is set.
type MachineImageVersion struct {
	// Version is the version of the machine image in the CloudProfile.
	Version string `json:"version"`
	// Regions are the AMIs by region and architecture.
	// +optional
	Regions []RegionAMIMapping `json:"regions,omitempty"`
	// CapabilityFlavors map by capabilities, if the CloudProfile uses capabilities.
	// +optional
	CapabilityFlavors []MachineImageFlavor `json:"capabilityFlavors,omitempty"`
}

// MachineImageFlavor maps one set of capabilities to AMIs.
type MachineImageFlavor struct {
	// Regions are the AMIs by region.
	Regions []RegionAMIMapping `json:"regions"`
	// Capabilities are the capabilities of the AMIs.
	// +optional
	Capabilities gardencorev1beta1.Capabilities `json:"capabilities,omitempty"`
}

// RegionAMIMapping is an AMI in a region.
type RegionAMIMapping struct {
	// Name is the region's name.
	Name string `json:"name"`
	// AMI is the ID of the AMI.
	AMI string `json:"ami"`
	// Architecture is the CPU architecture. Not allowed in capabilityFlavors, where it is a capability.
	//
	// Default: amd64.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
}
