package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
)

func document(kind, fields string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: []byte(`{"apiVersion":"example.org/v1alpha1","kind":"` + kind + `"` + fields + `}`)}
}

func TestDecode_UserDocuments(t *testing.T) {
	for sentence, test := range map[string]struct {
		raw  *runtime.RawExtension
		want string
	}{
		"a valid configuration":          {document("WorkerConfig", `,"group":true`), ""},
		"no configuration":               {nil, ""},
		"an unknown field":               {document("WorkerConfig", `,"groups":true`), `unknown field "groups"`},
		"a wrong type":                   {document("WorkerConfig", `,"group":"yes"`), "group must be true or false"},
		"another kind":                   {document("InfrastructureConfig", ""), "kind to WorkerConfig"},
		"a configuration without a kind": {&runtime.RawExtension{Raw: []byte(`{"group":true}`)}, "kind to WorkerConfig"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := v1alpha1.DecodeWorkerConfig(test.raw)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestDecode_RequiredDocuments(t *testing.T) {
	_, err := v1alpha1.DecodeInfrastructureConfig(nil)
	require.ErrorContains(t, err, "a providerConfig is required")
	_, err = v1alpha1.DecodeControlPlaneConfig(document("ControlPlaneConfig", `,"zone":"a"`))
	require.ErrorContains(t, err, `unknown field "zone"`)
	profile, err := v1alpha1.DecodeCloudProfileConfig(document("CloudProfileConfig", `,"url":"https://cloud.example.org","later":1`))
	require.NoError(t, err, "admitted documents may be of a later version")
	require.Equal(t, "https://cloud.example.org", profile.URL)
}

func TestDecode_OwnDocuments(t *testing.T) {
	infrastructure := v1alpha1.NewInfrastructureStatus()
	infrastructure.Network, infrastructure.Subnet = "network", "subnet"
	raw, err := v1alpha1.Encode(infrastructure)
	require.NoError(t, err)
	decodedInfrastructure, err := v1alpha1.DecodeInfrastructureStatus(raw)
	require.NoError(t, err)
	require.Equal(t, infrastructure, decodedInfrastructure)

	worker := v1alpha1.NewWorkerStatus()
	worker.Groups = map[string]string{"pool": "group"}
	decodedWorker, err := v1alpha1.DecodeWorkerStatus(&runtime.RawExtension{Object: worker})
	require.NoError(t, err)
	require.Equal(t, worker, decodedWorker)
	empty, err := v1alpha1.DecodeWorkerStatus(nil)
	require.NoError(t, err)
	require.Equal(t, v1alpha1.NewWorkerStatus(), empty)

	machine := v1alpha1.NewMachineProviderSpec()
	machine.Owner, machine.Zone, machine.Feature = "uid", "zone", true
	raw, err = v1alpha1.Encode(machine)
	require.NoError(t, err)
	decodedMachine, err := v1alpha1.DecodeMachineProviderSpec(raw)
	require.NoError(t, err)
	require.Equal(t, machine, decodedMachine)
}
