package rollouts

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// While a rollout is paused, a seed that wants its first installation gets it at once, with what was good last. Then the rollout goes on where it was.
func testPaused(t *testing.T, w *world) {
	w.begun(t)
	former := w.lastGood(t)
	w.withOperator(t, func() {
		mark := w.record.len()
		// However slow the machine is, it does not get past the canaries.
		name := w.release(t, chart(t, "third", false), func(r *installationv1alpha1.Rollout) { r.Waves[0].SoakTime = &metav1.Duration{Duration: never} })
		eventually(t, "the rollout has begun", func() error {
			for _, a := range assignmentsSince(w.record.all(), mark) {
				if a.assigned == name {
					return nil
				}
			}
			return errNotYet
		})
		w.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) { config.Rollout.Paused = true })
		eventually(t, "the rollout is paused", func() error { return w.rolloutIs(t, "Paused") })
		paused := w.given(t, name)

		added := w.newSite(late, 11, 20)
		require.NoError(t, w.addSite(t, added))
		w.sites = append(w.sites, added)
		eventually(t, "the new seed is served", func() error {
			return w.well(t, added, w.installations(t, registration)[added.seed], former, w.word)
		})
		assert.Equal(t, paused, w.given(t, name), "nobody is given another revision meanwhile")
		assert.Equal(t, candidate, w.revision(t, name).verdict)

		w.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) { config.Rollout = settings() })
		w.awaitAll(t, name, "third")
		w.awaitVerdict(t, name, good)
		assignments := w.assignmentsSince(t, mark)
		tell(t, assignments, name)
		assert.Empty(t, w.rules(soak).broken(assignments, name))
		assert.Equal(t, []string{former, name}, w.assignedTo(t, added.seed))
	})
	w.word = "third"
}

// given lists the seeds whose installation is to have a revision.
func (w *world) given(t *testing.T, revision string) (seeds []string) {
	t.Helper()
	for _, s := range w.sites {
		if installation := w.installations(t, registration)[s.seed]; installation.Annotations[installationv1alpha1.AnnotationRevision] == revision {
			seeds = append(seeds, s.seed)
		}
	}
	return seeds
}
