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

// Type is the type of Infrastructures that the driver fulfils.
const Type = "openstack"

// Driver fulfils Infrastructures of type openstack.
type Driver struct {
	sessions *cloudopenstack.Sessions
	now      func() time.Time
}

var _ infrastructure.Driver = (*Driver)(nil)

// New returns a driver that reaches the cloud through the sessions.
func New(sessions *cloudopenstack.Sessions) *Driver {
	return &Driver{sessions: sessions, now: time.Now}
}

// Validate implements infrastructure.Driver.
func (d *Driver) Validate(shoot *infrastructure.Shoot) field.ErrorList {
	in, errs := decodeInputs(shoot)
	if len(errs) > 0 {
		return errs
	}
	recorded, err := loadLedger(shoot.Infrastructure.Status)
	if err != nil {
		return nil // Reconcile says so: it is nothing that the user could mend
	}
	return in.validate(shoot, recorded)
}

// Reconcile implements infrastructure.Driver.
func (d *Driver) Reconcile(ctx context.Context, shoot *infrastructure.Shoot, track contract.Track) (*infrastructure.Outcome, error) {
	in, errs := decodeInputs(shoot)
	if err := configurationProblems(errs); err != nil {
		return nil, err
	}
	recorded, err := loadLedger(shoot.Infrastructure.Status)
	if err != nil {
		return nil, err
	}
	if shoot.FirstAttempt && recorded.empty() {
		if err := noteNothing(ctx, track, recorded); err != nil {
			return nil, err
		}
	}
	recorded.takeOver(shoot.Infrastructure.Status.ProviderStatus != nil)
	p, err := d.begin(ctx, shoot, track, in, recorded)
	if err != nil {
		return nil, err
	}
	if err := track.Run(ctx, p.reconcileGraph()); err != nil {
		p.withdrawIntents()
		return nil, err
	}
	fulfilled, err := json.Marshal(in.config)
	if err != nil {
		return nil, fmt.Errorf("encoding the fulfilled configuration: %w", err)
	}
	p.ledger.note(keyConfig, string(fulfilled))
	p.ledger.note(keyUnrecorded, "")
	p.ledger.note(keyProject, p.cloud.Token().ProjectID)
	return p.outcome(), nil
}

// Delete implements infrastructure.Driver.
func (d *Driver) Delete(ctx context.Context, shoot *infrastructure.Shoot, track contract.Track) error {
	recorded, err := loadLedger(shoot.Infrastructure.Status)
	if err != nil {
		return err
	}
	if recorded.nothing() {
		return nil // nobody ever tried to create anything, perhaps for want of credentials that are accepted
	}
	in, errs := decodeInputs(shoot)
	if err := in.settleForDelete(shoot, recorded, errs); err != nil {
		return err
	}
	recorded.takeOver(shoot.Infrastructure.Status.ProviderStatus != nil)
	p, err := d.begin(ctx, shoot, track, in, recorded)
	if err != nil {
		return err
	}
	return track.Run(ctx, p.deleteGraph())
}

// noteNothing saves, before anything else, that nothing of the shoot exists. It stands until the first intents are saved, so
// that a shoot whose credentials never were accepted can be deleted without any.
func noteNothing(ctx context.Context, track contract.Track, recorded *ledger) error {
	recorded.note(keyNothing, "true")
	if err := track.Intend(ctx, recorded.state()); err != nil {
		return fmt.Errorf("saving that nothing was created yet: %w", err)
	}
	return nil
}

// begin logs in, and makes sure that it is where the shoot lives.
func (d *Driver) begin(ctx context.Context, shoot *infrastructure.Shoot, track contract.Track, in *inputs, recorded *ledger) (*pass, error) {
	credentials, err := in.credentials(shoot)
	if err != nil {
		return nil, fmt.Errorf("preparing the login to OpenStack: %w", err)
	}
	session, err := d.sessions.Get(ctx, credentials, shoot.Infrastructure.Spec.Region)
	if err != nil {
		return nil, fmt.Errorf("logging in to OpenStack: %w", err)
	}
	if err := checkProject(shoot, recorded.fact(keyProject), session.Token().ProjectID); err != nil {
		return nil, err
	}
	return &pass{
		plan: in.newPlan(shoot), ledger: recorded, cloud: session, track: track, log: shoot.Log,
		untouched: shoot.FirstAttempt && recorded.nothing(), fresh: recorded.empty() || recorded.nothing(),
		fulfilled: wasFulfilled(shoot, recorded), begunByUpstream: wasBegunByUpstream(shoot, recorded),
		now: d.now, started: d.now(),
		held: map[kind]cloudopenstack.Subnet{},
	}, nil
}

// checkProject refuses credentials of another project than the one in which the shoot lives: there all that is recorded
// would seem to be gone, and be made anew.
func checkProject(shoot *infrastructure.Shoot, recorded, actual string) error {
	if recorded == "" || recorded == actual {
		return nil
	}
	ref := shoot.Infrastructure.Spec.SecretRef
	return cloud.Errorf(cloud.Configuration, "the shoot lives in the OpenStack project %s, but the credentials in Secret %s/%s are those of project %s: "+
		"restore credentials of project %s; a shoot moves to another project only by being deleted and created anew",
		recorded, ref.Namespace, ref.Name, actual, recorded)
}
