package controlplane

import (
	"testing"

	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testMoveBack lets upstream's extension adopt the adopted shoot, and then Trellis once more. Objects that both have are changed, and never replaced, so that
// nothing restarts for another reason than its own change.
func testMoveBack(t *testing.T, env *environment) {
	env.stopController(t)
	ours, authorities := env.snapshot(t), env.authorities(t)
	env.simulateUpstream(t)
	// gardener-resource-manager may delete objects after they have moved to another ManagedResource, and creates them at the next look.
	clusterstest.Eventually(t, "upstream's extension has all that it had", func() bool { return len(missing(env.fromUpstream, env.snapshot(t))) == 0 })
	theirs := env.snapshot(t)
	assert.Equal(t, authorities, env.authorities(t), "the CA stays")
	assert.ElementsMatch(t, env.upstream.replaced, replaced(ours, theirs))
	assert.Empty(t, missing(theirs, env.fromUpstream), "nothing of Trellis is left")

	env.startController(t)
	env.reconcile(t)
	env.awaitResources(t, env.upstream.resources...)
	env.assertRunning(t, env.upstream.running...)
	again := env.snapshot(t)
	assert.ElementsMatch(t, env.upstream.replaced, replaced(theirs, again))
	assert.Empty(t, missing(ours, again))
	assert.Empty(t, missing(again, ours), "nothing of upstream's extension is left")
	assert.Equal(t, authorities, env.authorities(t))
}

// replaced returns the objects that were deleted and created anew.
func replaced(before, after clusterstest.Snapshot) (names []string) {
	for _, name := range after.RemovedSince(before) {
		if _, exists := after[name]; exists {
			names = append(names, name)
		}
	}
	return names
}

// missing returns the objects that another snapshot lacks, without hashes in names, and without those that gardener-resource-manager collects once they are
// unused.
func missing(in, from clusterstest.Snapshot) (names []string) {
	has := map[string]bool{}
	for name := range from {
		has[withoutHashes([]string{name})[0]] = true
	}
	for name, object := range in {
		plain := withoutHashes([]string{name})[0]
		if !has[plain] && object.Labels[references.LabelKeyGarbageCollectable] == "" {
			names = append(names, plain)
		}
	}
	return names
}
