package installations

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/registry"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

const (
	// timeout bounds each wait. It is long, because it only takes time if a test fails.
	timeout  = 5 * time.Minute
	interval = 200 * time.Millisecond
	// careSyncPeriod is how often gardenlets check installations: more often than in a landscape, so that contradicting writes would be found.
	careSyncPeriod = 5 * time.Second
)

// site is a cluster that is one seed or several: for a garden, a seed is a name.
type site struct {
	*clusters.Seed
	// name is that of the Seed with a gardenlet, mode says where its operator runs.
	name, mode string
}

const (
	byGarden = "garden" // an operator that serves many seeds
	bySeed   = "seed"   // one that runs in the seed
)

// environment is shared by all parts.
type environment struct {
	*garden.Garden
	// outer is served by an operator in the garden, inner by one of its own. Both have a gardenlet.
	outer, inner *site
	// bare is the cluster of seeds without a gardenlet, all of which the operator in the garden serves.
	bare *site
	// registry has charts, and requires credentials.
	registry *registry.Registry

	// installations are watched, so that waiting makes no requests to the garden.
	installations client.Reader

	path, dir string // of the binary, and of all logs
	operators map[string]*operator
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	env := &environment{
		dir: t.TempDir(), operators: map[string]*operator{},
		outer: &site{name: "outer", mode: byGarden}, inner: &site{name: "inner", mode: bySeed}, bare: &site{name: "bare", mode: byGarden},
	}
	var err error
	env.registry, err = registry.Start(registry.WithCredentials("puller", "password"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, env.registry.Close()) })
	env.path, err = controller.ControllerInstallation().Build(t.Context())
	require.NoError(t, err)
	started := clusterstest.New(t, clusters.Options{
		Seeds:  len(env.sites()),
		Garden: garden.Beside(&env.Garden, garden.WithAudit(), garden.WithFeature(enabledFeatureGate), garden.WithCareInterval(careSyncPeriod)),
	})
	for i, s := range env.sites() {
		s.Seed = started.Seeds[i]
		require.NoError(t, seed.Define(t.Context(), s.Client))
	}
	env.watch(t)
	env.setUp(t)
	return env
}

func (env *environment) watch(t *testing.T) {
	t.Helper()
	watched, err := cache.New(env.Config, cache.Options{Scheme: kubernetes.GardenScheme})
	require.NoError(t, err)
	_, err = watched.GetInformer(t.Context(), &gardencorev1beta1.ControllerInstallation{}, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- watched.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	require.True(t, watched.WaitForCacheSync(t.Context()))
	env.installations = watched
}

func (env *environment) sites() []*site { return []*site{env.outer, env.inner, env.bare} }

// sitesWithGardenlet are those whose installations are needed.
func (env *environment) sitesWithGardenlet() []*site { return []*site{env.outer, env.inner} }

// installation returns that of a registration on a seed, or nil.
func (env *environment) installation(t *testing.T, seedName, registration string) *gardencorev1beta1.ControllerInstallation {
	t.Helper()
	list := &gardencorev1beta1.ControllerInstallationList{}
	require.NoError(t, env.installations.List(t.Context(), list))
	for _, installation := range list.Items {
		if installation.Spec.SeedRef.Name == seedName && installation.Spec.RegistrationRef.Name == registration {
			return &installation
		}
	}
	return nil
}

// waitFor waits until there is one that satisfies a condition.
func (env *environment) waitFor(
	t *testing.T, seedName, registration, what string, condition func(*gardencorev1beta1.ControllerInstallation) bool,
) *gardencorev1beta1.ControllerInstallation {
	t.Helper()
	var found *gardencorev1beta1.ControllerInstallation
	eventually(t, registration+" on "+seedName+" "+what, func() bool {
		found = env.installation(t, seedName, registration)
		return found != nil && condition(found)
	}, func() any { return summary(found) })
	return found
}

// summary leaves out irrelevant fields.
func summary(installation *gardencorev1beta1.ControllerInstallation) any {
	if installation != nil {
		installation.ManagedFields = nil
	}
	return installation
}

// installed waits until one is healthy.
func (env *environment) installed(t *testing.T, seedName, registration string) *gardencorev1beta1.ControllerInstallation {
	t.Helper()
	return env.waitFor(t, seedName, registration, "is installed", isReady)
}

// isReady is gardener-controller-manager's condition for an installation on a seed with ready extensions.
func isReady(installation *gardencorev1beta1.ControllerInstallation) bool {
	return v1beta1helper.IsControllerInstallationSuccessful(*installation) && isValid(installation)
}

func isValid(installation *gardencorev1beta1.ControllerInstallation) bool {
	return is(installation, gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ConditionTrue)
}

func is(installation *gardencorev1beta1.ControllerInstallation, condition gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) bool {
	return conditionOf(installation, condition).Status == status
}

func conditionOf(installation *gardencorev1beta1.ControllerInstallation, of gardencorev1beta1.ConditionType) gardencorev1beta1.Condition {
	if found := v1beta1helper.GetCondition(installation.Status.Conditions, of); found != nil {
		return *found
	}
	return gardencorev1beta1.Condition{Type: of}
}

// gone waits until an installation is gone from the garden.
func (env *environment) gone(t *testing.T, installation *gardencorev1beta1.ControllerInstallation) {
	t.Helper()
	eventually(t, installation.Name+" has gone", func() bool { return !exists(t, env.Client, installation) }, func() any { return installation })
}

func exists(t *testing.T, c client.Client, object client.Object) bool {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	require.NoError(t, client.IgnoreNotFound(err))
	return err == nil
}

// change edits an object, and retries conflicts.
func change[T client.Object](t *testing.T, c client.Client, object T, edit func(T)) {
	t.Helper()
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	before, ok := object.DeepCopyObject().(T)
	require.True(t, ok)
	edit(object)
	require.NoError(t, c.Patch(t.Context(), object, client.MergeFrom(before)))
}

func controllerRegistration(name string) *gardencorev1beta1.ControllerRegistration {
	return &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// eventually prints the last state when it times out.
func eventually(t *testing.T, what string, condition func() bool, last func() any) {
	t.Helper()
	for start := time.Now(); !condition(); time.Sleep(interval) {
		if time.Since(start) > timeout {
			require.FailNow(t, "waited in vain until "+what, "last: %s", yamlOf(t, last()))
		}
	}
}

// tail prints the end of a log if the test failed.
func tail(t *testing.T, path string) {
	t.Helper()
	if !t.Failed() {
		return
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	require.NoError(t, err)
	lines := strings.Split(string(content), "\n")
	t.Logf("the end of %s:\n%s", filepath.Base(path), strings.Join(lines[max(0, len(lines)-40):], "\n"))
}
