package v1alpha1_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// What the upstream extension's types have, field by field. A document that decodes strictly into these decodes there.
type (
	upstreamMeta struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	upstreamState struct {
		upstreamMeta
		Data map[string]string `json:"data"`
	}
	upstreamStatus struct {
		upstreamMeta
		EC2 struct {
			KeyName string `json:"keyName"`
		} `json:"ec2"`
		IAM struct {
			InstanceProfiles []struct{ Purpose, Name string } `json:"instanceProfiles"`
			Roles            []struct{ Purpose, ARN string }  `json:"roles"`
		} `json:"iam"`
		VPC struct {
			ID             string                               `json:"id"`
			Subnets        []struct{ Purpose, ID, Zone string } `json:"subnets"`
			SecurityGroups []struct{ Purpose, ID string }       `json:"securityGroups"`
		} `json:"vpc"`
		ElasticFileSystem struct {
			ID string `json:"ID"`
		} `json:"elasticFileSystem"`
	}
)

func TestEncode_DecodedByUpstream(t *testing.T) {
	t.Run("a state with keys of ours", func(t *testing.T) {
		state := v1alpha1.NewInfrastructureState()
		state.Data[v1alpha1.StateKeyVPC], state.Data[v1alpha1.StateKeyPrefix+"intents"] = "vpc-1", `{"vpc":{}}`
		var there upstreamState
		decodeUpstream(t, state, &there)
		assert.Equal(t, state.Data, there.Data)
	})
	t.Run("a status in which everything is set", func(t *testing.T) {
		status, err := v1alpha1.DecodeInfrastructureStatus(&runtime.RawExtension{Raw: upstreamDocument(t, "InfrastructureStatus")})
		require.NoError(t, err)
		var there upstreamStatus
		decodeUpstream(t, status, &there)
		assert.Equal(t, status.VPC.Subnets[0].Zone, there.VPC.Subnets[0].Zone)
		assert.Equal(t, status.IAM.Roles[0].ARN, there.IAM.Roles[0].ARN)
		assert.Equal(t, status.ElasticFileSystem.ID, there.ElasticFileSystem.ID)
	})
	t.Run("an empty status", func(t *testing.T) {
		var there upstreamStatus
		decodeUpstream(t, v1alpha1.NewInfrastructureStatus(), &there)
		assert.Equal(t, "InfrastructureStatus", there.Kind)
	})
}

func decodeUpstream(t *testing.T, object, into any) {
	t.Helper()
	data, err := json.Marshal(object)
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(into))
}
