package controlplane

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testMove migrates the shoot's control plane to another seed. Only the ShootState, computed by Gardener's code, and the user's Secrets in the
// garden are transferred.
func testMove(t *testing.T, env *environment) {
	there, authorities := env.snapshot(t), env.authorities(t)
	state, err := env.seed.Gardenlet.ShootState(t.Context(), env.Shoot)
	require.NoError(t, err)
	component := env.seed.Gardenlet.ControlPlane(env.Shoot)
	require.NoError(t, component.Migrate(t.Context()))
	require.NoError(t, component.WaitMigrate(t.Context()))
	assert.Empty(t, env.object(t).Finalizers)
	env.destroy(t)
	env.stopController(t)
	left := env.snapshot(t)
	assert.Empty(t, clusterstest.InShoot(left.RemovedSince(there)), "everything in the shoot stays")
	assert.Empty(t, clusterstest.InShoot(left.ChangedSince(there)), "as it is")
	seed := func(name string) string { return "seed: Secret " + env.Shoot.Namespace() + "/" + name }
	assert.ElementsMatch(t, []string{
		seed(authority + "-*"), seed(authority + "-bundle-*"), seed(certificate + "-*"), // which the namespace takes with it
		seed("ref-credentials-for-manila"), // the user's
	}, withoutHashes(clusterstest.InSeed(left.AddedSince(env.initial))))
	assert.Empty(t, env.deployments(t))
	for _, name := range clusterstest.InSeed(left.AddedSince(env.initial)) {
		assert.Empty(t, left[name].Finalizers, "%s would hold the namespace", name)
	}
	env.seed.StopShootManager(env.Shoot)

	env.restore(t, state)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeRestore, env.object(t).Status.LastOperation.Type)
	assert.Equal(t, authorities, env.authorities(t), "the CA has moved along")
	env.awaitRolledOut(t)
	env.assertRunning(t, ccm, csiController, manilaController, snapshotController)
	env.assertTokens(t, accounts()...)
	assert.Empty(t, clusterstest.InShoot(env.snapshot(t).RemovedSince(there)), "nothing in the shoot was deleted or made anew")
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
}

// restore restores the shoot on the destination seed.
func (env *environment) restore(t *testing.T, state *gardencorev1beta1.ShootState) {
	t.Helper()
	env.seed = env.Destination
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeRestore
	require.NoError(t, env.seed.Host(t.Context(), env.Shoot, env.Cluster))
	env.copyReferenced(t)
	env.initial = env.snapshot(t).SeedWithShootOf(env.initial)
	require.NoError(t, env.seed.Gardenlet.RestoreSecrets(t.Context(), env.Shoot, state))
	env.startController(t)
	component := env.seed.Gardenlet.ControlPlane(env.Shoot)
	require.NoError(t, component.Restore(t.Context(), state))
	require.NoError(t, component.Wait(t.Context()))
}

// authorities returns the control plane's CAs, by the names of their Secrets.
func (env *environment) authorities(t *testing.T) map[string]string {
	t.Helper()
	list := &corev1.SecretList{}
	require.NoError(t, env.seed.Client.List(t.Context(), list, client.InNamespace(env.Shoot.Namespace()), client.MatchingLabels{"name": env.upstream.authority()}))
	found := map[string]string{}
	for _, secret := range list.Items {
		found[secret.Name] = string(secret.Data["ca.crt"]) + string(secret.Data["ca.key"])
	}
	require.NotEmpty(t, found)
	return found
}
