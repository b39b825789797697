// Command network-controller fulfils Gardener's Network objects and keeps their health. It only composes: the process, the
// contract, and a driver for each type of network plugin.
package main

import (
	"os"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/buildinfo"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/manager"
	"github.com/trellis-garden/trellis/internal/network"
	"github.com/trellis-garden/trellis/internal/network/calico"
	"github.com/trellis-garden/trellis/internal/network/gardenet"
	"github.com/trellis-garden/trellis/internal/observer"
)

func main() {
	os.Exit(manager.Main(manager.Binary{
		Name:           "network-controller",
		Description:    "Fulfils Gardener's Network objects: brings network plugins into shoots, changes them without cutting pods off, and watches their health.",
		Types:          []string{calico.Type, gardenet.Type},
		Observations:   observer.NamesOf(network.Observations()),
		AddToScheme:    network.AddToScheme,
		CacheTransform: network.CacheTransform,
		Setup:          setup,
	}))
}

func setup(p *manager.Process) error {
	if p.Secondary != nil {
		return setupSecondary(p)
	}
	return setupPrimary(p)
}

// setupSecondary adds the observers. They make no requests to clouds and shoots.
func setupSecondary(p *manager.Process) error {
	observers := map[string]network.Observer{
		calico.Type:   calico.Observer{},
		gardenet.Type: gardenet.Observer{},
	}
	return network.AddObserver(p.Manager, observers, observer.Options{
		Types:                   p.Types,
		Classes:                 manager.ClassesAs[extensionsv1alpha1.ExtensionClass](p),
		Observations:            p.Secondary.Observations,
		Interval:                p.Secondary.Interval,
		MaxConcurrentReconciles: p.MaxConcurrentReconciles,
		Marker:                  p.Secondary.Marker,
		Registerer:              p.Registerer,
	})
}

func setupPrimary(p *manager.Process) error {
	vector, err := images.Read(calico.ImageVector(), gardenet.ImageVector())
	if err != nil {
		return err
	}
	drivers := map[string]network.Driver{
		calico.Type:   calico.New(),
		gardenet.Type: gardenet.New(),
	}
	tracker := &contract.Tracker{}
	p.HandleDebug(contract.TrackerPath, tracker)
	options := contract.Options{
		Types:                     p.Types,
		Classes:                   manager.ClassesAs[extensionsv1alpha1.ExtensionClass](p),
		MaxConcurrentReconciles:   p.MaxConcurrentReconciles,
		IgnoreOperationAnnotation: p.IgnoreOperationAnnotation,
		Registerer:                p.Registerer,
		Tracker:                   tracker,
	}
	if err := network.Add(p.Manager, drivers, vector.WithTrellisVersion(buildinfo.Read().Version), options); err != nil {
		return err
	}
	return network.AddHealth(p.Manager, options)
}
