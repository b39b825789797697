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
	checks   fullChecks
	now      func() time.Time
}

var _ infrastructure.Driver = (*Driver)(nil)

// Options configure a driver.
type Options struct {
	// FullCheckInterval is how long after a check of all resources of a shoot a repeated reconciliation reads only its router; 0 checks all resources always.
	FullCheckInterval time.Duration
}

// New returns a driver that uses the sessions.
func New(sessions *cloudopenstack.Sessions, options Options) *Driver {
	return &Driver{sessions: sessions, checks: fullChecks{interval: options.FullCheckInterval}, now: time.Now}
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
	last := d.checks.take(shoot.UID, d.now())
	in, errs := inputsOf(shoot)
	if err := configurationProblems(errs); err != nil {
		return nil, err
	}
	recorded, err := loadState(shoot.Infrastructure.Status)
	if err != nil {
		return nil, err
	}
	if err := d.recordNothingCreated(ctx, shoot, recorder, in, recorded); err != nil {
		return nil, err
	}
	recorded.adoptUpstreamState(shoot.Infrastructure.Status.ProviderStatus != nil)
	rec, err := d.newReconciliation(ctx, shoot, recorder, in, recorded)
	if err != nil {
		return nil, err
	}
	hash, err := hashInputs(shoot)
	if err != nil {
		return nil, err
	}
	unchanged, err := rec.repeats(ctx, shoot, last, hash)
	if err != nil {
		return nil, err
	}
	if unchanged {
		d.checks.put(shoot.UID, last, rec.started)
		return &infrastructure.Outcome{Unchanged: true}, nil
	}
	if err := recorder.Run(ctx, rec.reconcileGraph()); err != nil {
		rec.withdrawIntents()
		return nil, err
	}
	outcome, err := rec.succeed(in)
	if err == nil {
		d.checks.put(shoot.UID, rec.fullCheck(hash), rec.started)
	}
	return outcome, err
}

// succeed records what a later reconciliation compares with, and returns the outcome.
func (rec *reconciliation) succeed(in *inputs) (*infrastructure.Outcome, error) {
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
	d.checks.take(shoot.UID, d.now())
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

// recordNothingCreated saves in a first attempt that no resource of the shoot exists. It is valid until the first intents are saved, so that a shoot whose
// credentials were never accepted can be deleted without credentials. It is saved before anything else, unless the credentials were accepted before: then it
// is saved soon, and the intents replace it as a rule.
func (d *Driver) recordNothingCreated(
	ctx context.Context, shoot *infrastructure.Shoot, recorder contract.StateRecorder, in *inputs, recorded *state,
) error {
	if !shoot.FirstAttempt || !recorded.Empty() {
		return nil
	}
	recorded.SetFact(keyNothingCreated, "true")
	if credentials, err := in.credentials(shoot); err == nil && d.sessions.LoggedIn(credentials, shoot.Infrastructure.Spec.Region) {
		recorder.RecordState(recorded.infrastructureState())
		return nil
	}
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
		recordedShoot: recordedShoot{plan: in.newPlan(shoot), state: recorded}, cloud: session, recorder: recorder, log: shoot.Log,
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
