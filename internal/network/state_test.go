package network

import (
	"encoding/json"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestStateOf_FromUpstream(t *testing.T) {
	ours := state{APIVersion: stateVersion, Kind: stateKind, Form: json.RawMessage(`{"a":1}`)}
	for sentence, test := range map[string]struct {
		raw  string
		want state
	}{
		"our own":         {`{"apiVersion":"network.trellis.garden/v1alpha1","kind":"NetworkState","form":{"a":1}}`, ours},
		"another version": {`{"apiVersion":"network.trellis.garden/v2","kind":"NetworkState","form":{"a":1}}`, state{}},
		"another kind":    {`{"apiVersion":"network.trellis.garden/v1alpha1","kind":"Other","form":{"a":1}}`, state{}},
		"no JSON":         {`]`, state{}},
		"none at all":     {``, state{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			object := &extensionsv1alpha1.Network{}
			if test.raw != "" {
				object.Status.State = &runtime.RawExtension{Raw: []byte(test.raw)}
			}
			assert.Equal(t, test.want, stateOf(object))
			assert.False(t, isBetweenStages(object))
		})
	}
}

func TestState_RoundTrip(t *testing.T) {
	stage := &Stage{Name: "rolling out", Gate: Gate{Workloads: []Workload{{Kind: "DaemonSet", Namespace: "kube-system", Name: "example-net"}}, Routes: true}}
	written, err := newState(&Rendering{Form: map[string]any{"mtu": 4}}, stage)
	require.NoError(t, err)
	raw, err := json.Marshal(written)
	require.NoError(t, err)
	object := &extensionsv1alpha1.Network{}
	object.Status.State = &runtime.RawExtension{Raw: raw}
	read := stateOf(object)
	assert.True(t, read.same(written))
	assert.Equal(t, stage.Gate, read.Stage.Gate)
	assert.True(t, isBetweenStages(object))

	_, err = newState(&Rendering{}, nil)
	assert.EqualError(t, err, "encoding the form of the network: there is none")
	_, err = newState(&Rendering{Form: func() {}}, nil)
	assert.ErrorContains(t, err, "encoding the form of the network")
}

func TestState_Same(t *testing.T) {
	of := func(form string) state { return state{Form: json.RawMessage(form)} }
	assert.True(t, of(`{"a":1,"b":{"c":2,"d":3}}`).same(of(`{ "b": {"d":3,"c":2}, "a":1 }`)), "the order of fields says nothing")
	assert.False(t, of(`{"a":1}`).same(of(`{"a":2}`)))
	assert.False(t, of(`["a","b"]`).same(of(`["b","a"]`)), "that of lists does")
	assert.False(t, of(`{"a":1}`).same(state{Form: json.RawMessage(`{"a":1}`), Stage: &pendingStage{Name: "rolling out"}}))
	assert.False(t, of(`{`).same(of(`{`)), "nobody can tell")
	assert.False(t, of(`{}`).same(of(`{`)))
}
