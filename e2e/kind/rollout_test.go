//go:build kind

package kind

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
)

// pollInterval is the interval of checks of a rollout.
const pollInterval = 100 * time.Millisecond

// rollout is what has been observed of a rollout since its start.
type rollout struct {
	env     *environment
	binary  string
	version string
	cancel  context.CancelFunc
	ended   chan struct{}
	begun   chan struct{}

	lock        sync.Mutex
	start       time.Time
	progressing period // in which the ControllerInstallation says so
	held        period // in which gardenlet lets no shoot go on that needs the controller
	rolling     period // in which the Deployment is not complete
	fewest      int    // pods that were ready at once
	leaders     []leader
	err         error
}

// leader is a leader and the time of its election.
type leader struct {
	pod   string
	since time.Time
}

// period is between the first and the last observation of a state.
type period struct{ first, last time.Time }

func (p *period) extend(is bool) {
	switch now := time.Now(); {
	case is && p.first.IsZero():
		p.first, p.last = now, now
	case is:
		p.last = now
	}
}

func (p *period) length() time.Duration { return p.last.Sub(p.first).Round(pollInterval) }

// upgrade changes a controller's version, and observes the rollout.
func (env *environment) upgrade(t *testing.T, binary, version string) *rollout {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &rollout{
		env: env, binary: binary, version: version, cancel: cancel,
		ended: make(chan struct{}), begun: make(chan struct{}), start: time.Now(), fewest: len(env.readyPods(t, binary)),
	}
	r.observe(ctx)
	require.NoError(t, r.err)
	require.NoError(t, env.Upgrade(t.Context(), binary, version))
	go func() {
		defer close(r.ended)
		for tick := time.NewTicker(pollInterval); ctx.Err() == nil; {
			<-tick.C
			r.observe(ctx)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-r.ended
	})
	return r
}

// observe reads the whole state.
func (r *rollout) observe(ctx context.Context) {
	installation, err := r.env.Installation(ctx, r.binary)
	deployment, deploymentErr := r.env.Deployment(ctx, r.binary)
	ready, readyErr := r.env.ReadyPods(ctx, r.binary)
	lease, leaseErr := r.env.Lease(ctx, r.binary, kindseed.LeaderElectionID(r.binary))
	if ctx.Err() != nil {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if err := errors.Join(err, deploymentErr, readyErr, leaseErr); err != nil {
		r.err = err
		return
	}
	progressing := v1beta1helper.GetCondition(installation.Status.Conditions, gardencorev1beta1.ControllerInstallationProgressing)
	r.progressing.extend(progressing == nil || progressing.Status != gardencorev1beta1.ConditionFalse)
	r.held.extend(!v1beta1helper.IsControllerInstallationSuccessful(*installation))
	if image(deployment) == kindseed.Image(r.binary, r.version) {
		if r.rolling.first.IsZero() {
			close(r.begun)
		}
		r.rolling.extend(r.rolling.first.IsZero() || !complete(deployment))
	}
	r.fewest = min(r.fewest, len(ready))
	r.note(lease)
}

func (r *rollout) note(lease *coordinationv1.Lease) {
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return
	}
	pod := (*lease.Spec.HolderIdentity)[:strings.LastIndex(*lease.Spec.HolderIdentity, "_")]
	if len(r.leaders) == 0 || r.leaders[len(r.leaders)-1].pod != pod {
		r.leaders = append(r.leaders, leader{pod: pod, since: lease.Spec.AcquireTime.Time})
	}
}

// awaitBegin waits until the Deployment has the new version.
func (r *rollout) awaitBegin(t *testing.T) {
	t.Helper()
	select {
	case <-r.begun:
	case <-time.After(timeout):
		require.FailNow(t, "waited in vain for the beginning of a rollout")
	}
}

// awaitEnd waits until all pods have the new version, one leads, and gardenlet accepts the installation.
func (r *rollout) awaitEnd(t *testing.T) {
	t.Helper()
	r.awaitBegin(t)
	require.NoError(t, r.env.rolledOut(t.Context(), r.binary, isImage(r.binary, r.version)))
	_, err := r.env.Leader(t.Context(), r.binary)
	require.NoError(t, err)
	time.Sleep(3 * pollInterval) // the last looks
	r.cancel()
	<-r.ended
	t.Logf("%s %s: the Deployment changed after %s and rolled out for %s; its ControllerInstallation was progressing for %s, "+
		"and gardenlet held shoots back for %s; %d pods or more were ready at any time; leaders: %s",
		r.binary, r.version, r.rolling.first.Sub(r.start).Round(pollInterval), r.rolling.length(), r.progressing.length(), r.held.length(),
		r.fewest, r.leaderHistory())
}

func (r *rollout) leaderHistory() string {
	names := make([]string, 0, len(r.leaders))
	for _, leader := range r.leaders {
		names = append(names, fmt.Sprintf("%s (%s)", leader.pod, leader.since.Sub(r.start).Round(pollInterval)))
	}
	return strings.Join(names, ", ")
}

// requireSmooth requires that there were always as many ready pods as before.
func (r *rollout) requireSmooth(t *testing.T) {
	t.Helper()
	require.NoError(t, r.err)
	assert.GreaterOrEqual(t, r.fewest, 2, "nothing is taken away before its successor is ready")
}

// handedOver is when the present leader was elected.
func (r *rollout) handedOver(t *testing.T) time.Time {
	t.Helper()
	require.Greater(t, len(r.leaders), 1, "another replica leads: %s", r.leaderHistory())
	return r.leaders[len(r.leaders)-1].since
}
