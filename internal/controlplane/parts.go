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

// parts turns a plan into objects.
type parts struct {
	plan       *Plan
	components []component.Component
	shoot      csi.Shoot
}

// newParts adds to what the plan names what follows from it: the controllers of the storage drivers, and the one for
// snapshots where any of them takes some.
func newParts(plan *Plan, images images.Vector, kubernetes gardencorev1beta1.Kubernetes) *parts {
	p := &parts{plan: plan, components: slices.Clone(plan.Components), shoot: csi.Shoot{
		Image:                 ImagesFor(images, kubernetes.Version),
		VerticalPodAutoscaler: kubernetes.VerticalPodAutoscaler != nil && kubernetes.VerticalPodAutoscaler.Enabled,
	}}
	for _, driver := range plan.CSIDrivers {
		p.components = append(p.components, driver.Component())
	}
	if csi.HasSnapshots(plan.CSIDrivers) {
		p.components = append(p.components, csi.SnapshotController())
	}
	return p
}

// shootAccess lists the ServiceAccounts in the shoot that components log in as.
func (p *parts) shootAccess() []string {
	var names []string
	for _, c := range p.components {
		names = append(names, c.ShootAccesses()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// seedObjects are those in the shoot's namespace of the seed. surroundings lacks the images.
func (p *parts) seedObjects(surroundings component.Surroundings) ([]client.Object, error) {
	surroundings.Image = p.shoot.Image
	var objects []client.Object
	for _, c := range p.components {
		its, err := component.Objects(c, surroundings)
		if err != nil {
			return nil, fmt.Errorf("rendering: %w", err)
		}
		objects = append(objects, its...)
	}
	return objects, nil
}

// shootObjects are those in the shoot, but for definitions and classes.
func (p *parts) shootObjects() ([]client.Object, error) {
	objects := slices.Clone(p.plan.ShootObjects)
	its, err := csi.ShootObjects(p.plan.CSIDrivers, p.shoot)
	if err != nil {
		return nil, fmt.Errorf("rendering storage drivers: %w", err)
	}
	return append(objects, its...), nil
}

// classes are the storage and snapshot classes.
func (p *parts) classes() []client.Object {
	return csi.Classes(p.plan.StorageClasses, p.plan.SnapshotClasses)
}
