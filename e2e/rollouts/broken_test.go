package rollouts

import (
	"errors"
	"slices"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// broken is the word of the revision that never gets well.
const broken = "broken"

// A revision that doesn't get well stops at the canaries and is taken back, and nobody else ever sees it; although the operator is killed at each single
// thing that it writes meanwhile, before it has happened and after.
func testBroken(t *testing.T, env *environment) {
	env.ensureInstalled(t)
	previous, known := env.lastGood(t), env.revisions(t)
	before, installations := env.snapshots(t), env.installations(t, registration)
	untouched := slices.DeleteFunc(slices.Clone(env.sites), func(s site) bool { return s.wave == canary })
	versions := env.versions(t, untouched, installations)

	env.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) {
		config.Chart, config.Rollout = chart(t, broken, true), settings()
		config.Rollout.Waves[0].MaxUnavailable = new(intstr.FromString("100%")) // all three canaries get it
		config.Rollout.HealthGate.Deadline = &metav1.Duration{Duration: 8 * time.Second}
	})
	env.killAtWrites(t, 1, "all seeds are as they were", func() error {
		if revisions := env.revisions(t); len(revisions) == len(known) || revisions[len(revisions)-1].result != bad {
			return errNotYet
		}
		return env.checkInstallations(t, previous, env.contentValue)
	})

	failed := env.revision(t, env.newRevision(t, known))
	assert.Len(t, env.revisions(t), len(known)+1, "it is kept once")
	assert.Regexp(t, "canary-0[123]", failed.reason, "it says where it failed")
	t.Logf("it failed since %s", failed.reason)
	eventually(t, "each seed has what it had", func() error {
		if difference := cmp.Diff(before, env.snapshots(t)); difference != "" {
			return errors.New(difference)
		}
		return nil
	})
	assert.Equal(t, versions, env.versions(t, untouched, installations), "nobody has even touched the others")
	env.assertNoSecretsLeft(t)
	env.assertOthersUntouched(t)
	assert.NotZero(t, env.assertSeen(t, installations, failed.name), "canaries have had it")
}

// assertSeen: a canary that has had the broken revision has had it once, and got back what it had before. One may have been spared: while the operator is
// killed again and again, its time may be up before it gets to the last of them. The others have never even been given it.
func (env *environment) assertSeen(t *testing.T, before map[string]*gardencorev1beta1.ControllerInstallation, failed string) (canaries int) {
	t.Helper()
	now := env.installations(t, registration)
	for _, s := range env.sites {
		values, revisions := s.cluster.contents.of(before[s.seed].Name)
		assigned, history, wanted := env.assignedTo(t, s.seed), historyOf(t, now[s.seed]), historyOf(t, before[s.seed])
		if s.wave != canary {
			assert.NotContains(t, values, broken, s.seed)
			assert.NotContains(t, revisions, failed, s.seed)
			assert.NotContains(t, assigned, failed, s.seed)
			assert.Equal(t, wanted, history, s.seed)
			continue
		}
		previous := statusOf(t, before[s.seed]).Revision
		if slices.Contains(assigned, failed) {
			assert.Equal(t, []string{previous, failed, previous}, assigned[max(0, len(assigned)-3):], s.seed)
			assert.NotContains(t, assigned[:max(0, len(assigned)-3)], failed, s.seed)
		}
		if slices.Contains(history, failed) {
			wanted = slices.Concat([]string{failed, previous}, wanted)
		}
		assert.Equal(t, wanted[:min(len(wanted), maxHistory)], history, s.seed)
		if slices.Contains(values, broken) {
			canaries++
		}
	}
	t.Logf("%d canaries have had it", canaries)
	return canaries
}

// maxHistory is how many entries the history of an installation has.
const maxHistory = 5

// historyOf lists the revisions that an installation had, the latest first.
func historyOf(t *testing.T, installation *gardencorev1beta1.ControllerInstallation) (revisions []string) {
	t.Helper()
	for _, entry := range statusOf(t, installation).History {
		revisions = append(revisions, entry.Revision)
	}
	return revisions
}
