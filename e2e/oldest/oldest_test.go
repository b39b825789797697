package oldest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// TestOldest brings a shoot to life on a seed of today and on one of the oldest Gardener, and compares what is kept.
func TestOldest(t *testing.T) {
	version, dir, err := gardener(t.Context())
	require.NoError(t, err)
	t.Log("the oldest Gardener is " + version)
	var today, then fields
	var runs sync.WaitGroup
	runs.Go(func() { t.Run("Today", func(t *testing.T) { today = runShoot(t, clusters.Options{}) }) })
	runs.Go(func() {
		t.Run(version, func(t *testing.T) {
			then = runShoot(t, clusters.Options{Seed: []seed.Option{seed.WithGardenerSource(dir)}})
		})
	})
	runs.Wait()
	if t.Failed() {
		return
	}
	for kind, least := range map[string]int{
		"Infrastructure.status.": 15, "ControlPlane.status.": 5, "Network.status.": 15, "Worker.status.": 15,
		"MachineClass.": 15, "MachineDeployment.spec.": 15, "Machine.spec.": 3, "VerticalPodAutoscaler.spec.": 5,
		"PrometheusRule.spec.": 3, "ScrapeConfig.spec.": 5, "ServiceMonitor.spec.": 5, "ManagedResource.spec.": 3,
	} {
		assert.GreaterOrEqual(t, len(today.of(kind)), least, "there is something to compare of %s: %v", kind, today.of(kind))
	}
	assert.Empty(t, today.without(then), "%s drops these without a word", version)
	assert.Empty(t, then.without(today), "today's Gardener drops these without a word")
}
