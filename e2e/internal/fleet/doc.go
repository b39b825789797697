// Package fleet runs many shoots in one seed: the controllers of all four contracts as processes, with the rights of their charts, and a cloud.
// What would be several processes for each shoot is simulated by one for all: gardenlet by its own component library, gardener-resource-manager by
// ManagedResources that become healthy at once, machine-controller-manager by MachineDeployments that become available at once. The shoots have no
// clusters: whatever asks for one gets the seed's API server, which has no nodes. Benchmarks and the soak use the package.
//
// It must not depend on a provider or on what is measured.
package fleet
