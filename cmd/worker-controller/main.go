// Command worker-controller fulfils Gardener's Worker objects, keeps their health, and puts the machine controller beside the
// machine-controller-manager that gardenlet deploys. As a secondary controller, it observes Workers. It only composes: the process, the contract, its
// webhooks, and a driver and an observer for each type.
package main

import (
	"os"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/manager"
	"github.com/trellis-garden/trellis/internal/observer"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/aws"
	"github.com/trellis-garden/trellis/internal/worker/openstack"
)

func main() {
	types := []string{openstack.Type, aws.Type}
	machines := &machineController{}
	os.Exit(manager.Main(manager.Binary{
		Name: "worker-controller",
		Description: "Fulfils Gardener's Worker objects: classes and deployments of machines for each pool and zone; " +
			"adds the machine controller to machine-controller-manager by webhooks.",
		Types:          types,
		Webhooks:       worker.WebhookNames(types),
		Observations:   observer.NamesOf(worker.Observations()),
		Flags:          machines.flags(),
		AddToScheme:    worker.AddToScheme,
		CacheTransform: worker.CacheTransform,
		Setup: func(p *manager.Process) error {
			if p.Secondary != nil {
				return setupSecondary(p)
			}
			return setup(p, machines)
		},
	}))
}

// setupSecondary adds the observers. They make no requests to clouds, and there are no webhooks.
func setupSecondary(p *manager.Process) error {
	observers := map[string]worker.Observer{
		openstack.Type: openstack.NewObserver(),
		aws.Type:       aws.New(),
	}
	return worker.AddObserver(p.Manager, observers, observer.Options{
		Types:                   p.Types,
		Classes:                 manager.ClassesAs[extensionsv1alpha1.ExtensionClass](p),
		Observations:            p.Secondary.Observations,
		Interval:                p.Secondary.Interval,
		MaxConcurrentReconciles: p.MaxConcurrentReconciles,
		Marker:                  p.Secondary.Marker,
		Registerer:              p.Registerer,
	})
}

func setup(p *manager.Process, machines *machineController) error {
	openStackSessions := cloudopenstack.NewSessions(cloudopenstack.Options{
		Registerer: p.Registerer,
		UserAgent:  p.Manager.GetConfig().UserAgent,
	})
	drivers := map[string]worker.Driver{
		openstack.Type: openstack.New(openStackSessions),
		aws.Type:       aws.New(),
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
	if err := worker.Add(p.Manager, drivers, options); err != nil {
		return err
	}
	if err := worker.AddHealth(p.Manager, options); err != nil {
		return err
	}
	return serveWebhooks(p, machines)
}
