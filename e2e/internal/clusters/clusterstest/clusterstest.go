// Package clusterstest starts clusters for a test, and has assertions about them. It must not depend on what is tested.
package clusterstest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// timeout bounds each wait. It is long, because it only takes time if a test fails.
const timeout = 5 * time.Minute

// New returns clusters that are stopped at the end of the test. If the test fails, the last lines of all processes are logged, and all logs and
// the objects of the seeds are kept in .cache/failed of the checkout.
func New(t *testing.T, options clusters.Options) *clusters.Clusters {
	t.Helper()
	options.Dir = t.TempDir()
	c, err := clusters.New(t.Context(), options)
	if err != nil {
		dir := keptFolder(t)
		t.Logf("logs are kept in %s: %v", dir, clusters.KeepLogs(options.Dir, dir))
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		tails := c.Tails(30)
		if t.Failed() {
			keep(t, c)
		}
		assert.NoError(t, c.Close())
		if t.Failed() {
			t.Log(tails)
		}
	})
	return c
}

func keep(t *testing.T, c *clusters.Clusters) {
	t.Helper()
	dir := keptFolder(t)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), timeout)
	defer cancel()
	if err := c.Keep(ctx, dir); err != nil {
		t.Logf("not everything could be kept: %v", err)
	}
	t.Logf("logs and objects are kept in %s", dir)
}

// keptFolder is where logs and objects of a failed test are kept.
func keptFolder(t *testing.T) string {
	t.Helper()
	working, err := os.Getwd()
	require.NoError(t, err)
	dir, err := repo.Path(".cache", "failed", filepath.Base(working)+"-"+strings.ReplaceAll(t.Name(), "/", "-"))
	require.NoError(t, err)
	return dir
}

// NewHosting is New with a shoot whose cluster runs, without a ControlPlane and Network.
func NewHosting(t *testing.T, options clusters.Options) *clusters.Clusters {
	t.Helper()
	c := New(t, options)
	require.NoError(t, c.StartCluster(t.Context(), c.Account.NewShoot("one")))
	return c
}

// AssertNoErrors fails the test at its end if a controller has logged an error that contains none of the expected texts.
func AssertNoErrors(t *testing.T, c interface {
	Errors(expected ...string) ([]string, error)
}, expected ...string,
) {
	t.Helper()
	t.Cleanup(func() {
		failures, err := c.Errors(expected...)
		assert.NoError(t, err)
		assert.Empty(t, failures, "what our controllers have logged as errors")
	})
}

// Eventually waits until a condition holds.
func Eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(timeout); !condition(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			require.FailNow(t, "waited in vain until "+what)
		}
	}
}

// Get reads an object, and reports whether it exists.
func Get(t *testing.T, c client.Reader, object client.Object) bool {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	if !apierrors.IsNotFound(err) {
		require.NoError(t, err)
	}
	return err == nil
}

// IsTrue reports whether a condition is True.
func IsTrue(conditions []gardencorev1beta1.Condition, kind gardencorev1beta1.ConditionType) bool {
	condition := v1beta1helper.GetCondition(conditions, kind)
	return condition != nil && condition.Status == gardencorev1beta1.ConditionTrue
}

// Pods counts the ready pods of a namespace.
func Pods(t *testing.T, c client.Reader, namespace string, labels map[string]string) (ready int) {
	t.Helper()
	list := &corev1.PodList{}
	require.NoError(t, c.List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels(labels)))
	for _, pod := range list.Items {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	return ready
}
