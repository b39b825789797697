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

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

const (
	manyShoots      = 200
	manyAccounts    = 4
	manyConcurrency = 50
)

// testMany gives one process, built with the race detector, many shoots at once.
func (l *landscape) testMany(t *testing.T) {
	w := l.newWorld(t)
	var err error
	w.binary, err = controller.Build(t.Context(), true)
	require.NoError(t, err)
	w.options.Concurrency = manyConcurrency
	shoots := w.manyShoots()
	before := inventory(w.cloud)
	w.cloud.ResetLog()
	w.startController()

	w.forAll(shoots, func(shoot *gardenlet.Shoot) error { return w.gardenlet.Infrastructure(shoot).Deploy(t.Context()) })
	w.eventually("all are ready", func() bool { return w.countMany(health.CheckExtensionObject) == manyShoots })
	assert.Equal(t, manyAccounts, w.cloud.Logins(), "one login per account")

	w.forAll(shoots, func(shoot *gardenlet.Shoot) error { return w.gardenlet.Infrastructure(shoot).Destroy(t.Context()) })
	w.eventually("all are gone", func() bool { return w.countMany(func(client.Object) error { return nil }) == 0 })
	assert.Equal(t, manyAccounts, w.cloud.Logins(), "still one login per account")
	assert.Equal(t, before, inventory(w.cloud))

	w.stopController() // fails when the race detector has found something
	assert.NotContains(t, w.log(), "DATA RACE")
}

// manyShoots prepares shoots in turn over some accounts.
func (w *world) manyShoots() []*gardenlet.Shoot {
	var shoots []*gardenlet.Shoot
	for i := range manyAccounts {
		account, err := openstack.AddAccount(w.cloud, fmt.Sprintf("account-%d", i))
		require.NoError(w.t, err)
		for j := range manyShoots / manyAccounts {
			shoots = append(shoots, openstack.NewShoot(fmt.Sprintf("many-%d-%d", i, j), w.cloud, account))
		}
	}
	w.forAll(shoots, func(shoot *gardenlet.Shoot) error { return w.gardenlet.Prepare(w.t.Context(), shoot) })
	w.t.Cleanup(func() {
		for _, shoot := range shoots {
			assert.NoError(w.t, w.discard(shoot))
		}
	})
	return shoots
}

func (w *world) forAll(shoots []*gardenlet.Shoot, do func(*gardenlet.Shoot) error) {
	w.t.Helper()
	var all errgroup.Group
	all.SetLimit(16)
	for _, shoot := range shoots {
		all.Go(func() error { return do(shoot) })
	}
	require.NoError(w.t, all.Wait())
}

// countMany counts the Infrastructures of testMany that pass a check.
func (w *world) countMany(check func(client.Object) error) int {
	w.t.Helper()
	list := &extensionsv1alpha1.InfrastructureList{}
	require.NoError(w.t, w.seed.Client.List(w.t.Context(), list))
	count := 0
	for _, object := range list.Items {
		if strings.HasPrefix(object.Name, "many-") && check(&object) == nil {
			count++
		}
	}
	return count
}
