package lifecycle

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/timeline"
)

// newRunBeside returns a run that can take steps in so many seeds.
func newRunBeside(t *testing.T, seeds int) *run {
	t.Helper()
	cloud, err := openstack.NewFake()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	r := newTestRun(t, io.Discard)
	r.now, r.Cloud, r.Registrations = time.Now, cloud, nil
	r.seeds = nil
	for _, name := range []string{"seed-one", "seed-two"}[:seeds] {
		r.Seeds = append(r.Seeds, Seed{Name: name})
		r.seeds = append(r.seeds, &seed{Seed: Seed{Name: name}, client: fake.NewClientBuilder().WithScheme(kubernetes.SeedScheme).Build()})
	}
	r.accounts, r.pods, r.audits = &accounts{}, newPodRecord(), newAudits(r.Landscape)
	r.recorder = timeline.NewRecorder(t.Context(), io.Discard)
	t.Cleanup(func() { assert.NoError(t, r.recorder.Stop()) })
	return r
}

// step returns one without the check of conditions.
func step(name string, do func(context.Context) error) Step {
	return Step{Name: name, limit: time.Minute, without: checkSet{checkConditions}, do: func(ctx context.Context, _ *run) error { return do(ctx) }}
}

func outcomes(report Report) map[string]Outcome {
	found := map[string]Outcome{}
	for _, result := range report.Steps {
		found[result.Name] = result.Outcome
	}
	return found
}

func TestRunSteps_BesideOthers(t *testing.T) {
	r := newRunBeside(t, 2)
	upgraded := make(chan struct{})
	quota := step("quota", func(ctx context.Context) error {
		select {
		case <-upgraded: // only a later step ends it
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	quota.shoot = quotaShoot
	var quotaWasOver bool
	upgrade := step("upgrade", func(context.Context) error { close(upgraded); return nil })
	outage := step("outage", func(context.Context) error { quotaWasOver = len(r.besides) == 0; return nil })
	outage.alone = true
	report := r.runSteps(t.Context(), []Step{quota, upgrade, outage})
	require.NoError(t, report.Err())
	assert.Equal(t, map[string]Outcome{"quota": Passed, "upgrade": Passed, "outage": Passed}, outcomes(report))
	assert.True(t, quotaWasOver, "a step that is alone begins when no other is under way")
	assert.Equal(t, "quota (beside others)", report.Steps[0].row()[0])
	assert.Len(t, report.picture(nil).Steps, 2, "the others cover the whole time")
}

func TestRunSteps_OneSeed(t *testing.T) {
	r := newRunBeside(t, 1)
	isOver := false
	quota := step("quota", func(context.Context) error { isOver = true; return nil })
	quota.shoot = quotaShoot
	upgrade := step("upgrade", func(context.Context) error {
		if !isOver {
			return errors.New("both are under way")
		}
		return nil
	})
	require.NoError(t, r.runSteps(t.Context(), []Step{quota, upgrade}).Err(), "controllers of one seed serve one Shoot after the other")
}

func TestRunSteps_FailureEndsThoseBeside(t *testing.T) {
	r := newRunBeside(t, 2)
	quota := step("quota", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
	quota.shoot = quotaShoot
	upgrade := step("upgrade", func(context.Context) error { return errors.New("no such version") })
	never := step("delete", func(context.Context) error { panic("it must not begin") })
	report := r.runSteps(t.Context(), []Step{quota, upgrade, never})
	require.EqualError(t, report.Err(), "step quota: interrupted: step upgrade failed\nstep upgrade: no such version")
	assert.Equal(t, NotRun, outcomes(report)["delete"])
	assert.Equal(t, "step upgrade failed before it", report.Steps[2].Reason)
}

func TestRunSteps_CountsCallsForTheirStep(t *testing.T) {
	r := newRunBeside(t, 2)
	r.pods.places["127.0.0.1"] = place{seed: "seed-two", program: openstack.InfrastructureController}
	called := make(chan struct{})
	quota := step("quota", func(ctx context.Context) error {
		defer close(called)
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Cloud.AuthURL(), nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
	quota.shoot = quotaShoot
	upgrade := step("upgrade", func(context.Context) error { <-called; return nil })
	report := r.runSteps(t.Context(), []Step{quota, upgrade})
	require.NoError(t, report.Err(), "the budgets of one step do not pay for another's")
	assert.Equal(t, map[string]int{openstack.InfrastructureController: 1}, report.Steps[0].Calls)
	assert.Empty(t, report.Steps[1].Calls)
}
