package clusterstest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// MakeInfrastructure lets infrastructure-controller create the shoot's Infrastructure, copies its status as gardenlet does, and returns it.
func MakeInfrastructure(t *testing.T, c *clusters.Clusters) json.RawMessage {
	t.Helper()
	what := controller.Infrastructure()
	path, err := what.Build(t.Context())
	require.NoError(t, err)
	running, err := c.Source.StartController(t.Context(), what, controller.Options{Path: path, Args: c.Cloud.ControllerArgs()})
	require.NoError(t, err)
	component := c.Source.Gardenlet.Infrastructure(c.Shoot)
	require.NoError(t, component.Deploy(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	require.NoError(t, running.Terminate(t.Context()))
	status := json.RawMessage(component.ProviderStatus().Raw)
	c.Shoot.InfrastructureStatus = status
	return status
}
