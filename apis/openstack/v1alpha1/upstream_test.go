package v1alpha1_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
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
	upstreamNamed struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	upstreamStatus struct {
		upstreamMeta
		Networks struct {
			upstreamNamed
			FloatingPool upstreamNamed `json:"floatingPool"`
			Router       struct {
				ID               string   `json:"id"`
				IP               string   `json:"ip"`
				ExternalFixedIPs []string `json:"externalFixedIP"`
			} `json:"router"`
			Subnets []struct {
				Purpose string `json:"purpose"`
				ID      string `json:"id"`
				CIDR    string `json:"cidr"`
			} `json:"subnets"`
			ShareNetwork *upstreamNamed `json:"shareNetwork"`
		} `json:"networks"`
		Node struct {
			KeyName string `json:"keyName"`
		} `json:"node"`
		SecurityGroups []struct {
			Purpose string `json:"purpose"`
			upstreamNamed
		} `json:"securityGroups"`
	}
)

func TestEncode_DecodedByUpstream(t *testing.T) {
	t.Run("a state with keys of ours", func(t *testing.T) {
		state := v1alpha1.NewInfrastructureState()
		state.Data[v1alpha1.StateKeyRouter] = "a"
		state.Data[v1alpha1.StateKeyIntents] = `{"network":{"name":"b"}}`
		state.Data[v1alpha1.StateKeyOwnership] = `{"router":"given"}`

		var there upstreamState
		decodeUpstream(t, state, &there)
		require.Equal(t, state.Data, there.Data)
	})

	t.Run("a status in which everything is set", func(t *testing.T) {
		status := v1alpha1.NewInfrastructureStatus()
		fill(reflect.ValueOf(status).Elem())
		status.TypeMeta = v1alpha1.NewInfrastructureStatus().TypeMeta

		var there upstreamStatus
		decodeUpstream(t, status, &there)
		require.Equal(t, "InfrastructureStatus", there.Kind)
		require.Equal(t, status.Networks.Router.ExternalFixedIPs, there.Networks.Router.ExternalFixedIPs)
		require.Equal(t, status.Networks.Subnets[0].CIDR, there.Networks.Subnets[0].CIDR)
		require.Equal(t, status.SecurityGroups[0].Name, there.SecurityGroups[0].Name)
		require.Equal(t, status.Networks.ShareNetwork.Name, there.Networks.ShareNetwork.Name)
		require.Equal(t, status.Node.KeyName, there.Node.KeyName)
	})
}

func TestStateKeys_Prefix(t *testing.T) {
	for _, key := range []string{v1alpha1.StateKeyIntents, v1alpha1.StateKeyOwnership} {
		require.True(t, strings.HasPrefix(key, v1alpha1.StateKeyPrefix), key)
		require.NotContains(t, key, "/", "upstream takes a slash for nesting")
	}
}

func decodeUpstream(t *testing.T, object, into any) {
	t.Helper()
	data, err := json.Marshal(object)
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(into))
}

// fill sets every string, slice and pointer in value to something.
func fill(value reflect.Value) {
	switch value.Kind() {
	case reflect.Struct:
		for _, field := range value.Fields() {
			fill(field)
		}
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		fill(value.Index(0))
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem())
	case reflect.String:
		value.SetString("text of " + value.Type().String())
	}
}
