// Package workload is what an installation consists of in a seed: the namespace, access to the garden, and a ManagedResource with the objects of the
// chart. All of it is what gardenlet would have made for a ControllerDeployment of type "helm"
// (gardener/pkg/gardenlet/controller/controllerinstallation), so that gardenlet's other controllers don't notice a difference. It must not know
// revisions, nor the garden but for what is handed over.
package workload

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

const (
	// labelInstallation and labelRegistration are on the ManagedResource and on the Secrets with its content, and say whose they are.
	labelInstallation = "controllerinstallation-name"
	labelRegistration = "controllerregistration-name"
)

// Garden is what charts and installations learn of the garden.
type Garden struct {
	// Identity is the garden cluster's.
	Identity string
	// Address is the URL of its API server as seen from seeds, CABundle what to trust it by.
	Address  string
	CABundle []byte
}

// Installation says whose objects they are.
type Installation struct {
	// Name is that of the ControllerInstallation, Registration that of its ControllerRegistration.
	Name, Registration string
	// Seed is where it goes to.
	Seed *gardencorev1beta1.Seed
	// PodSecurity is the level that the registration asks for; empty where it asks for none.
	PodSecurity string
	// InjectGardenKubeconfig gives its pods access to the garden.
	InjectGardenKubeconfig bool
	// Revision is noted at the ManagedResource (annotation installation.trellis.garden/revision).
	Revision string
}

// SeedFacts are what must be known of a seed before a chart can be rendered for it.
type SeedFacts struct {
	// FeatureGates are those of gardenlet: what its configuration in the seed says (ConfigMap behind the Deployment garden/gardenlet), over the defaults of
	// Gardener.
	FeatureGates map[string]bool
	// IsGarden is true when the seed is the garden's runtime cluster too.
	IsGarden bool
}
