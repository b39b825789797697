package controlplane

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

// testMove moves the shoot's control plane to another seed. All that goes along is the ShootState as Gardener computes it, and
// what users have in the garden.
func testMove(t *testing.T, w *world) {
	there, authorities := w.look(t), w.authorities(t)
	state, err := w.seed.Gardenlet.ShootState(t.Context(), w.Shoot)
	require.NoError(t, err)
	component := w.seed.Gardenlet.ControlPlane(w.Shoot)
	require.NoError(t, component.Migrate(t.Context()))
	require.NoError(t, component.WaitMigrate(t.Context()))
	assert.Empty(t, w.object(t).Finalizers)
	w.destroy(t)
	w.stopController(t)
	left := w.look(t)
	assert.Empty(t, groundtest.OfShoot(left.LostSince(there)), "everything in the shoot stays")
	assert.Empty(t, groundtest.OfShoot(left.ChangedSince(there)), "as it is")
	seed := func(name string) string { return "seed: Secret " + w.Shoot.Namespace() + "/" + name }
	assert.ElementsMatch(t, []string{
		seed(authority + "-*"), seed(authority + "-bundle-*"), seed(certificate + "-*"), // which the namespace takes with it
		seed("ref-credentials-for-manila"), // the user's
	}, withoutHashes(groundtest.OfSeed(left.Since(w.untouched))))
	assert.Empty(t, w.deployments(t))
	for _, name := range groundtest.OfSeed(left.Since(w.untouched)) {
		assert.Empty(t, left[name].Finalizers, "%s would hold the namespace", name)
	}
	w.seed.StopShootManager(w.Shoot)

	w.restore(t, state)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeRestore, w.object(t).Status.LastOperation.Type)
	assert.Equal(t, authorities, w.authorities(t), "the CA has moved along")
	w.awaitRolledOut(t)
	w.assertRunning(t, ccm, csiController, manilaController, snapshotController)
	w.assertTokens(t, accounts()...)
	assert.Empty(t, groundtest.OfShoot(w.look(t).LostSince(there)), "nothing in the shoot was deleted or made anew")
	w.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
}

// restore brings the shoot to life on the destination seed.
func (w *world) restore(t *testing.T, state *gardencorev1beta1.ShootState) {
	t.Helper()
	w.seed = w.Destination
	w.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeRestore
	require.NoError(t, w.seed.Host(t.Context(), w.Shoot, w.Cluster))
	w.copyReferenced(t)
	w.untouched = w.look(t).SeedWithShootOf(w.untouched)
	require.NoError(t, w.seed.Gardenlet.RestoreSecrets(t.Context(), w.Shoot, state))
	w.startController(t)
	component := w.seed.Gardenlet.ControlPlane(w.Shoot)
	require.NoError(t, component.Restore(t.Context(), state))
	require.NoError(t, component.Wait(t.Context()))
}

// authorities returns the control plane's CAs, by the names of their Secrets.
func (w *world) authorities(t *testing.T) map[string]string {
	t.Helper()
	list := &corev1.SecretList{}
	require.NoError(t, w.seed.Client.List(t.Context(), list, client.InNamespace(w.Shoot.Namespace()), client.MatchingLabels{"name": authority}))
	found := map[string]string{}
	for _, secret := range list.Items {
		found[secret.Name] = string(secret.Data["ca.crt"]) + string(secret.Data["ca.key"])
	}
	require.NotEmpty(t, found)
	return found
}
