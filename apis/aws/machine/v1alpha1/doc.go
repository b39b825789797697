// Package v1alpha1 holds the providerSpec of a MachineClass that describes machines in AWS to a machine driver.
//
// Field names, their order, and which of them are left out when they are empty are those of the existing machine driver, so that either driver handles the
// same classes. The specification has an apiVersion and no kind: it is no object of a scheme.
//
// The package holds the type, its codec and its validation. It must not know clouds, controllers or clusters.
package v1alpha1
