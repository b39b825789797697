package openstack

import (
	"encoding/json"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
)

func statusWith(state, providerStatus string) extensionsv1alpha1.InfrastructureStatus {
	var status extensionsv1alpha1.InfrastructureStatus
	if state != "" {
		status.State = &runtime.RawExtension{Raw: []byte(state)}
	}
	if providerStatus != "" {
		status.ProviderStatus = &runtime.RawExtension{Raw: []byte(providerStatus)}
	}
	return status
}

func TestState_RoundTrip(t *testing.T) {
	before := newState()
	before.recordResource(kindNetwork, "net-1", own)
	before.recordResource(kindRouter, "router-1", given)
	before.RecordIntent(kindSubnet, "shoot--a")
	before.SetFact(openstackv1alpha1.StateKeyNetworkName, "shoot--a")
	raw, err := json.Marshal(before.infrastructureState())
	require.NoError(t, err)

	after, err := loadState(statusWith(string(raw), ""))
	require.NoError(t, err)
	assert.Equal(t, "net-1", after.ID(kindNetwork))
	assert.Equal(t, own, after.Owner(kindNetwork))
	assert.Equal(t, given, after.Owner(kindRouter))
	assert.Equal(t, "shoot--a", after.Intent(kindSubnet))
	assert.Empty(t, cmp.Diff(before.infrastructureState(), after.infrastructureState()))
}

func TestState_StringsOnly(t *testing.T) {
	s := newState()
	s.recordResource(kindNetwork, "net-1", own)
	s.RecordIntent(kindSubnet, "shoot--a")
	raw, err := json.Marshal(s.infrastructureState())
	require.NoError(t, err)
	var upstream struct {
		APIVersion, Kind string
		Data             map[string]string // how the upstream extension decodes it
	}
	require.NoError(t, json.Unmarshal(raw, &upstream))
	assert.Equal(t, "InfrastructureState", upstream.Kind)
	assert.Equal(t, "net-1", upstream.Data["Network"])
	for key := range upstream.Data {
		if key != "Network" {
			assert.Contains(t, key, "trellis.")
		}
	}
}

func TestLoadState_FromUpstream(t *testing.T) {
	const group = `"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1"`
	for name, test := range map[string]struct {
		state, providerStatus string
		want                  map[kind]string
	}{
		"its state":                 {`{` + group + `,"kind":"InfrastructureState","data":{"Network":"n","Router":"r"}}`, "", map[kind]string{kindNetwork: "n", kindRouter: "r"}},
		"its state of former times": {`{` + group + `,"kind":"FlowState","data":{"Network":"n","RouterIP":"1.2.3.4"}}`, "", map[kind]string{kindNetwork: "n", "RouterIP": ""}},
		"a Terraform state, which counts as none, and its status": {
			`{"version":4,"resources":[]}`,
			`{` + group + `,"kind":"InfrastructureStatus","networks":{"id":"n","router":{"id":"r"},"subnets":[{"purpose":"nodes","id":"s"},{"purpose":"pods","id":"p"}]},
			"node":{"keyName":"k"},"securityGroups":[{"purpose":"nodes","id":"g","name":"gn"}]}`,
			map[kind]string{kindNetwork: "n", kindRouter: "r", kindSubnet: "s", kindSubnetPods: "p", kindKeyPair: "k", kindSecurityGroup: "g"},
		},
		"the state beats the status": {
			`{` + group + `,"kind":"InfrastructureState","data":{"Network":"new"}}`,
			`{"networks":{"id":"old"}}`,
			map[kind]string{kindNetwork: "new"},
		},
		"nothing":       {"", "", map[kind]string{kindNetwork: ""}},
		"null":          {"null", "", map[kind]string{kindNetwork: ""}},
		"null in a key": {`{` + group + `,"kind":"InfrastructureState","data":{"trellis.intents":"null","trellis.ownership":"null","Network":"n"}}`, "", map[kind]string{kindNetwork: "n"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := loadState(statusWith(test.state, test.providerStatus))
			require.NoError(t, err)
			for k, id := range test.want {
				assert.Equal(t, id, s.ID(k), k)
				assert.Equal(t, ownershipUnknown, s.Owner(k))
			}
			s.RecordIntent(kindRouter, "x") // still writable
			s.recordResource(kindRouter, "x", own)
		})
	}
	_, err := loadState(statusWith(`{"kind":`, ""))
	assert.ErrorContains(t, err, "status.state")
}

func TestLoadState_Unreadable(t *testing.T) {
	env := newEnvironment(t)
	env.infra.Status.State = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","data":7}`)}
	_, err := env.reconcile() // validates first
	require.ErrorContains(t, err, "reading status.state of the Infrastructure")
	assert.Equal(t, cloud.Unknown, cloud.KindOf(err))
	err = env.delete()
	require.ErrorContains(t, err, "reading status.state of the Infrastructure")
	assert.Equal(t, cloud.Unknown, cloud.KindOf(err))
}

func TestState_Forget(t *testing.T) {
	s := newState()
	s.recordResource(kindSecurityGroup, "g", own)
	s.SetFact(openstackv1alpha1.StateKeySecurityGroupName, "shoot--a")
	s.Forget(kindSecurityGroup, factsOf(kindSecurityGroup)...)
	assert.True(t, s.Empty(), "D22: nothing of a deleted resource stays behind")
	assert.Empty(t, s.infrastructureState().Data)
}

func TestState_SetLeftovers(t *testing.T) {
	s := newState()
	assert.Empty(t, s.leftovers())
	s.setLeftovers([]string{"securitygroup/b", "floatingip/a", "floatingip/a"})
	assert.Equal(t, []string{"floatingip/a", "securitygroup/b"}, s.leftovers())
	s.setLeftovers(nil)
	assert.True(t, s.Empty())
}

// The upstream extension adds what stands under its key to the ranges of nodes.
func TestState_WorkersCIDR(t *testing.T) {
	t.Run("is not upstream's without a subnet pool", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		assert.NotContains(t, env.state(), "WorkersCIDR")
		assert.Equal(t, "10.250.0.0/19", env.state()["trellis.workersCIDR"])
	})
	t.Run("goes from a state in which it stood without one", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		data := env.state()
		data["WorkersCIDR"] = "10.250.0.0/19"
		delete(data, "trellis.workersCIDR")
		env.infra.Status.State = env.marshal(map[string]any{
			"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": data,
		})
		env.mustReconcile()
		assert.NotContains(t, env.state(), "WorkersCIDR")
		assert.Equal(t, "10.250.0.0/19", env.state()["trellis.workersCIDR"])
	})
}
