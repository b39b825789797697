package tuning

import (
	druidcorev1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/api/resource"
)

// EtcdStorage says on what a seed keeps the etcds of its shoots.
type EtcdStorage struct {
	Main, Events EtcdVolume
}

// EtcdVolume describes the volumes of one etcd. What is nil is left to Gardener.
type EtcdVolume struct {
	// ClassName is the name of a StorageClass of the seed, or empty for the seed's default.
	ClassName *string
	// Capacity is the size.
	Capacity *resource.Quantity
}

// TuneEtcd changes an Etcd called etcd-main or etcd-events when it is created (old is nil). Others are somebody else's.
//
// Afterwards its volumes exist, and cannot change: the API server refuses another class, and even that a class is named or not
// named any more. gardenlet names none, whatever it finds. So an existing Etcd keeps the class that it was born with, which is
// also how one that upstream's extension made stays valid. And it keeps its capacity, which gardenlet would set to its own idea
// each time: etcd-druid writes it into a StatefulSet, where it cannot change.
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
