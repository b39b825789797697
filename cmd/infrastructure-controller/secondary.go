package main

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/infrastructure/openstack"
	"github.com/trellis-garden/trellis/internal/manager"
	"github.com/trellis-garden/trellis/internal/observer"
)

// setupSecondary adds observers instead of drivers. Nothing in the process can change a cloud.
func setupSecondary(p *manager.Process, openStack cloudopenstack.Options) error {
	observers := map[string]infrastructure.Observer{
		openstack.Type: openstack.NewObserver(cloudopenstack.NewReaders(openStack), p.Secondary.Interval),
	}
	return infrastructure.AddObserver(p.Manager, observers, observer.Options{
		Types:                   p.Types,
		Classes:                 manager.ClassesAs[extensionsv1alpha1.ExtensionClass](p),
		Observations:            p.Secondary.Observations,
		Interval:                p.Secondary.Interval,
		MaxConcurrentReconciles: p.MaxConcurrentReconciles,
		Marker:                  p.Secondary.Marker,
		Registerer:              p.Registerer,
	})
}
