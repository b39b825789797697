package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every type in this package.
const GroupName = "openstack.provider.extensions.gardener.cloud"

// GroupVersion returns the group and version of every type in this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}
}

// AddToScheme registers the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(),
		&CloudProfileConfig{},
		&ControlPlaneConfig{},
		&InfrastructureConfig{},
		&InfrastructureState{},
		&InfrastructureStatus{},
		&WorkerConfig{},
		&WorkerStatus{},
	)
	return nil
}
