package e2e

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testForceDelete deletes a shoot whose cloud cannot be reached any more: in vain, and then by force.
func (l *landscape) testForceDelete(t *testing.T) {
	w := l.newWorld(t)
	w.startController()
	shoot := w.fulfilled("force-delete")
	require.NoError(t, w.cloud.Close())

	component := w.gardenlet.Infrastructure(shoot)
	require.NoError(t, component.Destroy(t.Context()))
	object := w.waitFor(shoot, "the deletion fails", func(object *extensionsv1alpha1.Infrastructure) bool {
		return object.Status.LastError != nil
	})
	assert.Equal(t, gardencorev1beta1.LastOperationTypeDelete, object.Status.LastOperation.Type)
	assert.NotEmpty(t, object.Finalizers, "what cannot be deleted is not forgotten")

	shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	require.NoError(t, w.gardenlet.Prepare(t.Context(), shoot))
	w.destroy(shoot)
}
