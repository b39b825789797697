package infrastructure

import (
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
)

const (
	// Finalizer is upstream's, so that a shoot can move between the controllers in both directions.
	Finalizer = "extensions.gardener.cloud/infrastructure"
	// timeout bounds one reconciliation. gardenlet waits ten minutes for an Infrastructure and then requests another.
	timeout = 20 * time.Minute
)

// Add adds the Infrastructure controller to a manager. drivers holds a driver for each type in options.Types.
func Add(mgr manager.Manager, drivers map[string]Driver, options contract.Options) error {
	if err := contract.RequireDrivers("infrastructure", drivers, options.Types); err != nil {
		return err
	}
	return contract.Add(mgr, contract.Contract[*extensionsv1alpha1.Infrastructure]{
		Name:      "infrastructure",
		Finalizer: Finalizer,
		New:       func() *extensionsv1alpha1.Infrastructure { return &extensionsv1alpha1.Infrastructure{} },
		Timeout:   timeout,
		Actuator:  &actuator{drivers: drivers},
	}, options)
}
