package mutation

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestDifference(t *testing.T) {
	for sentence, test := range map[string]struct{ before, after, want string }{
		"nothing changes":                      {`{"a":[1,{"b":null}]}`, `{"a":[1,{"b":null}]}`, `null`},
		"a field changes its value":            {`{"a":1,"b":1}`, `{"a":2,"b":1}`, `[{"op":"replace","path":"/a","value":2}]`},
		"a field changes its type":             {`{"a":[1]}`, `{"a":{"b":1}}`, `[{"op":"replace","path":"/a","value":{"b":1}}]`},
		"fields come and go, by odd names too": {`{"a/b":1}`, `{"~":1}`, `[{"op":"remove","path":"/a~1b","value":null},{"op":"add","path":"/~0","value":1}]`},
		"words are taken out of a list": {
			`["a","b","c","d","e"]`, `["a","c","e"]`, `[{"op":"remove","path":"/1","value":null},{"op":"remove","path":"/2","value":null}]`,
		},
		"a word changes in its place": {
			`["a","b","c"]`, `["a","x","c"]`, `[{"op":"remove","path":"/1","value":null},{"op":"add","path":"/1","value":"x"}]`,
		},
		"words come in and last": {`["a","b"]`, `["x","a","b","y"]`, `[{"op":"add","path":"/0","value":"x"},{"op":"add","path":"/3","value":"y"}]`},
		"a named object is taken out, and another one changes": {
			`[{"name":"a","x":1},{"name":"b","x":1},{"name":"c","x":1}]`, `[{"name":"b","x":1},{"name":"c","x":2}]`,
			`[{"op":"remove","path":"/0","value":null},{"op":"replace","path":"/1/x","value":2}]`,
		},
		"mounts go by their path, of which each is there once": {
			`[{"name":"a","mountPath":"/1"},{"name":"a","mountPath":"/2"}]`, `[{"name":"b","mountPath":"/2"}]`,
			`[{"op":"remove","path":"/0","value":null},{"op":"replace","path":"/0/name","value":"b"}]`,
		},
		"objects without a name are taken out by what they are": {
			`[{"x":1},{"x":2}]`, `[{"x":2}]`, `[{"op":"remove","path":"/0","value":null}]`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var before, after any
			require.NoError(t, json.Unmarshal([]byte(test.before), &before))
			require.NoError(t, json.Unmarshal([]byte(test.after), &after))
			got, err := json.Marshal(difference("", before, after))
			require.NoError(t, err)
			assert.Equal(t, test.want, string(got))
		})
	}
}

// document returns a value of few names, so that two of them have something in common.
func document(random *rand.Rand, depth int) any {
	name := func() string { return string(rune('a' + random.IntN(4))) }
	switch kind := random.IntN(6); {
	case depth == 0 || kind < 2:
		return name()
	case kind < 4:
		list := []any{}
		for range random.IntN(6) {
			list = append(list, document(random, depth-1))
		}
		return list
	default:
		object := map[string]any{}
		for range random.IntN(4) {
			object[[]string{"name", "path", "x", "y"}[random.IntN(4)]] = document(random, depth-1)
		}
		return object
	}
}

func TestDifference_RandomDocuments(t *testing.T) {
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 0))
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}, "spec": document(random, 5),
		}}
		want := object.DeepCopy()
		want.Object["spec"] = document(random, 5)
		store := fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(object).Build()

		patch, err := json.Marshal(difference("/spec", object.Object["spec"], want.Object["spec"]))
		require.NoError(t, err)
		if string(patch) != "null" {
			require.NoError(t, store.Patch(t.Context(), object, client.RawPatch(types.JSONPatchType, patch)), "seed %d: %s", seed, patch)
		}
		require.Equal(t, want.Object["spec"], object.Object["spec"], "seed %d", seed)
	}
}
