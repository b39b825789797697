// Package v1alpha1 holds the OpenStack configuration, status and state types of the API group
// openstack.provider.extensions.gardener.cloud, version v1alpha1: what users write in Shoots, landscape admins write in
// CloudProfiles, and the controllers of the different contracts tell each other in providerStatus.
//
// Group, kinds and field names are those of the upstream extension, so that a shoot moves over without an edit, and back.
// Fields that are ours say "Trellis extension"; they are optional and change nothing when absent.
//
// The package holds types, defaults, codecs and look-ups. It knows no cloud, no controller and no cluster.
//
// +kubebuilder:object:generate=true
// +groupName=openstack.provider.extensions.gardener.cloud
package v1alpha1

//go:generate go run ../../internal/apidoc -package . -out ../../../docs/reference/openstack.md -title OpenStack
