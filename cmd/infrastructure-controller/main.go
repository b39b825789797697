// Command infrastructure-controller fulfils Gardener's Infrastructure objects, or observes them as a secondary controller. It only composes: the process,
// the contract, and a driver or an observer for each type.
package main

import (
	"os"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/infrastructure/aws"
	"github.com/trellis-garden/trellis/internal/infrastructure/openstack"
	"github.com/trellis-garden/trellis/internal/manager"
	"github.com/trellis-garden/trellis/internal/observer"
)

func main() {
	clouds := newCloudFlags()
	os.Exit(manager.Main(manager.Binary{
		Name:           "infrastructure-controller",
		Description:    "Fulfils Gardener's Infrastructure objects: networks, routers, security groups and key pairs of shoots.",
		Types:          []string{openstack.Type, aws.Type},
		Flags:          clouds.flags(),
		AddToScheme:    infrastructure.AddToScheme,
		CacheTransform: infrastructure.CacheTransform,
		Setup:          func(p *manager.Process) error { return setup(p, clouds) },

		Observations:  observer.NamesOf(infrastructure.Observations()),
		ObservedTypes: []string{openstack.Type},
	}))
}

func setup(p *manager.Process, clouds *cloudFlags) error {
	openStack := cloudopenstack.Options{Registerer: p.Registerer, UserAgent: p.Manager.GetConfig().UserAgent}
	if p.Secondary != nil {
		return setupSecondary(p, openStack)
	}
	openStackSessions := cloudopenstack.NewSessions(openStack)
	awsSessions := cloudaws.NewSessions(cloudaws.Options{
		Endpoint: clouds.awsEndpointURL, Registerer: p.Registerer, UserAgent: p.Manager.GetConfig().UserAgent,
	})
	drivers := map[string]infrastructure.Driver{
		openstack.Type: openstack.New(openStackSessions, openstack.Options{FullCheckInterval: clouds.fullCheckInterval}),
		aws.Type:       aws.New(awsSessions, aws.Options{}),
	}
	tracker := &contract.Tracker{}
	p.HandleDebug(contract.TrackerPath, tracker)
	return infrastructure.Add(p.Manager, drivers, contract.Options{
		Types:                     p.Types,
		Classes:                   manager.ClassesAs[extensionsv1alpha1.ExtensionClass](p),
		MaxConcurrentReconciles:   p.MaxConcurrentReconciles,
		IgnoreOperationAnnotation: p.IgnoreOperationAnnotation,
		Registerer:                p.Registerer,
		Tracker:                   tracker,
	})
}
