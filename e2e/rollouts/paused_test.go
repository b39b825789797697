package rollouts

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// While a rollout is paused, a seed that wants its first installation gets it at once, with what was good last. Then the rollout goes on where it was.
func testPaused(t *testing.T, env *environment) {
	env.ensureInstalled(t)
	previous := env.lastGood(t)
	env.withOperator(t, func() {
		mark := env.record.len()
		// However slow the machine is, it does not get past the canaries.
		name := env.release(t, chart(t, "third", false), func(r *installationv1alpha1.Rollout) { r.Waves[0].SoakTime = &metav1.Duration{Duration: never} })
		eventually(t, "the rollout has begun", func() error {
			for _, a := range assignmentsSince(env.record.all(), mark) {
				if a.assigned == name {
					return nil
				}
			}
			return errNotYet
		})
		env.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) { config.Rollout.Paused = true })
		eventually(t, "the rollout is paused", func() error { return env.checkRollout(t, "Paused") })
		paused := env.seedsWithRevision(t, name)

		added := env.newSite(late, 11, 20)
		require.NoError(t, env.addSite(t, added))
		env.sites = append(env.sites, added)
		eventually(t, "the new seed is served", func() error {
			return env.checkInstallation(t, added, env.installations(t, registration)[added.seed], previous, env.contentValue)
		})
		assert.Equal(t, paused, env.seedsWithRevision(t, name), "nobody is given another revision meanwhile")
		assert.Equal(t, candidate, env.revision(t, name).result)

		env.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) { config.Rollout = settings() })
		env.waitForAll(t, name, "third")
		env.waitForResult(t, name, good)
		assignments := env.assignmentsSince(t, mark)
		logAssignments(t, assignments, name)
		assert.Empty(t, env.rules(soak).violations(assignments, name))
		assert.Equal(t, []string{previous, name}, env.assignedTo(t, added.seed))
	})
	env.contentValue = "third"
}

// seedsWithRevision lists the seeds whose installation is to have a revision.
func (env *environment) seedsWithRevision(t *testing.T, revision string) (seeds []string) {
	t.Helper()
	for _, s := range env.sites {
		if installation := env.installations(t, registration)[s.seed]; installation.Annotations[installationv1alpha1.AnnotationRevision] == revision {
			seeds = append(seeds, s.seed)
		}
	}
	return seeds
}
