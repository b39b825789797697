package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

func TestDecodeStored_UnknownFields(t *testing.T) {
	document := func(kind, rest string) *runtime.RawExtension {
		return &runtime.RawExtension{Raw: []byte(`{` + apiVersion + `,"kind":"` + kind + `",` + rest + `}`)}
	}
	infrastructure, err := v1alpha1.DecodeStoredInfrastructureConfig(document("InfrastructureConfig", `"colour":"red","networks":{"worker":"10.250.0.0/19"}`))
	require.NoError(t, err)
	require.Equal(t, "10.250.0.0/19", infrastructure.Networks.Workers, "defaults are applied")

	controlPlane, err := v1alpha1.DecodeStoredControlPlaneConfig(document("ControlPlaneConfig", `"colour":"red","loadBalancerProvider":"ovn"`))
	require.NoError(t, err)
	require.Equal(t, "ovn", controlPlane.LoadBalancerProvider)

	worker, err := v1alpha1.DecodeStoredWorkerConfig(document("WorkerConfig", `"colour":"red","configDrive":true`))
	require.NoError(t, err)
	require.True(t, *worker.ConfigDrive)
	worker, err = v1alpha1.DecodeStoredWorkerConfig(nil)
	require.NoError(t, err)
	require.NotNil(t, worker)

	_, err = v1alpha1.DecodeStoredInfrastructureConfig(nil)
	require.ErrorContains(t, err, "a providerConfig is required")
	_, err = v1alpha1.DecodeStoredInfrastructureConfig(document("WorkerConfig", `"colour":"red"`))
	require.ErrorContains(t, err, "set apiVersion to")
	_, err = v1alpha1.DecodeStoredControlPlaneConfig(document("ControlPlaneConfig", `"loadBalancerProvider":7`))
	require.ErrorContains(t, err, "loadBalancerProvider must be a string")
}
