// Package v1alpha1 holds the AWS configuration, status and state types of the API group aws.provider.extensions.gardener.cloud, version
// v1alpha1: the configuration that users write in Shoots and landscape admins in CloudProfiles and Seeds, and the providerStatus that the controllers
// of different contracts exchange.
//
// What an admin needs to know besides, such as the permissions of credentials, is in docs/operations/aws.md.
//
// Group, kinds and field names are those of the upstream extension, so that a shoot is migrated in either direction without an edit.
//
// The package holds types, defaults, codecs and look-ups. It must not know clouds, controllers or clusters.
//
// +kubebuilder:object:generate=true
// +groupName=aws.provider.extensions.gardener.cloud
package v1alpha1

//go:generate go run ../../internal/apidoc -package . -out ../../../docs/reference/aws.md -title AWS -examples testdata/examples
