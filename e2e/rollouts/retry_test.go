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
func testRetry(t *testing.T, env *environment) {
	env.ensureFailed(t)
	known := env.revisions(t)
	name := known[len(known)-1].name
	for seed, installation := range env.installations(t, registration) {
		require.NoError(t, env.site(t, seed).cluster.Client.Create(t.Context(), &corev1.ServiceAccount{
			ObjectMeta: metav1.ObjectMeta{Name: failingName, Namespace: namespaceOf(installation.Name)},
		}))
	}
	env.withOperator(t, func() {
		mark := env.record.len()
		env.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) { config.Rollout = settings() })
		object := deployment()
		require.True(t, exists(t, env.Client, object))
		before := object.DeepCopy()
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, installationv1alpha1.AnnotationRetry, name)
		require.NoError(t, env.Client.Patch(t.Context(), object, client.MergeFrom(before)))

		env.waitForAll(t, name, broken)
		env.waitForResult(t, name, good)
		assignments := env.assignmentsSince(t, mark)
		logAssignments(t, assignments, name)
		assert.Empty(t, env.rules(soak).violations(assignments, name))
		require.True(t, exists(t, env.Client, object))
		assert.NotContains(t, object.Annotations, installationv1alpha1.AnnotationRetry, "it is tried once")
		now := env.revisions(t)
		assert.Equal(t, name, now[len(now)-1].name, "no other revision is made")
		assert.LessOrEqual(t, len(now), len(known), "the oldest may go when one is good")
	})
	env.contentValue = broken
}
