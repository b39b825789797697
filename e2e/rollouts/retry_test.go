package rollouts

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// What was missing in the seeds is there now, and an admin lets the revision that failed for want of it be tried once more.
func testRetry(t *testing.T, w *world) {
	w.failed(t)
	known := w.revisions(t)
	name := known[len(known)-1].name
	for seed, installation := range w.installations(t, registration) {
		require.NoError(t, w.site(t, seed).cluster.Client.Create(t.Context(), &corev1.ServiceAccount{
			ObjectMeta: metav1.ObjectMeta{Name: troubleName, Namespace: namespaceOf(installation.Name)},
		}))
	}
	w.withOperator(t, func() {
		mark := w.record.len()
		w.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) { config.Rollout = settings() })
		object := deployment()
		require.True(t, exists(t, w.Client, object))
		before := object.DeepCopy()
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, installationv1alpha1.AnnotationRetry, name)
		require.NoError(t, w.Client.Patch(t.Context(), object, client.MergeFrom(before)))

		w.awaitAll(t, name, broken)
		w.awaitVerdict(t, name, good)
		assignments := w.assignmentsSince(t, mark)
		tell(t, assignments, name)
		assert.Empty(t, w.rules(soak).broken(assignments, name))
		require.True(t, exists(t, w.Client, object))
		assert.NotContains(t, object.Annotations, installationv1alpha1.AnnotationRetry, "it is tried once")
		now := w.revisions(t)
		assert.Equal(t, name, now[len(now)-1].name, "no other revision is made")
		assert.LessOrEqual(t, len(now), len(known), "the oldest may go when one is good")
	})
	w.word = broken
}
