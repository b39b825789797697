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
func testFirst(t *testing.T, env *environment) {
	env.withOperator(t, func() {
		config := installationv1alpha1.NewControllerDeploymentConfig()
		config.Chart, config.Rollout = chart(t, "first", false), settings()
		config.Rollout.SoakTime = &metav1.Duration{Duration: never}
		env.register(t, config)

		name := env.newRevision(t, nil)
		env.waitForAll(t, name, "first")
		assert.Equal(t, candidate, env.revision(t, name).result, "no wave has had it for long")
		env.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) { config.Rollout = settings() })
		env.waitForResult(t, name, good)
		require.Len(t, env.revisions(t), 1, "how something is rolled out makes no revision")
		for _, s := range env.sites {
			assert.Equal(t, []string{name}, env.assignedTo(t, s.seed))
		}
	})
	env.assertOthersUntouched(t)
	env.contentValue = "first"
}
