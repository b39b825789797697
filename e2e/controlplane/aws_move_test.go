package controlplane

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// TestControlPlane_FromUpstreamAWS moves a shoot in AWS from upstream's extension, back, and again.
func TestControlPlane_FromUpstreamAWS(t *testing.T) {
	env := newAWSEnvironment(t)
	clusterstest.AssertNoErrors(t, env.Clusters)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *environment)
	}{
		{"TakeOver", testAdoption},
		{"MoveBack", testMoveBack},
		{"DeleteTakenOver", testDeleteAdopted},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, env) }) {
			break // the next would only say the same in more words
		}
	}
	t.Run("Rights", func(t *testing.T) { testRights(t, env, false) })
}

// newAWSEnvironment returns an environment with a shoot in AWS, which has a Node. The control plane makes no requests to AWS: its infrastructure need not exist.
func newAWSEnvironment(t *testing.T) *environment {
	t.Helper()
	what := controller.ControlPlaneFor(aws.Type)
	env := newEnvironmentIn(t, clusters.Options{Cloud: aws.FakeReady(0)}, what, upstreamAWS())
	env.Shoot.InfrastructureStatus = &awsv1alpha1.InfrastructureStatus{
		TypeMeta: metav1.TypeMeta{APIVersion: awsv1alpha1.GroupVersion().String(), Kind: "InfrastructureStatus"},
		VPC: awsv1alpha1.VPCStatus{ID: "vpc-1", Subnets: []awsv1alpha1.Subnet{
			{Purpose: awsv1alpha1.PurposeNodes, ID: "subnet-1", Zone: env.Shoot.Zones[0]}, {Purpose: awsv1alpha1.PurposePublic, ID: "subnet-2", Zone: env.Shoot.Zones[0]},
		}},
	}
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))
	require.NoError(t, env.Cluster.Client.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}))
	env.initial = env.snapshot(t)
	return env
}
