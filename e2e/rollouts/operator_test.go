package rollouts

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// syncPeriod is how often the operator looks at each installation.
const syncPeriod = time.Second

// options are those of one more process.
func (w *world) options(leaderElection bool) controller.ControllerInstallationOptions {
	output := filepath.Join(w.dir, fmt.Sprintf("operator-%03d.log", len(w.outputs)))
	w.outputs = append(w.outputs, output)
	return controller.ControllerInstallationOptions{
		Path: w.path, Output: output, Own: w.front, Namespace: inGarden, LeaderElection: leaderElection,
		Args: []string{"--sync-period=" + syncPeriod.String()},
	}
}

// startOperator starts it as it is meant to run.
func (w *world) startOperator(t *testing.T) {
	t.Helper()
	var err error
	w.operator, err = controller.ControllerInstallation().StartControllerInstallation(t.Context(), w.options(true))
	require.NoError(t, err)
}

// stopOperator ends it in good order: its Lease is free for the next one.
func (w *world) stopOperator(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	assert.NoError(t, w.operator.Terminate(ctx))
}

// withOperator runs it while something is done.
func (w *world) withOperator(t *testing.T, do func()) {
	t.Helper()
	w.startOperator(t)
	defer w.operator.Kill() // where do has given up
	do()
	w.stopOperator(t)
}

// rolloutIs says what is missing until the operator's metrics tell that the rollout is in a state.
func (w *world) rolloutIs(t *testing.T, state string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.operator.MetricsURL, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { assert.NoError(t, response.Body.Close()) }()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		if strings.TrimSpace(line) == fmt.Sprintf("trellis_rollout_state{deployment=%q,state=%q} 1", registration, state) {
			return nil
		}
	}
	return errNotYet
}
