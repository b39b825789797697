package csi

import (
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Annotations that make a class the default.
const (
	DefaultStorageClassAnnotation  = "storageclass.kubernetes.io/is-default-class"
	defaultSnapshotClassAnnotation = "snapshot.storage.kubernetes.io/is-default-class"
)

// Classes returns the classes for the shoot, in a form in which gardener-resource-manager respects users' choices.
//
// Whether a class is the default is an annotation, and gardener-resource-manager (v1.149) has only three ways to handle annotations. With
// forceOverwriteAnnotations, which upstream's extension sets, all changes by users are reverted. Without it, other annotations stay, but those in the
// manifest are still reverted, so that a user could never disable the default class; and one that is removed from the manifest is removed. No
// annotation preserves a single field (preserve-replicas and preserve-resources are for workload). What remains is resources.gardener.cloud/ignore:
// such an object is created if it is missing, deleted if it is removed from the manifest, and otherwise not changed.
// it is not wanted any more, and otherwise left alone.
// That is right for classes. All but labels, annotations and allowVolumeExpansion of a StorageClass is immutable: upstream's extension deletes and
// recreates a class whose content changes, with the loss of users' changes. Here a class that a landscape admin changes reaches new shoots, and existing
// ones once the class is deleted there.
func Classes(storage []storagev1.StorageClass, snapshots []SnapshotClass) []client.Object {
	objects := make([]client.Object, 0, len(storage)+len(snapshots))
	for _, class := range storage {
		object := class.DeepCopy()
		object.TypeMeta = metav1.TypeMeta{APIVersion: storagev1.SchemeGroupVersion.String(), Kind: "StorageClass"}
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, resourcesv1alpha1.Ignore, "true")
		objects = append(objects, object)
	}
	for _, class := range snapshots {
		object := class.Object()
		annotate(object, resourcesv1alpha1.Ignore)
		objects = append(objects, object)
	}
	return objects
}

// Object returns the class without the annotation that protects users' choices.
func (c SnapshotClass) Object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"driver": c.Driver, "deletionPolicy": c.DeletionPolicy}}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: groupSnapshots, Version: "v1", Kind: "VolumeSnapshotClass"})
	object.SetName(c.Name)
	if c.Default {
		annotate(object, defaultSnapshotClassAnnotation)
	}
	if len(c.Parameters) > 0 {
		parameters := map[string]any{}
		for name, value := range c.Parameters {
			parameters[name] = value
		}
		object.Object["parameters"] = parameters
	}
	return object
}

func annotate(object *unstructured.Unstructured, annotation string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotation] = "true"
	object.SetAnnotations(annotations)
}
