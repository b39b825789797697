//go:build kind

package kind

import (
	"testing"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
)

const (
	// infrastructureSecondary is the registration of a secondary controller.
	infrastructureSecondary = "infrastructure-secondary"
	// observedLabel is the label of seeds that it is installed on.
	observedLabel = "observed"
)

// TestSecondary registers a secondary controller beside its primary for seeds with a label. The seed gets the label, and loses it: the pods of the
// secondary remove what it has written, and nothing of the installation is left.
func TestSecondary(t *testing.T) {
	env := getEnvironment(t)
	shoot := env.newShoot(t, "observed")
	require.NoError(t, shoot.ReconcileInfrastructure(t.Context()))
	reconciled := env.infrastructureStatus(t, shoot)
	before := env.takeSnapshot(t)
	var others []ownedObjects
	for _, binary := range controllers() {
		others = append(others, env.ownedObjects(t, binary))
	}

	require.NoError(t, env.RegisterSecondary(t.Context(), infrastructureSecondary, firstVersion, map[string]any{"observationInterval": "10s"},
		map[string]string{observedLabel: "true"}))
	env.labelSeed(t, true)
	require.NoError(t, env.AwaitInstalled(t.Context(), infrastructureSecondary))
	require.Len(t, env.readyPods(t, infrastructureSecondary), 2)
	env.assertHeartbeat(t, infrastructureSecondary)
	eventually(t, "the Infrastructure is observed", func() bool {
		credentials := v1beta1helper.GetCondition(env.infrastructureStatus(t, shoot).Conditions, "InfrastructureCredentialsValid")
		return credentials != nil && credentials.Status == gardencorev1beta1.ConditionTrue
	})
	gone := env.ownedObjects(t, infrastructureSecondary)

	env.labelSeed(t, false)
	env.awaitGone(t, gone)
	assert.Equal(t, reconciled, env.infrastructureStatus(t, shoot), "the status is as the primary has left it")
	after := env.takeSnapshot(t)
	assert.Empty(t, gone.of(after))
	for _, other := range others {
		assert.Empty(t, other.of(before).changed(other.of(after)), "objects of %s have changed", other.binary)
	}
	env.awaitUnregistered(t, env.unregister(t, infrastructureSecondary))
	env.deleteShoots(t, shoot)
}

// labelSeed gives the Seed the label, or removes it.
func (env *environment) labelSeed(t *testing.T, observed bool) {
	t.Helper()
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: kindseed.SeedName}}
	require.NoError(t, env.Garden.Client.Get(t.Context(), client.ObjectKeyFromObject(seed), seed))
	before := seed.DeepCopy()
	if delete(seed.Labels, observedLabel); observed {
		metav1.SetMetaDataLabel(&seed.ObjectMeta, observedLabel, "true")
	}
	require.NoError(t, env.Garden.Client.Patch(t.Context(), seed, client.MergeFrom(before)))
}

// infrastructureStatus reads the status of a shoot's Infrastructure.
func (env *environment) infrastructureStatus(t *testing.T, shoot *kindseed.Shoot) extensionsv1alpha1.InfrastructureStatus {
	t.Helper()
	object, err := env.Gardenlet.Get(t.Context(), shoot.Shoot)
	require.NoError(t, err)
	return object.Status
}
