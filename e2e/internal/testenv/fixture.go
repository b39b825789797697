// Package testenv is the environment of a controller's tests: real API servers with the CustomResourceDefinitions of seeds, the binary as it is
// released, and for each test an Env in which it can start and end that binary, request operations as gardenlet does, and examine the seed and
// the cloud. It must not depend on a controller.
package testenv

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

const (
	// timeout bounds each wait. It is long, because it only takes time if a test fails.
	timeout  = 5 * time.Minute
	interval = 50 * time.Millisecond
)

// Fixture is shared by the tests of one controller: two empty seeds, of which the second is for migrations, and the binary as it is released.
// Each test runs its own process of it, so the tests do not run in parallel.
type Fixture struct {
	// Controller is the controller, Binary its path.
	Controller          controller.Binary
	Binary              string
	Source, Destination *Seed

	newCloud func() (*openstack.Cloud, error)
}

// Seed is a seed with the controller's CustomResourceDefinitions and rights.
type Seed struct {
	*seed.Seed
	kubeconfig string // the controller's
}

// New builds the binary and starts the seeds. Each test gets a cloud from newCloud, and closes it.
func New(t *testing.T, newCloud func() (*openstack.Cloud, error)) *Fixture {
	t.Helper()
	logf.SetLogger(logr.Discard()) // Gardener's packages say nothing that a failing test does not say better
	programs, err := assets.Ensure(t.Context(), os.Stderr, assets.APIServer()...)
	require.NoError(t, err)
	what := controller.Infrastructure()
	binary, err := what.Build(t.Context())
	require.NoError(t, err)
	return &Fixture{
		Controller: what, Binary: binary,
		Source: startSeed(t, programs, what), Destination: startSeed(t, programs, what), newCloud: newCloud,
	}
}

func startSeed(t *testing.T, programs string, what controller.Binary) *Seed {
	t.Helper()
	s, err := seed.Start(t.Context(), programs, t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() {
		assertNothingForbidden(t, s)
		assert.NoError(t, s.Stop())
	})
	kubeconfig, err := s.AddController(t.Context(), what.Name, what.Role)
	require.NoError(t, err)
	return &Seed{Seed: s, kubeconfig: kubeconfig}
}

// assertNothingForbidden asserts that the controller has all rights that it uses. A missing right need not fail a test: e.g. nothing depends on
// an Event.
func assertNothingForbidden(t *testing.T, s *seed.Seed) {
	t.Helper()
	writes, err := s.Writes("")
	require.NoError(t, err)
	for _, write := range writes {
		assert.NotEqual(t, http.StatusForbidden, write.Code, write.String())
	}
}

// timeoutContext is for cleaning up after the end of the test.
func timeoutContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), timeout)
}
