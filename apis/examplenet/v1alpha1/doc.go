// Package v1alpha1 is the API of the example network plugin, which tests and docs use and no released binary has: the types of the API group
// example-net.example.org, version v1alpha1.
//
// NetworkConfig is what users write in Shoot.spec.networking.providerConfig, NetworkStatus is the providerStatus of the Network.
//
// The package holds types, defaults and codecs. It must not know controllers, clusters, or how the plugin is deployed.
//
// +kubebuilder:object:generate=true
// +groupName=example-net.example.org
package v1alpha1
