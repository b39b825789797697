package worker

import (
	"context"
	"errors"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
)

// deploymentReader lists MachineDeployments only.
type deploymentReader struct {
	client.Reader
	found []machinev1alpha1.MachineDeployment
	err   error
	reads int
}

func (s *deploymentReader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	s.reads++
	if s.err == nil {
		list.(*machinev1alpha1.MachineDeploymentList).Items = s.found
	}
	return s.err
}

func TestCheckHealth(t *testing.T) {
	worker := &extensionsv1alpha1.Worker{}
	worker.Status.MachineDeployments = []extensionsv1alpha1.MachineDeployment{{Name: "one-cpu-z1"}}
	reader := &deploymentReader{}
	findings, err := checkHealth(t.Context(), contract.CheckInput[*extensionsv1alpha1.Worker]{Object: worker, Watched: reader})
	require.NoError(t, err)
	assert.Equal(t, contract.Findings{everyNodeReady: contract.Finding{Message: "MachineDeployment one-cpu-z1 does not exist."}}, findings)
	assert.Equal(t, 1, reader.reads)

	_, err = checkHealth(t.Context(), contract.CheckInput[*extensionsv1alpha1.Worker]{Object: worker, Watched: &deploymentReader{err: errors.New("gone")}})
	assert.EqualError(t, err, "listing the deployments of machines: gone")
}
