// Package v1alpha1 is the API of the example provider, which tests and docs use and no released binary has. It holds the types of the API group
// example.org, version v1alpha1: the configuration that users and landscape admins write, the providerStatus that the controllers of different
// contracts exchange, and the description of machines for the machine driver.
//
// The package holds types and codecs. It must not know clouds, controllers or clusters.
//
// +kubebuilder:object:generate=true
// +groupName=example.org
package v1alpha1
