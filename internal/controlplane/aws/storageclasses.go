package aws

import (
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/controlplane/csi"
)

// defaultClass is the name of the storage class and of the snapshot class.
const defaultClass = "default"

// storageClasses is one with encrypted volumes. It names no type of volume, so they have the driver's default (gp3).
func (in *inputs) storageClasses() []storagev1.StorageClass {
	class := storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: defaultClass},
		Provisioner:          ebsDriver,
		Parameters:           map[string]string{"encrypted": "true"},
		AllowVolumeExpansion: new(true),
		VolumeBindingMode:    new(storagev1.VolumeBindingWaitForFirstConsumer),
	}
	if in.hasDefaultClasses() {
		metav1.SetMetaDataAnnotation(&class.ObjectMeta, csi.DefaultStorageClassAnnotation, "true")
	}
	return []storagev1.StorageClass{class}
}

func (in *inputs) snapshotClasses() []csi.SnapshotClass {
	return []csi.SnapshotClass{{Name: defaultClass, Driver: ebsDriver, Default: in.hasDefaultClasses(), DeletionPolicy: "Delete"}}
}

// hasDefaultClasses reports whether the classes are the default ones of the shoot.
func (in *inputs) hasDefaultClasses() bool {
	return in.config.Storage == nil || in.config.Storage.ManagedDefaultClass == nil || *in.config.Storage.ManagedDefaultClass
}
