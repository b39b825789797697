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
func (env *environment) options(leaderElection bool) controller.ControllerInstallationOptions {
	output := filepath.Join(env.dir, fmt.Sprintf("operator-%03d.log", len(env.outputs)))
	env.outputs = append(env.outputs, output)
	return controller.ControllerInstallationOptions{
		Path: env.path, Output: output, Own: env.gardenKubeconfig, Namespace: inGarden, LeaderElection: leaderElection,
		Args: []string{"--sync-period=" + syncPeriod.String()},
	}
}

// startOperator starts it as it is meant to run.
func (env *environment) startOperator(t *testing.T) {
	t.Helper()
	var err error
	env.operator, err = controller.ControllerInstallation().StartControllerInstallation(t.Context(), env.options(true))
	require.NoError(t, err)
}

// stopOperator ends it in good order: its Lease is free for the next one.
func (env *environment) stopOperator(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	assert.NoError(t, env.operator.Terminate(ctx))
}

// withOperator runs it while something is done.
func (env *environment) withOperator(t *testing.T, do func()) {
	t.Helper()
	env.startOperator(t)
	defer env.operator.Kill() // where do has given up
	do()
	env.stopOperator(t)
}

// checkRollout says what is missing until the operator's metrics tell that the rollout is in a state.
func (env *environment) checkRollout(t *testing.T, state string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, env.operator.MetricsURL, nil)
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
