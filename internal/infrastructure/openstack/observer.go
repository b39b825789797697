package openstack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/observer"
)

// Observer observes Infrastructures of type openstack. All shoots of an account are compared with one snapshot of the account.
type Observer struct {
	readers  *cloudopenstack.Readers
	accounts *observer.Shared[cloudopenstack.Account, *snapshot]
}

var _ infrastructure.Observer = (*Observer)(nil)

// NewObserver returns an observer that reads each account at most once in an interval.
func NewObserver(readers *cloudopenstack.Readers, interval time.Duration) *Observer {
	return &Observer{readers: readers, accounts: &observer.Shared[cloudopenstack.Account, *snapshot]{Interval: interval}}
}

// observedShoot is a shoot with the snapshot of its account.
type observedShoot struct {
	recordedShoot
	shoot *infrastructure.Shoot
	cloud *snapshot
	// adopted is true if the upstream extension may have created resources of the shoot.
	adopted bool
}

// Observe implements infrastructure.Observer.
func (o *Observer) Observe(ctx context.Context, input *infrastructure.ObserverInput) (observer.Result, error) {
	in, errs := inputsOf(input.Shoot)
	if err := configurationProblems(errs); err != nil {
		return observer.Result{}, err
	}
	recorded, err := loadState(input.Infrastructure.Status)
	if err != nil {
		return observer.Result{}, err
	}
	credentials, err := in.credentials(input.Shoot)
	if err != nil {
		return withoutLogin(err)
	}
	region := input.Infrastructure.Spec.Region
	account, asOf, err := o.accounts.Get(ctx, o.readers.Account(credentials, region), input.Since, func(ctx context.Context) (*snapshot, error) {
		reader, err := o.readers.Get(ctx, credentials, region)
		if err != nil {
			return nil, fmt.Errorf("logging in to OpenStack: %w", err)
		}
		return readSnapshot(ctx, reader, input)
	})
	if _, tooEarly := errors.AsType[*observer.TooEarlyError](err); tooEarly {
		return observer.Result{}, err
	}
	if err != nil {
		return withoutLogin(err)
	}
	if err := checkProject(input.Shoot, recorded.Fact(keyProject), account.login.ProjectID); err != nil {
		result, err := withoutLogin(err)
		result.AsOf = asOf
		return result, err
	}
	shoot := &observedShoot{
		recordedShoot: recordedShoot{plan: in.lastFulfilled(recorded).newPlan(input.Shoot), state: recorded},
		shoot:         input.Shoot, cloud: account, adopted: recorded.fromUpstream() || recorded.Fact(keyAdopted) != "",
	}
	return observer.Result{Findings: shoot.findings(ctx, input), AsOf: asOf}, nil
}

// lastFulfilled returns the inputs with the configuration of the last successful reconciliation, if it is recorded: a later one is not drift.
func (in *inputs) lastFulfilled(recorded *state) *inputs {
	last := recorded.config()
	if last == nil {
		return in
	}
	fulfilled := *in
	fulfilled.config = last
	return &fulfilled
}

// withoutLogin returns the result if the account cannot be read at all. Credentials that are invalid are a finding; everything else is an error.
func withoutLogin(err error) (observer.Result, error) {
	result := observer.Result{Findings: map[string]observer.Finding{}}
	switch cloud.KindOf(err) {
	case cloud.Unauthenticated, cloud.Configuration:
		result.Findings[infrastructure.ObservationCredentials] = observer.Finding{Message: err.Error()}
	default:
	}
	return result, err
}

// findings returns what is wanted.
func (s *observedShoot) findings(ctx context.Context, input *infrastructure.ObserverInput) map[string]observer.Finding {
	all := map[string]func() observer.Finding{
		infrastructure.ObservationDrift:            s.drift,
		infrastructure.ObservationQuota:            s.quota,
		infrastructure.ObservationOrphans:          func() observer.Finding { return s.orphans(ctx, input.Namespaces) },
		infrastructure.ObservationDeletionBlockers: s.deletionBlockers,
		infrastructure.ObservationCredentials:      func() observer.Finding { return s.cloud.credentials(input.Now) },
	}
	findings := map[string]observer.Finding{}
	for name, observe := range all {
		if !input.Wanted[name] {
			continue
		}
		if err := s.cloud.missing(name); err != nil {
			findings[name] = observer.Finding{Err: err}
			continue
		}
		findings[name] = observe()
	}
	return findings
}

// mostSentences limits a message. The first differences name the cause of others.
const mostSentences = 10

// findingOf is healthy if there are no sentences.
func findingOf(sentences []string, healthy string) observer.Finding {
	if len(sentences) == 0 {
		return observer.Finding{Healthy: true, Message: healthy}
	}
	text := strings.Join(sentences[:min(mostSentences, len(sentences))], "; ")
	if more := len(sentences) - mostSentences; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return observer.Finding{Message: text}
}
