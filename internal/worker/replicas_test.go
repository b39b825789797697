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
		at               replicaInput
		want             int32
	}{
		"a shoot that is to sleep has no machines":                                 {minimum: 2, maximum: 5, existing: of(3), at: replicaInput{hibernated: true}, want: 0},
		"a shoot that is hibernated has no machines":                               {minimum: 2, maximum: 5, at: replicaInput{hibernated: true}, want: 0},
		"a shoot that moves while hibernated brings no machines":                   {minimum: 2, maximum: 5, at: replicaInput{hibernated: true, restored: new(int32(4))}, want: 0},
		"a new zone begins with its minimum":                                       {minimum: 2, maximum: 5, want: 2},
		"a new zone may begin with nothing":                                        {minimum: 0, maximum: 5, want: 0},
		"a shoot that moves brings its machines":                                   {minimum: 2, maximum: 5, at: replicaInput{restored: new(int32(4))}, want: 4},
		"a shoot that moves brings more machines than it may have now":             {minimum: 2, maximum: 3, at: replicaInput{restored: new(int32(4))}, want: 4},
		"a shoot that moves with nothing begins with nothing":                      {minimum: 2, maximum: 3, at: replicaInput{restored: new(int32(0))}, want: 0},
		"a second try of a move keeps what the first has made":                     {minimum: 2, maximum: 5, existing: of(3), at: replicaInput{restored: new(int32(4))}, want: 3},
		"the autoscaler's choice stays":                                            {minimum: 2, maximum: 5, existing: of(4), want: 4},
		"a higher minimum lifts":                                                   {minimum: 5, maximum: 9, existing: of(4), want: 5},
		"a lower maximum lowers":                                                   {minimum: 1, maximum: 3, existing: of(4), want: 3},
		"a shoot that wakes up begins with its minimum":                            {minimum: 2, maximum: 5, existing: of(0), want: 2},
		"without an autoscaler the minimum holds, whatever somebody has scaled to": {minimum: 3, maximum: 3, existing: of(8), want: 3},
		"a zone without machines stays so":                                         {minimum: 0, maximum: 0, existing: of(0), want: 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, tc.want, replicasOf(deployment{minimum: tc.minimum, maximum: tc.maximum}, tc.existing, tc.at))
		})
	}
}
