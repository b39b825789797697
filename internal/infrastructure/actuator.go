package infrastructure

import (
	"context"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	shoot, err := newShoot(ctx, rec.Client, rec.Object, rec.Cluster)
	if err != nil {
		return nil, err
	}
	shoot.FirstAttempt, shoot.Log = rec.FirstAttempt, rec.Log
	return shoot, nil
}

// newShoot reads what drivers and observers know about a shoot. The object is copied.
func newShoot(ctx context.Context, reader client.Reader, object *extensionsv1alpha1.Infrastructure, cluster *contract.Cluster) (*Shoot, error) {
	if cluster.Shoot == nil || cluster.CloudProfile == nil {
		return nil, fmt.Errorf("the Cluster resource %q lacks its shoot or its cloud profile", cluster.Name)
	}
	credentials, err := contract.ReadCredentials(ctx, reader, object, object.Spec.SecretRef)
	if err != nil {
		return nil, err
	}
	if credentials == nil {
		return nil, contract.NoCredentials(object.Spec.SecretRef, "the cloud cannot be reached without")
	}
	uid, err := cluster.ShootUID()
	if err != nil {
		return nil, err
	}
	return &Shoot{
		Infrastructure: object.DeepCopy(),
		Cluster:        cluster,
		Credentials:    credentials.Data,
		TechnicalID:    cluster.TechnicalID(object.Namespace),
		UID:            uid,
		Decoded:        &contract.Decoded{},
	}, nil
}
