package controlplane

import (
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
)

// renderer renders a plan as objects.
type renderer struct {
	plan       *Plan
	components []component.Component
	shoot      csi.Shoot
}

// newRenderer adds to the plan the controllers of the storage drivers that run in the seed, and the snapshot controller if a driver supports snapshots.
func newRenderer(plan *Plan, images images.Vector, kubernetes gardencorev1beta1.Kubernetes) *renderer {
	r := &renderer{plan: plan, components: slices.Clone(plan.Components), shoot: csi.Shoot{
		Image:                 ImagesFor(images, kubernetes.Version),
		VerticalPodAutoscaler: kubernetes.VerticalPodAutoscaler != nil && kubernetes.VerticalPodAutoscaler.Enabled,
	}}
	for _, driver := range plan.CSIDrivers {
		if driver.ShootController == nil {
			r.components = append(r.components, driver.Component())
		}
	}
	if csi.HasSnapshots(plan.CSIDrivers) {
		r.components = append(r.components, csi.SnapshotController())
	}
	return r
}

// shootAccess lists the components' ServiceAccounts in the shoot.
func (r *renderer) shootAccess() []string {
	var names []string
	for _, c := range r.components {
		names = append(names, c.ShootAccesses()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// seedObjects are the objects in the shoot's namespace of the seed. values has no images.
func (r *renderer) seedObjects(values component.Values) ([]client.Object, error) {
	values.Image = r.shoot.Image
	var objects []client.Object
	for _, c := range r.components {
		rendered, err := component.Objects(c, values)
		if err != nil {
			return nil, fmt.Errorf("rendering: %w", err)
		}
		objects = append(objects, rendered...)
	}
	return objects, nil
}

// shootObjects are the objects in the shoot, without CRDs and classes.
func (r *renderer) shootObjects() ([]client.Object, error) {
	objects := slices.Clone(r.plan.ShootObjects)
	rendered, err := csi.ShootObjects(r.plan.CSIDrivers, r.shoot)
	if err != nil {
		return nil, fmt.Errorf("rendering storage drivers: %w", err)
	}
	return append(objects, rendered...), nil
}

// classes are the storage and snapshot classes.
func (r *renderer) classes() []client.Object {
	return csi.Classes(r.plan.StorageClasses, r.plan.SnapshotClasses)
}
