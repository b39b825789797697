package worker

import (
	"context"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract"
)

type reconciliation = contract.Reconciliation[*extensionsv1alpha1.Worker]

// actuator asks the driver of the object's type what machines are like, and does the work.
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

// ForceDelete lets go of everything: gardenlet removes the objects of machines and all Secrets of the namespace itself, whatever their
// finalizers say, and until then machine-controller-manager may still delete a machine or two with what it finds in them.
func (a *actuator) ForceDelete(context.Context, *reconciliation) error { return nil }

// Migrate leaves everything to gardenlet. It has stopped machine-controller-manager and saved the machines before, and removes their
// objects, classes and secrets by itself, all without their finalizers so that nobody deletes a machine for it.
func (a *actuator) Migrate(context.Context, *reconciliation) error { return nil }
