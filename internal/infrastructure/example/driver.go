package example

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// Type is the type of Infrastructures that the driver reconciles.
const Type = "example"

// Driver reconciles Infrastructures of type example.
type Driver struct {
	sessions *cloudexample.Sessions
}

var _ infrastructure.Driver = (*Driver)(nil)

// New returns a driver that uses the sessions.
func New(sessions *cloudexample.Sessions) *Driver {
	return &Driver{sessions: sessions}
}

// Validate implements infrastructure.Driver.
func (d *Driver) Validate(shoot *infrastructure.Shoot) field.ErrorList {
	_, configErrs := decodeConfig(shoot)
	_, profileErrs := decodeCloudProfile(shoot)
	return append(configErrs, profileErrs...)
}

// Reconcile implements infrastructure.Driver.
func (d *Driver) Reconcile(ctx context.Context, shoot *infrastructure.Shoot, recorder contract.StateRecorder) (*infrastructure.Outcome, error) {
	config, errs := decodeConfig(shoot)
	if err := configurationProblems(errs); err != nil {
		return nil, err
	}
	session, err := d.session(shoot)
	if err != nil {
		return nil, err
	}
	rec := &reconciliation{cloud: session, shoot: shoot, config: config}
	if err := recorder.Run(ctx, rec.reconcileGraph()); err != nil {
		return nil, err
	}
	return rec.outcome(), nil
}

// Delete implements infrastructure.Driver. It needs neither the configuration nor the state.
func (d *Driver) Delete(ctx context.Context, shoot *infrastructure.Shoot, recorder contract.StateRecorder) error {
	session, err := d.session(shoot)
	if err != nil {
		return err
	}
	rec := &reconciliation{cloud: session, shoot: shoot}
	return recorder.Run(ctx, rec.deleteGraph())
}

// session returns the session of the shoot's account.
func (d *Driver) session(shoot *infrastructure.Shoot) (*cloudexample.Session, error) {
	profile, errs := decodeCloudProfile(shoot)
	if err := configurationProblems(errs); err != nil {
		return nil, err
	}
	credentials, err := cloudexample.ParseCredentials(shoot.Credentials)
	if err != nil {
		ref := shoot.Infrastructure.Spec.SecretRef
		return nil, fmt.Errorf("reading the cloud credentials in Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return d.sessions.Get(credentials.WithURL(profile.URL))
}
