package openstack

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// Type is the type of Infrastructures that the driver reconciles.
const Type = "openstack"

// Driver reconciles Infrastructures of type openstack.
type Driver struct {
	sessions *cloudopenstack.Sessions
	now      func() time.Time
}

var _ infrastructure.Driver = (*Driver)(nil)

// New returns a driver that uses the sessions.
func New(sessions *cloudopenstack.Sessions) *Driver {
	return &Driver{sessions: sessions, now: time.Now}
}

// Validate implements infrastructure.Driver.
func (d *Driver) Validate(shoot *infrastructure.Shoot) field.ErrorList {
	in, errs := inputsOf(shoot)
	if len(errs) > 0 {
		return errs
	}
	recorded, err := loadState(shoot.Infrastructure.Status)
	if err != nil {
		return nil // Reconcile says so: it is nothing that the user could mend
	}
	return in.validate(shoot, recorded)
}

// Reconcile implements infrastructure.Driver.
func (d *Driver) Reconcile(ctx context.Context, shoot *infrastructure.Shoot, recorder contract.StateRecorder) (*infrastructure.Outcome, error) {
	in, errs := inputsOf(shoot)
	if err := configurationProblems(errs); err != nil {
		return nil, err
	}
	recorded, err := loadState(shoot.Infrastructure.Status)
	if err != nil {
		return nil, err
	}
	if shoot.FirstAttempt && recorded.Empty() {
		if err := recordNothingCreated(ctx, recorder, recorded); err != nil {
			return nil, err
		}
	}
	recorded.adoptUpstreamState(shoot.Infrastructure.Status.ProviderStatus != nil)
	rec, err := d.newReconciliation(ctx, shoot, recorder, in, recorded)
	if err != nil {
		return nil, err
	}
	if err := recorder.Run(ctx, rec.reconcileGraph()); err != nil {
		rec.withdrawIntents()
		return nil, err
	}
	config, err := json.Marshal(in.config)
	if err != nil {
		return nil, fmt.Errorf("encoding the fulfilled configuration: %w", err)
	}
	rec.state.SetFact(keyConfig, string(config))
	rec.state.SetFact(keyUnrecorded, "")
	rec.state.SetFact(keyProject, rec.cloud.Token().ProjectID)
	return rec.outcome(), nil
}

// Delete implements infrastructure.Driver.
func (d *Driver) Delete(ctx context.Context, shoot *infrastructure.Shoot, recorder contract.StateRecorder) error {
	recorded, err := loadState(shoot.Infrastructure.Status)
	if err != nil {
		return err
	}
	if recorded.nothingCreated() {
		return nil // nobody ever tried to create anything, perhaps for want of credentials that are accepted
	}
	in, errs := inputsOf(shoot)
	if err := in.fallBackForDelete(shoot, recorded, errs); err != nil {
		return err
	}
	recorded.adoptUpstreamState(shoot.Infrastructure.Status.ProviderStatus != nil)
	rec, err := d.newReconciliation(ctx, shoot, recorder, in, recorded)
	if err != nil {
		return err
	}
	return recorder.Run(ctx, rec.deleteGraph())
}

// recordNothingCreated saves, before anything else, that no resource of the shoot exists. It is valid until the first intents are saved, so that a shoot
// whose credentials were never accepted can be deleted without credentials.
func recordNothingCreated(ctx context.Context, recorder contract.StateRecorder, recorded *state) error {
	recorded.SetFact(keyNothingCreated, "true")
	if err := recorder.RecordIntent(ctx, recorded.infrastructureState()); err != nil {
		return fmt.Errorf("saving that nothing was created yet: %w", err)
	}
	return nil
}

// newReconciliation logs in, and checks the project.
func (d *Driver) newReconciliation(ctx context.Context, shoot *infrastructure.Shoot, recorder contract.StateRecorder, in *inputs, recorded *state) (*reconciliation, error) {
	credentials, err := in.credentials(shoot)
	if err != nil {
		return nil, fmt.Errorf("preparing the login to OpenStack: %w", err)
	}
	session, err := d.sessions.Get(ctx, credentials, shoot.Infrastructure.Spec.Region)
	if err != nil {
		return nil, fmt.Errorf("logging in to OpenStack: %w", err)
	}
	if err := checkProject(shoot, recorded.Fact(keyProject), session.Token().ProjectID); err != nil {
		return nil, err
	}
	return &reconciliation{
		plan: in.newPlan(shoot), state: recorded, cloud: session, recorder: recorder, log: shoot.Log,
		nothingExists: shoot.FirstAttempt && recorded.nothingCreated(), nothingRecorded: recorded.Empty() || recorded.nothingCreated(),
		succeededBefore: succeededBefore(shoot, recorded), startedByUpstream: startedByUpstream(shoot, recorded),
		now: d.now, started: d.now(),
		ensuredSubnets: map[kind]cloudopenstack.Subnet{},
	}, nil
}

// checkProject refuses credentials of another project than the shoot's: all recorded resources would seem to be gone there, and would be created again.
func checkProject(shoot *infrastructure.Shoot, recorded, actual string) error {
	if recorded == "" || recorded == actual {
		return nil
	}
	ref := shoot.Infrastructure.Spec.SecretRef
	return cloud.Errorf(cloud.Configuration, "the shoot lives in the OpenStack project %s, but the credentials in Secret %s/%s are those of project %s: "+
		"restore credentials of project %s; a shoot moves to another project only by being deleted and created anew",
		recorded, ref.Namespace, ref.Name, actual, recorded)
}
