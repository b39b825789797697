package infrastructure

import (
	"context"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract"
)

type reconciliation = contract.Reconciliation[*extensionsv1alpha1.Infrastructure]

// actuator calls the driver of the object's type.
type actuator struct {
	drivers map[string]Driver
}

var _ contract.Actuator[*extensionsv1alpha1.Infrastructure] = (*actuator)(nil)

// prepare returns the driver of the object's type, and its inputs.
func (a *actuator) prepare(ctx context.Context, rec *reconciliation) (Driver, *Shoot, error) {
	driver, ok := a.drivers[rec.Object.Spec.Type]
	if !ok {
		return nil, nil, fmt.Errorf("no driver for type %q", rec.Object.Spec.Type)
	}
	shoot, err := readShoot(ctx, rec)
	if err != nil {
		return nil, nil, err
	}
	return driver, shoot, nil
}

// ForceDelete does nothing: an Infrastructure owns no object in the seed.
func (a *actuator) ForceDelete(context.Context, *reconciliation) error { return nil }

// Migrate does nothing: each reconciliation has saved the state for the other seed.
func (a *actuator) Migrate(context.Context, *reconciliation) error { return nil }

// readShoot reads a driver's inputs.
func readShoot(ctx context.Context, rec *reconciliation) (*Shoot, error) {
	if rec.Cluster.Shoot == nil || rec.Cluster.CloudProfile == nil {
		return nil, fmt.Errorf("the Cluster resource %q lacks its shoot or its cloud profile", rec.Cluster.Name)
	}
	credentials, err := contract.ReadCredentials(ctx, rec.Client, rec.Object, rec.Object.Spec.SecretRef)
	if err != nil {
		return nil, err
	}
	if credentials == nil {
		return nil, contract.NoCredentials(rec.Object.Spec.SecretRef, "the cloud cannot be reached without")
	}
	uid, err := rec.Cluster.ShootUID()
	if err != nil {
		return nil, err
	}
	return &Shoot{
		Infrastructure: rec.Object.DeepCopy(),
		Cluster:        rec.Cluster,
		Credentials:    credentials.Data,
		TechnicalID:    rec.TechnicalID(),
		UID:            uid,
		FirstAttempt:   rec.FirstAttempt,
		Log:            rec.Log,
		Decoded:        &contract.Decoded{},
	}, nil
}
