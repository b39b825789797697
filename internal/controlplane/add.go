package controlplane

import (
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
)

const (
	// Finalizer is upstream's, so that a ControlPlane can change hands in both directions.
	Finalizer = "extensions.gardener.cloud/controlplane"
	// timeout bounds one pass, as gardenlet bounds its wait before it asks again. A newer order, such as one to delete by
	// force, is heard when the pass has ended.
	timeout = 3 * time.Minute
	// hibernationInterval is the pause between two looks whether gardenlet has stopped the kube-apiserver.
	hibernationInterval = 5 * time.Second
)

// Add adds the ControlPlane controller to a manager. drivers holds a driver for each type in options.Types; images are
// those of the contract and of all drivers (see ReadImages).
func Add(mgr manager.Manager, drivers map[string]Driver, images images.Vector, options contract.Options) error {
	if err := contract.RequireDrivers("control plane", drivers, options.Types); err != nil {
		return err
	}
	actuator, err := newActuator(drivers, images, rolloutTimeout)
	if err != nil {
		return err
	}
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
