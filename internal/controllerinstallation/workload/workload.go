// Package workload manages the objects of an installation in a seed: the namespace, access to the garden, and a ManagedResource with the objects of
// the chart. They equal those that gardenlet creates for a ControllerDeployment of type "helm"
// (gardener/pkg/gardenlet/controller/controllerinstallation), so that gardenlet's other controllers work with them. The package must not know how
// revisions are stored, nor read anything from the garden except through the clients it is given.
package workload

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

const (
	// labelInstallation and labelRegistration identify the owner of the ManagedResource and of the Secrets with its content.
	labelInstallation = "controllerinstallation-name"
	labelRegistration = "controllerregistration-name"
)

// Garden has the properties of the garden that charts and installations need.
type Garden struct {
	// Identity is the identity of the garden cluster.
	Identity string
	// Address is the URL of its API server as seen from seeds, CABundle the CA certificates for it.
	Address  string
	CABundle []byte
}

// Installation identifies the installation to which objects belong.
type Installation struct {
	// Name is the name of the ControllerInstallation, Registration that of its ControllerRegistration.
	Name, Registration string
	// Seed is the seed of the installation.
	Seed *gardencorev1beta1.Seed
	// PodSecurity is the level that the registration requests; empty for none.
	PodSecurity string
	// InjectGardenKubeconfig gives its pods access to the garden.
	InjectGardenKubeconfig bool
	// Revision is written to the ManagedResource (annotation installation.trellis.garden/revision).
	Revision string
}

// SeedFacts are properties of a seed on which the rendering of a chart depends.
type SeedFacts struct {
	// FeatureGates are those of gardenlet: Gardener's defaults, merged with its configuration in the seed (the ConfigMap of Deployment
	// garden/gardenlet).
	FeatureGates map[string]bool
	// IsGarden is true if the seed is the garden's runtime cluster, too.
	IsGarden bool
}
