package infrastructuretest

import (
	"fmt"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// scenario is a story with nothing going wrong in it.
type scenario struct {
	name string
	run  func(*testing.T, *contracttest.APIServer, *environment)
}

func scenarios() []scenario {
	return []scenario{
		{"create, again, delete", createReconcileDelete},
		{"delete with the state lost", deleteWithoutState},
		{"delete what is deleted already", deleteTwice},
		{"delete what never came to be", deleteNeverReconciled},
		{"move to another seed with the state alone", migrateToAnotherSeed},
	}
}

const (
	// maxCreateWrites are the writes of a creation to the API server: accepted, its annotation removed, nothing created yet, intents, result.
	maxCreateWrites = 5
	// stateInterval is the least time between further writes of state. On a busy machine there are some.
	stateInterval = 250 * time.Millisecond
)

// createReconcileDelete holds the creation to few writes to the API server, and the second reconciliation to doing nothing: no write to the cloud, two to
// the API server.
func createReconcileDelete(t *testing.T, server *contracttest.APIServer, env *environment) {
	s := newHarness(t, server, env)
	s.host.Faults.Arm(nil)
	started := time.Now()
	s.create()
	created, _, _ := s.host.Faults.Disarm()
	most := maxCreateWrites + int(time.Since(started)/stateInterval)
	createWrites := contracttest.WritesTo(contracttest.KubeAPI, created)
	assert.LessOrEqual(t, len(createWrites), most, "writes of a creation to the API server: %v", createWrites)
	require.NoError(t, s.gardenlet.Backdate(t.Context(), time.Minute))

	s.host.Faults.Arm(nil)
	require.NoError(t, s.gardenlet.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
	s.waitReady()
	calls, _, _ := s.host.Faults.Disarm()
	assert.Empty(t, contracttest.WritesTo(contracttest.Cloud, calls), "a no-op changes the cloud")
	writes := contracttest.WithoutProgress(contracttest.WritesTo(contracttest.KubeAPI, calls))
	assert.LessOrEqual(t, len(writes), 2, "writes of a no-op to the API server: %v", writes)
	s.delete()
}

// deleteWithoutState leaves the driver nothing but the marks on its resources.
func deleteWithoutState(t *testing.T, server *contracttest.APIServer, env *environment) {
	s := newHarness(t, server, env)
	s.create()
	require.NoError(t, s.gardenlet.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Infrastructure) {
		object.Status.State, object.Status.ProviderStatus = nil, nil
	}))
	s.delete()
}

// deleteTwice deletes an object whose state names resources that do not exist any more.
func deleteTwice(t *testing.T, server *contracttest.APIServer, env *environment) {
	s := newHarness(t, server, env)
	status := s.create().Status
	s.delete()

	again := newHarness(t, server, env, finalizer)
	again.deploy(v1beta1constants.GardenerOperationWaitForState)
	require.NoError(t, again.gardenlet.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Infrastructure) {
		object.Status = status
	}))
	again.delete()
}

// deleteNeverReconciled deletes an object that was never reconciled.
func deleteNeverReconciled(t *testing.T, server *contracttest.APIServer, env *environment) {
	s := newHarness(t, server, env, finalizer)
	s.deploy(v1beta1constants.GardenerOperationWaitForState)
	s.delete()
}

// migrateToAnotherSeed migrates and restores: the resources must be the very same.
func migrateToAnotherSeed(t *testing.T, server *contracttest.APIServer, env *environment) {
	source := newHarness(t, server, env)
	state := source.create().Status.State
	require.NotNil(t, state, "the state did not travel")
	before, _ := env.ownResources()

	require.NoError(t, source.gardenlet.Request(t.Context(), v1beta1constants.GardenerOperationMigrate))
	_, err := source.gardenlet.WaitFor(t.Context(), migrated)
	require.NoError(t, err)
	require.NoError(t, source.gardenlet.Destroy(t.Context()))
	require.NoError(t, source.gardenlet.WaitGone(t.Context()))
	source.stop()

	target := newHarness(t, server, env)
	target.deploy(v1beta1constants.GardenerOperationWaitForState)
	require.NoError(t, target.gardenlet.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Infrastructure) {
		object.Status.State = state
	}))
	require.NoError(t, target.gardenlet.Request(t.Context(), v1beta1constants.GardenerOperationRestore))
	target.waitReady()
	after, _ := env.ownResources()
	assert.ElementsMatch(t, identities(before), identities(after))
	target.delete()
}

// migrated is how gardenlet knows that a migration is over.
func migrated(object *extensionsv1alpha1.Infrastructure) error {
	operation := object.Status.LastOperation
	if operation != nil && operation.Type == gardencorev1beta1.LastOperationTypeMigrate &&
		operation.State == gardencorev1beta1.LastOperationStateSucceeded && object.Annotations[v1beta1constants.GardenerOperation] == "" {
		return nil
	}
	return fmt.Errorf("last operation: %+v", operation)
}

func identities(resources []Resource) []string {
	var all []string
	for _, resource := range resources {
		all = append(all, resource.Kind+" "+resource.ID)
	}
	return all
}

func finalizer(object *extensionsv1alpha1.Infrastructure) {
	object.Finalizers = append(object.Finalizers, infrastructure.Finalizer)
}
