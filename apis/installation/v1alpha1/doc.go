// Package v1alpha1 holds the types of the API group installation.trellis.garden, version v1alpha1: what an admin writes into the
// providerConfig of a ControllerDeployment of type "trellis", and what the operator of ControllerInstallations says in their providerStatus.
//
// Chart and values mean what they mean in a ControllerDeployment of type "helm", so that a deployment moves over by copying them. What admins
// leave out is filled in by Default.
//
// The package holds types, defaults, codecs and the names of annotations. It knows no controller and no cluster, and nothing of Helm.
//
// +kubebuilder:object:generate=true
// +groupName=installation.trellis.garden
package v1alpha1

//go:generate go run ../../internal/apidoc -package . -out ../../../docs/reference/installation.md -title Installations -examples testdata/examples
