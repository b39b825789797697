package openstack

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
)

// storageClasses are those of the cloud profile, or two of ours that differ in nothing but that one is the default.
func (in *inputs) storageClasses() []storagev1.StorageClass {
	definitions := in.profile.StorageClasses
	if len(definitions) == 0 {
		waitForFirstConsumer := string(storagev1.VolumeBindingWaitForFirstConsumer)
		definitions = []openstackv1alpha1.StorageClassDefinition{
			{Name: "default", Default: new(true), VolumeBindingMode: &waitForFirstConsumer},
			{Name: "default-class", VolumeBindingMode: &waitForFirstConsumer},
		}
	}
	classes := make([]storagev1.StorageClass, 0, len(definitions))
	for _, definition := range definitions {
		classes = append(classes, storageClass(definition))
	}
	return classes
}

// storageClass gives a class what its definition says. The annotation that makes it the default is left out where it would say
// no, which is what its absence says too; one among the definition's annotations wins.
func storageClass(definition openstackv1alpha1.StorageClassDefinition) storagev1.StorageClass {
	class := storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: definition.Name, Labels: definition.Labels},
		Provisioner:          cmp.Or(value(definition.Provisioner), cinderDriver),
		Parameters:           definition.Parameters,
		AllowVolumeExpansion: new(true),
	}
	if value(definition.Default) {
		metav1.SetMetaDataAnnotation(&class.ObjectMeta, csi.DefaultStorageClassAnnotation, "true")
	}
	for name, text := range definition.Annotations {
		metav1.SetMetaDataAnnotation(&class.ObjectMeta, name, text)
	}
	if policy := value(definition.ReclaimPolicy); policy != "" {
		class.ReclaimPolicy = new(corev1.PersistentVolumeReclaimPolicy(policy))
	}
	if mode := value(definition.VolumeBindingMode); mode != "" {
		class.VolumeBindingMode = new(storagev1.VolumeBindingMode(mode))
	}
	return class
}

// snapshotClasses is that of Cinder. Manila's is with its driver.
func (in *inputs) snapshotClasses() []csi.SnapshotClass {
	return []csi.SnapshotClass{{Name: "csi-cinder", Driver: cinderDriver, Default: true, DeletionPolicy: "Delete"}}
}
