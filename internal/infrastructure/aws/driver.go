package aws

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// Type is the type of Infrastructures that the driver reconciles.
const Type = "aws"

// Driver reconciles Infrastructures of type aws.
type Driver struct {
	sessions *cloudaws.Sessions
	options  Options
	now      func() time.Time
}

var _ infrastructure.Driver = (*Driver)(nil)

// Options configure a driver. The zero value has good defaults.
type Options struct {
	// VisibleAfter is how long after its creation a resource may be missing in lists; default one minute. EC2 shows it after some seconds. Until then, a
	// creation whose response was lost is not repeated.
	VisibleAfter time.Duration
}

// New returns a driver that uses the sessions.
func New(sessions *cloudaws.Sessions, options Options) *Driver {
	options.VisibleAfter = cmp.Or(options.VisibleAfter, time.Minute)
	return &Driver{sessions: sessions, options: options, now: time.Now}
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
	recorded.noteUpstream()
	if shoot.FirstAttempt && recorded.Empty() {
		recorded.SetFact(keyNothingCreated, "true")
		if err := recorder.RecordIntent(ctx, recorded.infrastructureState()); err != nil {
			return nil, fmt.Errorf("saving that nothing was created yet: %w", err)
		}
	}
	rec, err := d.newReconciliation(ctx, shoot, recorder, in.newPlan(shoot, recorded), recorded)
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
	if in.config == nil {
		in.config = recorded.config() // of the configuration only what is given matters
	}
	if in.config == nil {
		return configurationProblems(errs)
	}
	rec, err := d.newReconciliation(ctx, shoot, recorder, in.newPlan(shoot, recorded), recorded)
	if err != nil {
		return err
	}
	return recorder.Run(ctx, rec.deleteGraph())
}

func (d *Driver) newReconciliation(
	ctx context.Context, shoot *infrastructure.Shoot, recorder contract.StateRecorder, wanted *plan, recorded *state,
) (*reconciliation, error) {
	login, err := credentials(shoot)
	if err != nil {
		return nil, fmt.Errorf("preparing requests to AWS: %w", err)
	}
	session, err := d.sessions.Get(ctx, login, wanted.region)
	if err != nil {
		return nil, fmt.Errorf("logging in to AWS: %w", err)
	}
	return &reconciliation{
		plan: wanted, state: recorded, cloud: session, recorder: recorder, log: shoot.Log, now: d.now, visibleAfter: d.options.VisibleAfter,
		nothingExists: shoot.FirstAttempt && recorded.nothingCreated(), zones: map[string]*zoneResources{}, takenIPv6: map[netip.Prefix]bool{}, workersIPv6: map[string]string{},
	}, nil
}

// validate validates the inputs on their own and against the last successful configuration. One that was accepted before is still accepted.
func (in *inputs) validate(shoot *infrastructure.Shoot, recorded *state) field.ErrorList {
	before := recorded.config()
	if before == nil && shoot.Infrastructure.Status.ProviderStatus != nil {
		before = in.config // upstream does not record it
	}
	errs := validation.ValidateInfrastructureConfig(in.config, before, in.networking, configPath())
	if before != nil {
		errs = append(errs, validation.ValidateInfrastructureConfigUpdate(before, in.config, configPath())...)
	}
	return errs
}

// config returns the configuration of the last successful reconciliation, or nil.
func (s *state) config() *awsv1alpha1.InfrastructureConfig {
	text := s.Fact(keyConfig)
	if text == "" {
		return nil
	}
	var config awsv1alpha1.InfrastructureConfig
	if json.Unmarshal([]byte(text), &config) != nil {
		return nil
	}
	return &config
}
