package e2e

import (
	"fmt"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
)

const (
	manyInTotal     = 200
	manyAccounts    = 4
	manyConcurrency = 50
)

// testMany gives many shoots to one process at once, which is built with the race detector. Before they are deleted, released binaries work on them: a
// primary, and a secondary beside it.
func testMany(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	var err error
	env.Binary, err = f.Controller.BuildWithRaceDetector(t.Context())
	require.NoError(t, err)
	env.Options.Concurrency = manyConcurrency
	accounts, shoots := manyShoots(env)
	env.Cloud.ResetLog()
	env.StartController()

	forAll(t, shoots, func(shoot *gardenlet.Shoot) error { return env.Gardenlet.Infrastructure(shoot).Deploy(t.Context()) })
	env.Eventually("all are ready", func() bool { return countMany(env, health.CheckExtensionObject) == manyInTotal })
	assert.Equal(t, manyAccounts, env.Cloud.Log().Logins(), "one login per account")

	env.StopController() // fails when the race detector has found something
	withRaceDetector := env.Binary
	env.Binary = f.Binary
	env.Cloud.ResetLog()
	testThreeWriters(t, env, accounts, shoots)

	env.Binary = withRaceDetector
	env.Cloud.ResetLog()
	env.StartController()
	forAll(t, shoots, func(shoot *gardenlet.Shoot) error { return env.Gardenlet.Infrastructure(shoot).Destroy(t.Context()) })
	env.Eventually("all are gone", func() bool { return countMany(env, func(client.Object) error { return nil }) == 0 })
	assert.Equal(t, manyAccounts, env.Cloud.Log().Logins(), "one login per account")
	for _, account := range accounts {
		left, err := account.Resources(t.Context())
		require.NoError(t, err)
		assert.Empty(t, left)
	}

	env.StopController()
	assert.NotContains(t, env.Log(), "DATA RACE")
}

// manyShoots prepares shoots in turn over some accounts.
func manyShoots(env *testenv.Env) (accounts []*openstack.Account, shoots []*gardenlet.Shoot) {
	for i := range manyAccounts {
		account, is := env.NewAccount().(*openstack.Account)
		require.True(env.T, is)
		accounts = append(accounts, account)
		for j := range manyInTotal / manyAccounts {
			shoot := account.NewShoot(fmt.Sprintf("many-%d-%d", i, j))
			shoot.Workers = []gardencorev1beta1.Worker{openstack.NewPool("cpu", 1, 2)}
			shoots = append(shoots, shoot)
		}
	}
	forAll(env.T, shoots, func(shoot *gardenlet.Shoot) error { return env.Gardenlet.Prepare(env.T.Context(), shoot) })
	env.T.Cleanup(func() {
		for _, shoot := range shoots {
			assert.NoError(env.T, env.Discard(shoot))
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
func countMany(env *testenv.Env, check func(client.Object) error) int {
	env.T.Helper()
	list := &extensionsv1alpha1.InfrastructureList{}
	require.NoError(env.T, env.Seed.Client.List(env.T.Context(), list))
	count := 0
	for _, object := range list.Items {
		if strings.HasPrefix(object.Name, "many-") && check(&object) == nil {
			count++
		}
	}
	return count
}
