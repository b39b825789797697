package controlplane

import (
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
)

const (
	// Finalizer is upstream's, so that a shoot can move between the controllers in both directions.
	Finalizer = "extensions.gardener.cloud/controlplane"
	// timeout bounds one reconciliation, as gardenlet bounds its wait. A newer request, such as a forced deletion, is handled after it.
	timeout = 3 * time.Minute
	// hibernationInterval is how often it is checked whether gardenlet has stopped the kube-apiserver.
	hibernationInterval = 5 * time.Second
)

// Add adds the ControlPlane controller to a manager. drivers has a driver for each type in options.Types; images are those of
// these types (see ReadImagesOf).
func Add(mgr manager.Manager, drivers map[string]Driver, images Images, options contract.Options) error {
	return AddWithWebhookServer(mgr, drivers, images, nil, options)
}

// AddWithWebhookServer is Add for a process that serves webhooks of shoots. The server is nil if they are disabled.
func AddWithWebhookServer(mgr manager.Manager, drivers map[string]Driver, images Images, server *WebhookServer, options contract.Options) error {
	if err := contract.RequireDrivers("control plane", drivers, options.Types); err != nil {
		return err
	}
	actuator, err := newActuator(drivers, images, rolloutTimeout)
	if err != nil {
		return err
	}
	actuator.ownServer = server
	return contract.Add(mgr, contractOf(actuator), options)
}

func contractOf(actuator contract.Actuator[*extensionsv1alpha1.ControlPlane]) contract.Contract[*extensionsv1alpha1.ControlPlane] {
	return contract.Contract[*extensionsv1alpha1.ControlPlane]{
		Name:      "controlplane",
		Finalizer: Finalizer,
		New:       func() *extensionsv1alpha1.ControlPlane { return &extensionsv1alpha1.ControlPlane{} },
		Timeout:   timeout,
		Actuator:  actuator,
		FollowUp: &contract.FollowUp[*extensionsv1alpha1.ControlPlane]{
			Required: isHibernating, Due: isKubeAPIServerStopped, Interval: hibernationInterval,
		},
	}
}
