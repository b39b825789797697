// Package v1alpha1 is the API of gardenet, the network plugin of Trellis: the types of the API group gardenet.networking.extensions.gardener.cloud, version
// v1alpha1.
//
// NetworkConfig is what users write in Shoot.spec.networking.providerConfig, NetworkStatus is the providerStatus of the Network. Default fills in what users leave
// out; the status shows the result.
//
// The package holds types, defaults and codecs. It must not know controllers, clusters, or how the plugin is deployed.
//
// +kubebuilder:object:generate=true
// +groupName=gardenet.networking.extensions.gardener.cloud
package v1alpha1

//go:generate go run ../../internal/apidoc -package . -out ../../../docs/reference/gardenet.md -title gardenet -examples testdata/examples
