package rollouts

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// What is registered for the first time is served everywhere at once: installations that are new wait for no wave. It is good when every wave has had
// it for long enough.
func testFirst(t *testing.T, w *world) {
	w.withOperator(t, func() {
		config := installationv1alpha1.NewControllerDeploymentConfig()
		config.Chart, config.Rollout = chart(t, "first", false), settings()
		config.Rollout.SoakTime = &metav1.Duration{Duration: never}
		w.register(t, config)

		name := w.newRevision(t, nil)
		w.awaitAll(t, name, "first")
		assert.Equal(t, candidate, w.revision(t, name).verdict, "no wave has had it for long")
		w.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) { config.Rollout = settings() })
		w.awaitVerdict(t, name, good)
		require.Len(t, w.revisions(t), 1, "how something is rolled out makes no revision")
		for _, s := range w.sites {
			assert.Equal(t, []string{name}, w.assignedTo(t, s.seed))
		}
	})
	w.assertOthersUntouched(t)
	w.word = "first"
}
