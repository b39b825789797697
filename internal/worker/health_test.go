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
	deployment := machinev1alpha1.MachineDeployment{}
	deployment.Name = "one-cpu-z1"
	missing := contract.Finding{Message: "MachineDeployment one-cpu-z1 does not exist."}
	none := contract.Finding{Healthy: true, Message: "No machines are wanted, and none exist."}
	failure := errors.New("gone")
	for sentence, test := range map[string]struct {
		watched, live deploymentReader
		want          contract.Finding
		liveReads     int
		err           string
	}{
		"reads from memory only":                {watched: deploymentReader{found: []machinev1alpha1.MachineDeployment{deployment}}, want: none},
		"confirms that a deployment is missing": {want: missing, liveReads: 1},
		"does not rely on memory that is behind": {
			live: deploymentReader{found: []machinev1alpha1.MachineDeployment{deployment}}, want: none, liveReads: 1,
		},
		"fails if memory cannot be read":         {watched: deploymentReader{err: failure}, err: "listing the deployments of machines: gone"},
		"fails if the API server cannot be read": {live: deploymentReader{err: failure}, liveReads: 1, err: "listing the deployments of machines: gone"},
	} {
		t.Run(sentence, func(t *testing.T) {
			findings, err := checkHealth(t.Context(), contract.CheckInput[*extensionsv1alpha1.Worker]{Object: worker, Watched: &test.watched, Reader: &test.live})
			assert.Equal(t, test.liveReads, test.live.reads)
			if test.err != "" {
				require.EqualError(t, err, test.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, contract.Findings{everyNodeReady: test.want}, findings)
		})
	}
}
