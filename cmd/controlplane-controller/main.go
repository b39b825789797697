// Command controlplane-controller fulfils Gardener's ControlPlane objects, keeps their health, and tunes what Gardener itself
// deploys for a shoot. As a secondary controller, it observes ControlPlanes. It only composes: the process, the contract, its webhooks, and a driver for
// each type.
package main

import (
	"os"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/aws"
	"github.com/trellis-garden/trellis/internal/controlplane/openstack"
	"github.com/trellis-garden/trellis/internal/manager"
	"github.com/trellis-garden/trellis/internal/observer"
)

func main() {
	etcd := newEtcdFlags()
	types := []string{openstack.Type, aws.Type}
	os.Exit(manager.Main(manager.Binary{
		Name: "controlplane-controller",
		Description: "Fulfils Gardener's ControlPlane objects: cloud-controller-manager, storage drivers and storage classes of shoots; " +
			"tunes kube-apiserver, kube-controller-manager, kubelet, etcd and credentials by webhooks.",
		Types:          types,
		Webhooks:       controlplane.WebhookNames(types),
		ShootWebhooks:  []string{controlplane.ServiceWebhookName(aws.Type)},
		Observations:   observer.NamesOf(controlplane.Observations()),
		Flags:          etcd.flags(),
		AddToScheme:    controlplane.AddToScheme,
		CacheTransform: controlplane.CacheTransform,
		Setup:          func(p *manager.Process) error { return setup(p, etcd) },
	}))
}

func setup(p *manager.Process, etcd *etcdFlags) error {
	images, err := controlplane.ReadImagesOf(p.Types, map[string][]byte{
		openstack.Type: openstack.ImageVector(),
		aws.Type:       aws.ImageVector(),
	})
	if err != nil {
		return err
	}
	drivers := map[string]controlplane.Driver{
		openstack.Type: openstack.New(),
		aws.Type:       aws.New(),
	}
	if p.Secondary != nil {
		return controlplane.AddObserver(p.Manager, drivers, images, observerOptions(p))
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
	if err := controlplane.AddWithWebhookServer(p.Manager, drivers, images, shootWebhookServer(p, drivers), options); err != nil {
		return err
	}
	if err := controlplane.AddHealth(p.Manager, options); err != nil {
		return err
	}
	return serveWebhooks(p, drivers, images, etcd)
}

// observerOptions are those of a secondary controller. There are no webhooks then.
func observerOptions(p *manager.Process) observer.Options {
	return observer.Options{
		Types:                   p.Types,
		Classes:                 manager.ClassesAs[extensionsv1alpha1.ExtensionClass](p),
		Observations:            p.Secondary.Observations,
		Interval:                p.Secondary.Interval,
		MaxConcurrentReconciles: p.MaxConcurrentReconciles,
		Marker:                  p.Secondary.Marker,
		Registerer:              p.Registerer,
	}
}
