package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/fleet"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const (
	// observedRounds is how often all objects are reconciled while three controllers write their status.
	observedRounds = 3
	// quotaCondition is the condition of the secondary that changes in each round.
	quotaCondition gardencorev1beta1.ConditionType = "InfrastructureQuotaSufficient"
)

// secondaryConditions are all conditions of the secondary.
func secondaryConditions() []gardencorev1beta1.ConditionType {
	return []gardencorev1beta1.ConditionType{
		"InfrastructureWithoutDrift", quotaCondition, "InfrastructureWithoutOrphans", "InfrastructureDeletable", "InfrastructureCredentialsValid",
	}
}

// threeWriters are the writers of the status of the same objects: the primary and the secondary controller, and the library's health checks.
type threeWriters struct {
	env, secondary *testenv.Env
	accounts       []*openstack.Account
	shoots         []*gardenlet.Shoot
	library        *libraryHealth
	history        *statusHistory
}

// testThreeWriters reconciles the objects of a primary again and again, while a secondary controller and the library's health checks write conditions of all
// of them. No write may be lost, and all conflicts must be resolved. No controller runs before and after.
func testThreeWriters(t *testing.T, env *testenv.Env, accounts []*openstack.Account, shoots []*gardenlet.Shoot) {
	t.Helper()
	env.StartController()
	w := &threeWriters{env: env, secondary: env.Secondary(), accounts: accounts, shoots: shoots}
	w.history, w.library = recordStatusHistory(t, env), startLibraryHealth(t, env)
	w.secondary.Options.Args = []string{"--observation-interval=10s"}
	w.secondary.Options.Concurrency = manyInTotal // so that all observations may be in conflict with the library
	w.secondary.StartController()
	for round := range int64(observedRounds) {
		w.round(t, round+1)
	}
	w.library.stop()
	running := fleet.Replica{Controller: w.secondary.Controller}
	metrics, err := running.Metrics(t.Context())
	require.NoError(t, err)
	w.secondary.StopController()
	env.StopController()
	w.assertNothingLost(t, int(metrics.Sum("trellis_observation_conflicts_total")))
	assert.Equal(t, 2*manyAccounts, env.Cloud.Log().Logins(), "one login per account and process")
}

// round changes the quotas of all accounts, requests a reconciliation of all objects, and waits until all writers have written what belongs to the round.
func (w *threeWriters) round(t *testing.T, round int64) {
	t.Helper()
	limit, status := 1000, gardencorev1beta1.ConditionTrue
	if round%2 == 1 {
		limit, status = 0, gardencorev1beta1.ConditionFalse
	}
	for _, account := range w.accounts {
		require.NoError(t, w.env.OpenStack().Fake.SetQuota(account.Project, "instances", limit))
	}
	w.library.round.Store(round)
	release := w.holdWave()
	defer release()
	since := time.Now().Truncate(time.Second)
	forAll(t, w.shoots, func(shoot *gardenlet.Shoot) error { return w.env.Gardenlet.Infrastructure(shoot).Deploy(t.Context()) })
	w.env.Eventually(fmt.Sprintf("everything of round %d is written", round), func() bool {
		settled := 0
		w.history.all(func(now *extensionsv1alpha1.Infrastructure) {
			if isSettled(now, since, round, status) {
				settled++
			}
		})
		return settled == manyInTotal
	})
	t.Logf("round %d took %.0f s", round, time.Since(since).Seconds())
}

// holdWave holds the secondary's next read of a cloud's limits, which only it reads, until the library has written all objects once more: what the secondary
// knows of those that wait for that read is old then. The returned function ends that, too.
func (w *threeWriters) holdWave() (release func()) {
	var once sync.Once
	released := make(chan struct{})
	release = func() { once.Do(func() { close(released) }) }
	w.env.Cloud.SetHook(func(event wire.Event) wire.HookResult {
		if event.Phase != wire.Before || !strings.HasSuffix(event.Call.Path, "/limits") {
			return wire.Proceed
		}
		for number := w.library.checks.Load(); w.history.checkedSince(number) < manyInTotal; {
			select {
			case <-released:
				return wire.Proceed
			case <-time.After(250 * time.Millisecond):
			}
		}
		release()
		return wire.Proceed
	})
	return release
}

// isSettled reports whether an object has the results of all three writers.
func isSettled(now *extensionsv1alpha1.Infrastructure, since time.Time, round int64, quota gardencorev1beta1.ConditionStatus) bool {
	operation, conditions := now.Status.LastOperation, now.Status.Conditions
	if now.Annotations[v1beta1constants.GardenerOperation] != "" || operation == nil ||
		operation.State != gardencorev1beta1.LastOperationStateSucceeded || operation.LastUpdateTime.Time.Before(since) {
		return false
	}
	library := v1beta1helper.GetCondition(conditions, libraryCondition)
	if library == nil || !strings.HasPrefix(library.Message, fmt.Sprintf("round %d,", round)) {
		return false
	}
	for _, kind := range secondaryConditions() {
		condition := v1beta1helper.GetCondition(conditions, kind)
		if condition == nil || kind == quotaCondition && condition.Status != quota {
			return false
		}
	}
	return true
}

// assertNothingLost compares what the watch has seen, what the API server has refused, and what the secondary has counted.
func (w *threeWriters) assertNothingLost(t *testing.T, counted int) {
	t.Helper()
	w.history.lock.Lock()
	assert.Empty(t, w.history.lost, "parts of a status that somebody has written over")
	versions := w.history.versions
	w.history.lock.Unlock()
	written := map[string]int{}
	refused := map[string]int{}
	for _, user := range []string{w.name(), libraryUser} {
		writes, err := w.env.Seed.AuditLog().WritesOf(user)
		require.NoError(t, err)
		for _, write := range writes {
			if isConflict(write) {
				refused[user]++
			} else if write.Resource == "infrastructures/status" {
				written[user]++
			}
		}
	}
	t.Logf("%d versions of %d objects; written and conflicts: secondary %d and %d, library %d and %d", versions, manyInTotal,
		written[w.name()], refused[w.name()], written[libraryUser], refused[libraryUser])
	assert.Positive(t, counted, "nothing was in conflict, so nothing is proved")
	assert.LessOrEqual(t, counted, refused[w.name()], "conflicts that the secondary has counted, and that the API server has seen: a response may be too late")
	assert.NotContains(t, w.secondary.Log(), "the object was changed by others", "conflicts that were not resolved")
}

// name is the user of the secondary.
func (w *threeWriters) name() string { return controller.Secondary(controller.Infrastructure()).Name }

func isConflict(write audit.Write) bool { return write.Code == http.StatusConflict }
