package garden

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// timeout bounds each wait. It is long, because it only takes time if a test fails.
const timeout = 5 * time.Minute

// environment is shared by all tests: a garden, of which a process can start one only, and a cluster that may become a seed.
type environment struct {
	*garden.Garden
	cluster *clusters.Seed
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	env := &environment{}
	env.cluster = clusterstest.New(t, clusters.Options{Garden: garden.Beside(&env.Garden)}).Source
	require.NoError(t, seed.Define(t.Context(), env.cluster.Client))
	return env
}

// clear removes all registrations, and the objects that need them.
func (env *environment) clear(t *testing.T) {
	t.Helper()
	shoots := &gardencorev1beta1.ShootList{}
	require.NoError(t, env.Client.List(t.Context(), shoots))
	for _, shoot := range shoots.Items {
		require.NoError(t, env.DeleteShoot(t.Context(), shoot.Name))
	}
	// Gardener uninstalls what is on a deleted seed.
	env.delete(t, &gardencorev1beta1.BackupBucket{}, &gardencorev1beta1.BackupBucketList{})
	env.delete(t, &gardencorev1beta1.Seed{}, &gardencorev1beta1.SeedList{})
	env.delete(t, &gardencorev1beta1.ControllerRegistration{}, &gardencorev1beta1.ControllerRegistrationList{})
	env.delete(t, &gardencorev1.ControllerDeployment{}, &gardencorev1.ControllerDeploymentList{})
}

// delete removes all objects of a kind from the garden.
func (env *environment) delete(t *testing.T, kind client.Object, list client.ObjectList) {
	t.Helper()
	require.NoError(t, env.Client.DeleteAllOf(t.Context(), kind))
	eventually(t, fmt.Sprintf("no %T is left", kind), func() bool {
		require.NoError(t, env.Client.List(t.Context(), list))
		return meta.LenList(list) == 0
	})
}

func (env *environment) installations(t *testing.T, registration string) []gardencorev1beta1.ControllerInstallation {
	t.Helper()
	list := &gardencorev1beta1.ControllerInstallationList{}
	require.NoError(t, env.Client.List(t.Context(), list, client.MatchingFields{"spec.registrationRef.name": registration}))
	return list.Items
}

// installed waits until a registration is installed on the only seed, and healthy.
func (env *environment) installed(t *testing.T, registration string) *gardencorev1beta1.ControllerInstallation {
	t.Helper()
	var found []gardencorev1beta1.ControllerInstallation
	eventually(t, registration+" is installed", func() bool {
		found = env.installations(t, registration)
		return len(found) == 1 && v1beta1helper.IsControllerInstallationSuccessful(found[0]) &&
			is(found[0], gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ConditionTrue)
	})
	return &found[0]
}

func is(installation gardencorev1beta1.ControllerInstallation, condition gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) bool {
	return slices.ContainsFunc(installation.Status.Conditions, func(c gardencorev1beta1.Condition) bool {
		return c.Type == condition && c.Status == status
	})
}

func namespaceOf(installation *gardencorev1beta1.ControllerInstallation) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "extension-" + installation.Name}}
}

// change edits an object, and retries conflicts.
func change[T client.Object](t *testing.T, c client.Client, object T, edit func(T)) error {
	t.Helper()
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	before := object.DeepCopyObject().(T)
	edit(object)
	return c.Patch(t.Context(), object, client.MergeFrom(before))
}

func controllerRegistration(name string) *gardencorev1beta1.ControllerRegistration {
	return &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func deployment(name string) *gardencorev1.ControllerDeployment {
	return &gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func exists(t *testing.T, c client.Client, object client.Object) bool {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	require.NoError(t, client.IgnoreNotFound(err))
	return err == nil
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	start := time.Now()
	for !condition() {
		if time.Since(start) > timeout {
			require.FailNow(t, "waited in vain until "+what)
		}
		pause(t)
	}
	if waited := time.Since(start); waited > 5*time.Second {
		t.Logf("waited %.0f s until %s", waited.Seconds(), what)
	}
}

func pause(t *testing.T) {
	t.Helper()
	time.Sleep(50 * time.Millisecond)
}
