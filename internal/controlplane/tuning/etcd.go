package tuning

import (
	druidcorev1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/api/resource"
)

// EtcdStorage describes the volumes of the etcds in a seed.
type EtcdStorage struct {
	Main, Events EtcdVolume
}

// EtcdVolume describes the volumes of one etcd. nil is Gardener's default.
type EtcdVolume struct {
	// ClassName is the name of a StorageClass of the seed, or empty for the seed's default.
	ClassName *string
	// Capacity is the size.
	Capacity *resource.Quantity
}

// TuneEtcd changes an Etcd called etcd-main or etcd-events when it is created (old is nil). Others are not changed.
//
// Afterwards its volumes exist, and cannot change: the API server refuses another class, and also that a class is added or removed. gardenlet sets none,
// whatever the object has. So an existing Etcd keeps its class, which also keeps those of upstream's extension valid. And it keeps its capacity, which
// gardenlet would set each time: etcd-druid writes it into a StatefulSet, where it is immutable.
func TuneEtcd(etcd, old *druidcorev1alpha1.Etcd, storage EtcdStorage) {
	var volume EtcdVolume
	switch etcd.Name {
	case v1beta1constants.ETCDMain:
		volume = storage.Main
	case v1beta1constants.ETCDEvents:
		volume = storage.Events
	default:
		return
	}
	if old != nil {
		volume = EtcdVolume{Capacity: old.Spec.StorageCapacity}
		if etcd.Spec.StorageClass == nil {
			volume.ClassName = old.Spec.StorageClass
		}
	}
	if volume.ClassName != nil {
		name := *volume.ClassName
		etcd.Spec.StorageClass = &name
	}
	if volume.Capacity != nil {
		capacity := volume.Capacity.DeepCopy()
		etcd.Spec.StorageCapacity = &capacity
	}
}
