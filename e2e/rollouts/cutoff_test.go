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
func testCutOff(t *testing.T, w *world) {
	w.begun(t)
	cut, former := w.site(t, "canary-02"), w.lastGood(t)
	nobody, err := process.FreeAddress()
	require.NoError(t, err)
	w.withOperator(t, func() {
		name := w.release(t, chart(t, "cutting", false), func(r *installationv1alpha1.Rollout) {
			r.Waves[0].MaxUnavailable, r.Waves[0].SoakTime = new(intstr.FromString("100%")), &metav1.Duration{Duration: never}
			r.HealthGate.Deadline = &metav1.Duration{Duration: time.Minute}
		})
		eventually(t, "a canary is well with it", func() error {
			return w.well(t, cut, w.installations(t, registration)[cut.seed], name, "cutting")
		})
		assert.Equal(t, "Healthy", w.installations(t, registration)[cut.seed].Annotations[installationv1alpha1.AnnotationRevisionBefore])
		w.setAccess(t, cut, leadingTo(t, cut, nobody))
		failed := w.awaitVerdict(t, name, bad)
		assert.Contains(t, failed.reason, "seed canary-02 cannot be reached any more since it got revision "+name)
		assert.NotContains(t, w.given(t, name), "early-01", "the next wave never got it")
		w.setAccess(t, cut, cut.cluster.front.Kubeconfig())
		w.awaitAll(t, former, w.word)
	})
}
