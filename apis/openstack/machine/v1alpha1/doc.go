// Package v1alpha1 holds the type of the API group openstack.machine.gardener.cloud, version v1alpha1: what stands in a MachineClass and
// tells a machine driver what machines in OpenStack are like.
//
// Group, kind and field names are those of the existing machine driver, so that either driver serves the same classes. Fields that
// are ours say "Trellis extension"; they are optional and stand only in classes of pools that use them.
//
// The package holds the type, its codec and its validation. It knows no cloud, no controller and no cluster.
//
// +kubebuilder:object:generate=true
// +groupName=openstack.machine.gardener.cloud
package v1alpha1
