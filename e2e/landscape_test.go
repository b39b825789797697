package e2e

import (
	"net/http"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// landscape is what the tests of one controller share: two empty seeds, of which the second is for shoots that move, and
// the binary as it is shipped. Each test runs its own process of it, so tests of a landscape don't run in parallel.
type landscape struct {
	binary              string
	source, destination *runningSeed
}

// runningSeed is a seed in which the controller is known.
type runningSeed struct {
	*seed.Seed
	kubeconfig string // the controller's
}

func newLandscape(t *testing.T) *landscape {
	t.Helper()
	logf.SetLogger(logr.Discard()) // Gardener's packages say nothing that a failing test does not say better
	programs, err := assets.Ensure(t.Context(), os.Stderr, assets.APIServer()...)
	require.NoError(t, err)
	binary, err := controller.Build(t.Context(), false)
	require.NoError(t, err)
	return &landscape{binary: binary, source: startSeed(t, programs), destination: startSeed(t, programs)}
}

func startSeed(t *testing.T, programs string) *runningSeed {
	t.Helper()
	s, err := seed.Start(t.Context(), programs, t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() {
		assertNothingForbidden(t, s)
		assert.NoError(t, s.Stop())
	})
	kubeconfig, err := s.AddController(t.Context(), controller.Name, controller.Role())
	require.NoError(t, err)
	return &runningSeed{Seed: s, kubeconfig: kubeconfig}
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
