package worker

import (
	"testing"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
)

func TestReplicasOf(t *testing.T) {
	of := func(replicas int32) *machinev1alpha1.MachineDeployment {
		return &machinev1alpha1.MachineDeployment{Spec: machinev1alpha1.MachineDeploymentSpec{Replicas: replicas}}
	}
	for sentence, tc := range map[string]struct {
		minimum, maximum int32
		existing         *machinev1alpha1.MachineDeployment
		input            replicaInput
		want             int32
	}{
		"hibernation scales to zero":                                  {minimum: 2, maximum: 5, existing: of(3), input: replicaInput{hibernated: true}, want: 0},
		"a new deployment of a hibernated shoot has no replicas":      {minimum: 2, maximum: 5, input: replicaInput{hibernated: true}, want: 0},
		"a restored deployment of a hibernated shoot has no replicas": {minimum: 2, maximum: 5, input: replicaInput{hibernated: true, restored: new(int32(4))}, want: 0},
		"a new deployment has the minimum":                            {minimum: 2, maximum: 5, want: 2},
		"a new deployment may have a minimum of zero":                 {minimum: 0, maximum: 5, want: 0},
		"a restored deployment has the saved replicas":                {minimum: 2, maximum: 5, input: replicaInput{restored: new(int32(4))}, want: 4},
		"saved replicas may exceed the maximum":                       {minimum: 2, maximum: 3, input: replicaInput{restored: new(int32(4))}, want: 4},
		"saved replicas may be zero":                                  {minimum: 2, maximum: 3, input: replicaInput{restored: new(int32(0))}, want: 0},
		"a repeated restore keeps existing replicas":                  {minimum: 2, maximum: 5, existing: of(3), input: replicaInput{restored: new(int32(4))}, want: 3},
		"replicas within the limits are kept":                         {minimum: 2, maximum: 5, existing: of(4), want: 4},
		"the minimum increases replicas":                              {minimum: 5, maximum: 9, existing: of(4), want: 5},
		"the maximum decreases replicas":                              {minimum: 1, maximum: 3, existing: of(4), want: 3},
		"a shoot that wakes up has the minimum":                       {minimum: 2, maximum: 5, existing: of(0), want: 2},
		"without autoscaler the minimum overrides replicas":           {minimum: 3, maximum: 3, existing: of(8), want: 3},
		"limits of zero keep zero":                                    {minimum: 0, maximum: 0, existing: of(0), want: 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, tc.want, replicasOf(deployment{minimum: tc.minimum, maximum: tc.maximum}, tc.existing, tc.input))
		})
	}
}
