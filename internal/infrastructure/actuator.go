package infrastructure

import (
	"context"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract"
)

type pass = contract.Pass[*extensionsv1alpha1.Infrastructure]

// actuator lets the driver of the object's type do the work.
type actuator struct {
	drivers map[string]Driver
}

var _ contract.Actuator[*extensionsv1alpha1.Infrastructure] = (*actuator)(nil)

// begin returns the driver of the object's type, and its inputs.
func (a *actuator) begin(ctx context.Context, p *pass) (Driver, *Shoot, error) {
	driver, ok := a.drivers[p.Object.Spec.Type]
	if !ok {
		return nil, nil, fmt.Errorf("no driver for type %q", p.Object.Spec.Type)
	}
	shoot, err := readShoot(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	return driver, shoot, nil
}

// ForceDelete has nothing to let go of: an Infrastructure owns nothing in the seed.
func (a *actuator) ForceDelete(context.Context, *pass) error { return nil }

// Migrate has nothing to do: the state that the other seed needs was saved by every pass before.
func (a *actuator) Migrate(context.Context, *pass) error { return nil }

// readShoot gathers a driver's inputs.
func readShoot(ctx context.Context, p *pass) (*Shoot, error) {
	if p.Cluster.Shoot == nil || p.Cluster.CloudProfile == nil {
		return nil, fmt.Errorf("the Cluster resource %q lacks its shoot or its cloud profile", p.Cluster.Name)
	}
	credentials, err := contract.ReadCredentials(ctx, p.Client, p.Object, p.Object.Spec.SecretRef)
	if err != nil {
		return nil, err
	}
	if credentials == nil {
		return nil, contract.NoCredentials(p.Object.Spec.SecretRef, "the cloud cannot be reached without")
	}
	uid, err := p.Cluster.ShootUID()
	if err != nil {
		return nil, err
	}
	return &Shoot{
		Infrastructure: p.Object.DeepCopy(),
		Cluster:        p.Cluster,
		Credentials:    credentials.Data,
		TechnicalID:    p.TechnicalID(),
		UID:            uid,
		FirstAttempt:   p.FirstAttempt,
		Log:            p.Log,
	}, nil
}
