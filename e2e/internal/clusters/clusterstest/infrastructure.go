package clusterstest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// MakeInfrastructure lets infrastructure-controller create the shoot's Infrastructure, and copies its status as gardenlet does.
func MakeInfrastructure(t *testing.T, c *clusters.Clusters) openstackv1alpha1.InfrastructureStatus {
	t.Helper()
	what := controller.Infrastructure()
	path, err := what.Build(t.Context())
	require.NoError(t, err)
	running, err := c.Source.StartController(t.Context(), what, controller.Options{Path: path})
	require.NoError(t, err)
	component := c.Source.Gardenlet.Infrastructure(c.Shoot)
	require.NoError(t, component.Deploy(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	require.NoError(t, running.Terminate(t.Context()))
	c.Shoot.InfrastructureStatus = json.RawMessage(component.ProviderStatus().Raw)
	var status openstackv1alpha1.InfrastructureStatus
	require.NoError(t, json.Unmarshal(component.ProviderStatus().Raw, &status))
	return status
}
