// Package v1alpha1 holds the Calico configuration and status types of the API group
// calico.networking.extensions.gardener.cloud, version v1alpha1: Shoot.spec.networking.providerConfig, and the
// providerStatus of the Network.
//
// Group, kinds and field names are those of the upstream extension, so that a shoot is migrated in either direction
// without an edit. Fields that upstream does not have are marked "Trellis extension". Default fills in what users leave
// out; the status shows the result.
//
// The package holds types, defaults and codecs. It must not know controllers, clusters, or how Calico is deployed.
//
// +kubebuilder:object:generate=true
// +groupName=calico.networking.extensions.gardener.cloud
package v1alpha1

//go:generate go run ../../internal/apidoc -package . -out ../../../docs/reference/calico.md -title Calico
