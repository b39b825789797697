package rollouts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// A revision since which a seed cannot be reached any more is not good, although all others are well with it; it fails, and goes no further.
func testCutOff(t *testing.T, env *environment) {
	env.ensureInstalled(t)
	cut, previous := env.site(t, "canary-02"), env.lastGood(t)
	unusedAddress, err := process.FreeAddress()
	require.NoError(t, err)
	env.withOperator(t, func() {
		name := env.release(t, chart(t, "cutting", false), func(r *installationv1alpha1.Rollout) {
			r.Waves[0].MaxUnavailable, r.Waves[0].SoakTime = new(intstr.FromString("100%")), &metav1.Duration{Duration: never}
			r.HealthGate.Deadline = &metav1.Duration{Duration: time.Minute}
		})
		eventually(t, "a canary is well with it", func() error {
			return env.checkInstallation(t, cut, env.installations(t, registration)[cut.seed], name, "cutting")
		})
		assert.Equal(t, "Healthy", env.installations(t, registration)[cut.seed].Annotations[installationv1alpha1.AnnotationRevisionBefore])
		env.setAccess(t, cut, kubeconfigTo(t, cut, unusedAddress))
		failed := env.waitForResult(t, name, bad)
		assert.Contains(t, failed.reason, "seed canary-02 cannot be reached any more since it got revision "+name)
		assert.NotContains(t, env.seedsWithRevision(t, name), "early-01", "the next wave never got it")
		env.setAccess(t, cut, cut.cluster.proxy.Kubeconfig())
		env.waitForAll(t, previous, env.contentValue)
	})
}
