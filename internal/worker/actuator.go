package worker

import (
	"context"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract"
)

type reconciliation = contract.Reconciliation[*extensionsv1alpha1.Worker]

// actuator reconciles Workers: the driver of the object's type describes machines, and the actuator creates them.
type actuator struct {
	drivers   map[string]Driver
	intervals Intervals
}

var _ contract.Actuator[*extensionsv1alpha1.Worker] = (*actuator)(nil)

func (a *actuator) driver(rec *reconciliation) (Driver, error) {
	driver, ok := a.drivers[rec.Object.Spec.Type]
	if !ok {
		return nil, fmt.Errorf("no driver for type %q", rec.Object.Spec.Type)
	}
	return driver, nil
}

// ForceDelete does nothing: gardenlet removes the objects of machines and all Secrets of the namespace itself, with their finalizers. Until
// then machine-controller-manager may still delete machines.
func (a *actuator) ForceDelete(context.Context, *reconciliation) error { return nil }

// Migrate does nothing: gardenlet has stopped machine-controller-manager and saved the machines before, and removes their objects, classes
// and Secrets itself, without their finalizers, so that no machine is deleted.
func (a *actuator) Migrate(context.Context, *reconciliation) error { return nil }
