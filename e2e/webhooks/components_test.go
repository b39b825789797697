package webhooks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/components"
)

// testComponents lets Gardener's own components deploy, and deploy again. What the API server then has is what the driver's
// golden files say.
func testComponents(t *testing.T, env *environment) {
	for folder, version := range map[string]string{"1.32": "1.32.9", "1.36": "1.36.3"} {
		t.Run(folder, func(t *testing.T) {
			shoot := newShoot("v" + strings.ReplaceAll(folder, ".", "-"))
			shoot.KubernetesVersion = version
			env.prepare(t, shoot)
			require.NoError(t, components.Deploy(t.Context(), env.Client, shoot.Namespace(), version))
			for _, name := range []string{"kube-apiserver", "kube-controller-manager", "osc-provision", "osc-reconcile"} {
				want := env.untouched(t, golden(t, folder, name+".after", shoot.Namespace()))
				first := env.stored(t, golden(t, folder, name+".after", shoot.Namespace()))
				assert.Equal(t, content(want), content(first), "%s is tuned", name)

				// The whole object as gardenlet wants it, which takes back all that was tuned.
				again := golden(t, folder, name+".before", shoot.Namespace())
				again.SetResourceVersion(first.GetResourceVersion())
				again.SetAnnotations(first.GetAnnotations())
				require.NoError(t, env.Client.Update(t.Context(), again))
				assert.Equal(t, content(first), content(again), "%s is tuned again", name)
				assert.Equal(t, first.GetResourceVersion(), again.GetResourceVersion(), "%s has not changed in between", name)

				require.NoError(t, env.Client.Update(t.Context(), again))
				assert.Equal(t, first.GetResourceVersion(), again.GetResourceVersion(), "%s does not change by an empty update", name)
			}

			require.NoError(t, components.Deploy(t.Context(), env.Client, shoot.Namespace(), version))
			for _, name := range []string{"kube-apiserver", "kube-controller-manager", "osc-provision", "osc-reconcile"} {
				want := env.untouched(t, golden(t, folder, name+".after", shoot.Namespace()))
				second := env.stored(t, golden(t, folder, name+".after", shoot.Namespace()))
				assert.Equal(t, content(want), content(second), "%s is as tuned as before", name)
				assert.Equal(t, int64(1), second.GetGeneration(), "gardenlet's second pass rolls nothing")
			}
		})
	}
}
