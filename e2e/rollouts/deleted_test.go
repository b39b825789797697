package rollouts

import (
	"fmt"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What is not registered any more goes from all seeds, with all that it has brought there.
func testDeleted(t *testing.T, env *environment) {
	env.ensureInstalled(t)
	env.withOperator(t, func() {
		require.NoError(t, env.Client.Delete(t.Context(), &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: registration}}))
		eventually(t, "all installations have gone", func() error {
			if left := len(env.installations(t, registration)); left > 0 {
				return fmt.Errorf("%d are left", left)
			}
			return nil
		})
		for i, lines := range env.snapshots(t) {
			assert.Empty(t, lines, "API server %d", i)
		}
		env.assertNoSecretsLeft(t)
	})
	env.assertOthersUntouched(t)
}
