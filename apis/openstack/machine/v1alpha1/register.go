package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every type in this package.
const GroupName = "openstack.machine.gardener.cloud"

// GroupVersion returns the group and version of every type in this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}
}

// AddToScheme registers the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(), &MachineProviderConfig{})
	return nil
}

// NewMachineProviderConfig returns an empty configuration with apiVersion and kind.
func NewMachineProviderConfig() *MachineProviderConfig {
	return &MachineProviderConfig{TypeMeta: metav1.TypeMeta{
		APIVersion: GroupVersion().String(), Kind: "MachineProviderConfig",
	}}
}
