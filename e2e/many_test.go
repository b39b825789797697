package e2e

import (
	"fmt"
	"strings"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/rig"
)

const (
	manyInTotal     = 200
	manyAccounts    = 4
	manyConcurrency = 50
)

// testMany gives one process, built with the race detector, many shoots at once.
func testMany(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	var err error
	w.Binary, err = r.Controller.Build(t.Context(), true)
	require.NoError(t, err)
	w.Options.Concurrency = manyConcurrency
	accounts, shoots := manyShoots(w)
	w.Cloud.ResetLog()
	w.StartController()

	forAll(t, shoots, func(shoot *gardenlet.Shoot) error { return w.Gardenlet.Infrastructure(shoot).Deploy(t.Context()) })
	w.Eventually("all are ready", func() bool { return countMany(w, health.CheckExtensionObject) == manyInTotal })
	assert.Equal(t, manyAccounts, w.Cloud.Logins(), "one login per account")

	forAll(t, shoots, func(shoot *gardenlet.Shoot) error { return w.Gardenlet.Infrastructure(shoot).Destroy(t.Context()) })
	w.Eventually("all are gone", func() bool { return countMany(w, func(client.Object) error { return nil }) == 0 })
	assert.Equal(t, manyAccounts, w.Cloud.Logins(), "still one login per account")
	for _, account := range accounts {
		left, err := account.Resources(t.Context())
		require.NoError(t, err)
		assert.Empty(t, left)
	}

	w.StopController() // fails when the race detector has found something
	assert.NotContains(t, w.Log(), "DATA RACE")
}

// manyShoots prepares shoots in turn over some accounts.
func manyShoots(w *rig.World) (accounts []*openstack.Account, shoots []*gardenlet.Shoot) {
	for i := range manyAccounts {
		account := w.NewAccount()
		accounts = append(accounts, account)
		for j := range manyInTotal / manyAccounts {
			shoots = append(shoots, openstack.NewShoot(fmt.Sprintf("many-%d-%d", i, j), w.Cloud, account))
		}
	}
	forAll(w.T, shoots, func(shoot *gardenlet.Shoot) error { return w.Gardenlet.Prepare(w.T.Context(), shoot) })
	w.T.Cleanup(func() {
		for _, shoot := range shoots {
			assert.NoError(w.T, w.Discard(shoot))
		}
	})
	return accounts, shoots
}

func forAll(t *testing.T, shoots []*gardenlet.Shoot, do func(*gardenlet.Shoot) error) {
	t.Helper()
	var all errgroup.Group
	all.SetLimit(16)
	for _, shoot := range shoots {
		all.Go(func() error { return do(shoot) })
	}
	require.NoError(t, all.Wait())
}

// countMany counts the Infrastructures of testMany that pass a check.
func countMany(w *rig.World, check func(client.Object) error) int {
	w.T.Helper()
	list := &extensionsv1alpha1.InfrastructureList{}
	require.NoError(w.T, w.Seed.Client.List(w.T.Context(), list))
	count := 0
	for _, object := range list.Items {
		if strings.HasPrefix(object.Name, "many-") && check(&object) == nil {
			count++
		}
	}
	return count
}
