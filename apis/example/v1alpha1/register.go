package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every type in this package.
const GroupName = "example.org"

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
		&InfrastructureStatus{},
		&MachineProviderSpec{},
		&WorkerConfig{},
		&WorkerStatus{},
	)
	return nil
}

// NewInfrastructureStatus returns an empty status with apiVersion and kind.
func NewInfrastructureStatus() *InfrastructureStatus {
	return &InfrastructureStatus{TypeMeta: typeMeta("InfrastructureStatus")}
}

// NewWorkerStatus returns an empty status with apiVersion and kind.
func NewWorkerStatus() *WorkerStatus {
	return &WorkerStatus{TypeMeta: typeMeta("WorkerStatus")}
}

// NewMachineProviderSpec returns an empty description of machines with apiVersion and kind.
func NewMachineProviderSpec() *MachineProviderSpec {
	return &MachineProviderSpec{TypeMeta: typeMeta("MachineProviderSpec")}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: GroupVersion().String(), Kind: kind}
}
