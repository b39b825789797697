package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/tree"
)

const countsPerLine = 4

// showShoot prints the number of objects that gardener-resource-manager has applied to the shoot, and names those that users use.
func (d *demo) showShoot(ctx context.Context) error {
	resources := &resourcesv1alpha1.ManagedResourceList{}
	if err := d.Source.Client.List(ctx, resources, client.InNamespace(d.shoot.Namespace())); err != nil {
		return err
	}
	d.applied = nil
	for _, resource := range resources.Items {
		if resource.Spec.Class == nil && strings.HasPrefix(resource.Name, "extension-controlplane-") {
			d.applied = append(d.applied, resource.Status.Resources...)
			for _, line := range drawApplied(resource) {
				d.screen.Linef("  %s", line)
			}
		}
	}
	lines, err := d.classes(ctx)
	if err != nil {
		return err
	}
	d.screen.Linef("")
	for _, line := range lines {
		d.screen.Linef("  %s", line)
	}
	return nil
}

// drawApplied prints how many objects of which kind a ManagedResource contains.
func drawApplied(resource resourcesv1alpha1.ManagedResource) []string {
	kinds := map[string]int{}
	for _, reference := range resource.Status.Resources {
		kinds[reference.Kind]++
	}
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		counts = append(counts, fmt.Sprintf("%d %s", kinds[kind], kind))
	}
	var lines []string
	for some := range slices.Chunk(counts, countsPerLine) {
		lines = append(lines, strings.Join(some, ", "))
	}
	return tree.List(resource.Name+"  ManagedResource", lines)
}

// classes lists the storage drivers and their classes.
func (d *demo) classes(ctx context.Context) ([]string, error) {
	drivers, classes, snapshots := &storagev1.CSIDriverList{}, &storagev1.StorageClassList{}, &unstructured.UnstructuredList{}
	snapshots.SetGroupVersionKind(schema.GroupVersionKind{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshotClassList"})
	for _, list := range []client.ObjectList{drivers, classes, snapshots} {
		if err := d.Cluster.Client.List(ctx, list); err != nil {
			return nil, err
		}
	}
	var lines []string
	for _, driver := range drivers.Items {
		lines = append(lines, fmt.Sprintf("%-38s CSIDriver", driver.Name))
	}
	for i := range classes.Items {
		class := &classes.Items[i]
		lines = append(lines, fmt.Sprintf("%-38s StorageClass of %s%s", class.Name, class.Provisioner, isDefault(class, "storageclass.kubernetes.io")))
	}
	for i := range snapshots.Items {
		class := &snapshots.Items[i]
		driver, _, _ := unstructured.NestedString(class.Object, "driver")
		lines = append(lines, fmt.Sprintf("%-38s VolumeSnapshotClass of %s%s", class.GetName(), driver, isDefault(class, "snapshot.storage.kubernetes.io")))
	}
	return lines, nil
}

func isDefault(class metav1.Object, group string) string {
	if class.GetAnnotations()[group+"/is-default-class"] == "true" {
		return ", the default"
	}
	return ""
}
