package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every type in this package.
const GroupName = "gardenet.networking.extensions.gardener.cloud"

// GroupVersion returns the group and version of every type in this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}
}

// AddToScheme registers the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(), &NetworkConfig{}, &NetworkStatus{})
	return nil
}

// NewNetworkConfig returns an empty configuration with apiVersion and kind.
func NewNetworkConfig() *NetworkConfig {
	return &NetworkConfig{TypeMeta: typeMeta("NetworkConfig")}
}

// NewNetworkStatus returns an empty status with apiVersion and kind.
func NewNetworkStatus() *NetworkStatus {
	return &NetworkStatus{TypeMeta: typeMeta("NetworkStatus")}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: GroupVersion().String(), Kind: kind}
}
