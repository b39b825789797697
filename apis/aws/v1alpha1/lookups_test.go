package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

func TestStateKeys(t *testing.T) {
	state, err := v1alpha1.DecodeInfrastructureState(&runtime.RawExtension{Raw: upstreamDocument(t, "InfrastructureState")})
	require.NoError(t, err)
	for _, key := range []string{
		v1alpha1.StateKeyVPC, v1alpha1.StateKeyDHCPOptions, v1alpha1.StateKeyElasticFileSystem, v1alpha1.VPCEndpointStateKey("s3"),
		v1alpha1.ZoneStateKey("eu-west-1a", v1alpha1.ZoneKeySuffix), v1alpha1.ZoneStateKey("eu-west-1a", v1alpha1.ZoneKeyNATGateway),
		v1alpha1.ZoneStateKey("eu-west-1a", v1alpha1.ZoneKeyElasticIP), v1alpha1.ZoneStateKey("eu-west-1a", v1alpha1.ZoneKeyRouteTable),
		v1alpha1.MountTargetStateKey("fs-0123456789abcdef0", "subnet-0123456789abcdef0", "sg-0123456789abcdef0"),
	} {
		assert.NotEmpty(t, state.Data[key], key)
	}
	assert.Equal(t, "efsMountTargets/fs-1_subnet-1", v1alpha1.MountTargetStateKey("fs-1", "subnet-1", ""))

	state.Data["Zones/eu-west-1b/Suffix"], state.Data["VPCEndpoints/dynamodb"], state.Data["trellis.Zones"] = "z1", "", "x"
	assert.Equal(t, []string{"eu-west-1a", "eu-west-1b"}, state.Zones())
	assert.Equal(t, map[string]string{"s3": "vpce-0123456789abcdef0"}, state.VPCEndpoints(), "an empty value means deleted")
	assert.Equal(t, map[string]string{"fs-0123456789abcdef0_subnet-0123456789abcdef0_sg-0123456789abcdef0": "fsmt-0123456789abcdef0"}, state.MountTargets())
}

func TestInfrastructureStatus_Lookups(t *testing.T) {
	status, err := v1alpha1.DecodeInfrastructureStatus(&runtime.RawExtension{Raw: upstreamDocument(t, "InfrastructureStatus")})
	require.NoError(t, err)
	assert.Equal(t, "subnet-0123456789abcdef1", status.VPC.FindSubnet(v1alpha1.PurposePublic, "eu-west-1a").ID)
	assert.Nil(t, status.VPC.FindSubnet(v1alpha1.PurposePublic, "eu-west-1b"))
	assert.Equal(t, "sg-0123456789abcdef0", status.VPC.FindSecurityGroup(v1alpha1.PurposeNodes).ID)
	assert.Nil(t, status.VPC.FindSecurityGroup(v1alpha1.PurposePublic))
	assert.Equal(t, "shoot--foo--bar-nodes", status.IAM.FindInstanceProfile(v1alpha1.PurposeNodes).Name)
	assert.Nil(t, status.IAM.FindInstanceProfile(v1alpha1.PurposePublic))
	assert.Equal(t, "arn:aws:iam::123456789012:role/shoot--foo--bar-nodes", status.IAM.FindRole(v1alpha1.PurposeNodes).ARN)
	assert.Nil(t, status.IAM.FindRole(v1alpha1.PurposePublic))
}

func TestConfig_Lookups(t *testing.T) {
	infrastructure := &v1alpha1.InfrastructureConfig{}
	assert.False(t, infrastructure.UsesDualStack() || infrastructure.UsesElasticFileSystem() || infrastructure.Networks.HasExistingSubnets())
	infrastructure, err := v1alpha1.DecodeInfrastructureConfig(&runtime.RawExtension{Raw: upstreamDocument(t, "InfrastructureConfig")})
	require.NoError(t, err)
	assert.True(t, infrastructure.UsesDualStack() && infrastructure.UsesElasticFileSystem() && infrastructure.Networks.HasExistingSubnets())

	controlPlane := &v1alpha1.ControlPlaneConfig{}
	assert.False(t, controlPlane.UsesCustomRouteController())
	controlPlane.CloudControllerManager = &v1alpha1.CloudControllerManagerConfig{UseCustomRouteController: new(true)}
	assert.True(t, controlPlane.UsesCustomRouteController())

	worker := &v1alpha1.WorkerConfig{DataVolumes: []v1alpha1.DataVolume{{Name: "a"}, {Name: "b", IOPS: new(int32(1))}}}
	assert.Equal(t, int32(1), *worker.FindDataVolume("b").IOPS)
	assert.Nil(t, worker.FindDataVolume("c"))
}
