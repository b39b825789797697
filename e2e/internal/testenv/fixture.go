// Package testenv is what a test of a controller stands on: real API servers that look like seeds, the binary as it is shipped,
// and for each test a world in which it may start and end that binary, order what gardenlet orders, and look at both the
// seed and the cloud. It must not know what a controller does with an order.
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
	// timeout bounds every wait. It is generous, because it only costs time when a test fails.
	timeout  = 5 * time.Minute
	interval = 50 * time.Millisecond
)

// Fixture is what the tests of one controller share: two empty seeds, of which the second is for shoots that move, and the
// binary as it is shipped. Each test runs its own process of it, so tests of a rig don't run in parallel.
type Fixture struct {
	// Controller is what runs, Binary the path of it.
	Controller          controller.Binary
	Binary              string
	Source, Destination *Seed

	newCloud func() (*openstack.Cloud, error)
}

// Seed is a seed in which the controller is known.
type Seed struct {
	*seed.Seed
	kubeconfig string // the controller's
}

// New builds the binary and starts the seeds. Every test asks newCloud for a cloud, and closes it.
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

// assertNothingForbidden makes sure that the controller has all the rights that it uses. A missing one need not break
// anything that a test looks at: an Event that cannot be written is only missed by people.
func assertNothingForbidden(t *testing.T, s *seed.Seed) {
	t.Helper()
	writes, err := s.Writes("")
	require.NoError(t, err)
	for _, write := range writes {
		assert.NotEqual(t, http.StatusForbidden, write.Code, write.String())
	}
}

// timeoutContext is for what must be done although the test is over.
func timeoutContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), timeout)
}
