// Package v1alpha1 holds the types of the API group installation.trellis.garden, version v1alpha1: the providerConfig of a
// ControllerDeployment of type "trellis", and the providerStatus of its ControllerInstallations.
//
// Chart and values mean what they mean in a ControllerDeployment of type "helm", so that a deployment is migrated by copying them. Default
// fills in what admins leave out.
//
// The package holds types, defaults, codecs and the names of annotations. It must not know controllers, clusters or Helm.
//
// +kubebuilder:object:generate=true
// +groupName=installation.trellis.garden
package v1alpha1

//go:generate go run ../../internal/apidoc -package . -out ../../../docs/reference/installation.md -title Installations -examples testdata/examples
