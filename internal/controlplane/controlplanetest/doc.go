// Package controlplanetest simulates the environment of a ControlPlane controller: a shoot's namespace in a seed, as gardenlet prepares
// it, and gardener-resource-manager, which turns ManagedResources into objects and Secrets into tokens.
//
// Run tests the life of a control plane: with any driver, through the contract runtime and a real API server. Explore lets every
// write to the API server go wrong (see package contracttest). In both, Inspect holds what is there against what must be there
// after every operation, and the resource manager complains about whatever it could not have worked with.
//
// The suite knows the names of the ManagedResources, which are upstream's, and no driver.
package controlplanetest
