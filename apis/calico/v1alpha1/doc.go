// Package v1alpha1 holds the Calico configuration and status types of the API group
// calico.networking.extensions.gardener.cloud, version v1alpha1: what users write into Shoot.spec.networking.providerConfig,
// and what the network controller says into the providerStatus of the Network.
//
// Group, kinds and field names are those of the upstream extension, so that a shoot moves over without an edit, and back.
// Fields that are ours say "Trellis extension". What users leave out is filled in by Default and shown to them in the
// status.
//
// The package holds types, defaults and codecs. It knows no controller, no cluster and nothing of how Calico is deployed.
//
// +kubebuilder:object:generate=true
// +groupName=calico.networking.extensions.gardener.cloud
package v1alpha1

//go:generate go run ../../internal/apidoc -package . -out ../../../docs/reference/calico.md -title Calico
