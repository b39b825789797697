// Package v1alpha1 holds the type of the API group openstack.machine.gardener.cloud, version v1alpha1: the providerSpec of a
// MachineClass, which describes machines in OpenStack to a machine driver.
//
// Group, kind and field names are those of the existing machine driver, so that either driver handles the same classes. Fields
// that upstream does not have are marked "Trellis extension"; they are optional and set only in classes of pools that use them.
//
// The package holds the type, its codec and its validation. It must not know clouds, controllers or clusters.
//
// +kubebuilder:object:generate=true
// +groupName=openstack.machine.gardener.cloud
package v1alpha1
