package aws

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
)

func poolWith(workerConfig string) gardencorev1beta1.Worker {
	return gardencorev1beta1.Worker{Name: "pool", ProviderConfig: &runtime.RawExtension{
		Raw: []byte(`{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig",` + workerConfig + `}`),
	}}
}

// Elastic fabric adapters need a rule out to their own group: AWS does not let them use the one to everywhere.
func TestDriver_FabricAdapters(t *testing.T) {
	for sentence, config := range map[string]string{
		"a pool has adapters with addresses":    `"networkInterfaces":[{"networkCardIndex":0},{"networkCardIndex":1,"type":"efa"}]`,
		"a pool has adapters without addresses": `"networkInterfaces":[{"networkCardIndex":0},{"networkCardIndex":1,"type":"efa-only"}]`,
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			env.pools = []gardencorev1beta1.Worker{{Name: "other"}, poolWith(config)}
			env.mustReconcile()
			groups, err := env.operator().ListSecurityGroups(t.Context(), cloudaws.Filter{Name: technicalID + "-nodes"})
			require.NoError(t, err)
			require.Len(t, groups, 1)
			group := groups[0]
			assert.Contains(t, group.Rules, cloudaws.Rule{Protocol: cloudaws.AllProtocols, GroupID: group.ID, Egress: true})
			env.calls()
			env.mustReconcile()
			assert.Empty(t, env.writes(), "a no-op")

			env.pools = env.pools[:1]
			env.mustReconcile()
			assert.Equal(t, []string{"RevokeSecurityGroupEgress"}, env.writes(), "without the pool")
			require.NoError(t, env.delete())
			assert.Empty(t, env.cloud.Resources())
		})
	}
}

func TestDriver_UnreadableWorkerConfig(t *testing.T) {
	env := newEnvironment(t)
	env.pools = []gardencorev1beta1.Worker{{Name: "other"}, poolWith(`"networkInterfaces":"efa"`)}
	_, err := env.reconcile()
	require.ErrorContains(t, err, "shoot.spec.provider.workers[1].providerConfig")
	assert.Empty(t, env.calls())
}
