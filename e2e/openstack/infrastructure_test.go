//go:build openstack

package openstack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/infrastructuresuite"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// TestInfrastructure runs the infrastructure-controller through its suite on the real cloud, each scenario in a project of
// its own that must be empty at the end.
func TestInfrastructure(t *testing.T) {
	target, err := conformance.FromFile(operatorEntry())
	require.NoError(t, err, "make e2e-openstack brings a cloud up and says where it is")
	open := func() (cloud.Cloud, error) { return openstack.New(target) }
	infrastructuresuite.Run(t, testenv.New(t, infrastructuresuite.OpenStack(open)))
}
