// Package installationcontroller reconciles ControllerInstallations: it renders the revision that each is assigned, applies it in the seed, checks it
// there and reports the result in the status.
//
// Of the status the operator writes the condition Valid and the providerStatus. Installed, Healthy and Progressing are gardenlet's, which computes them
// from the ManagedResource that the operator creates; the operator writes them only where no gardenlet does.
//
// The package must not decide which installation gets which revision: an operator of many seeds reads that from annotations and from package state, and
// an operator in a seed takes what the ControllerDeployment says.
package installationcontroller
