package definitions

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func folder() fstest.MapFS {
	return fstest.MapFS{
		"crds/gadgets.yaml": {Data: []byte("# a comment\napiVersion: example.org/v1\nkind: Definition\nmetadata: {name: gadgets, creationTimestamp: null, annotations: {a: b}}\nstatus: {phase: written}\n")},
		"crds/widgets.yaml": {Data: []byte("apiVersion: example.org/v1\nkind: Definition\nmetadata: {name: widgets}\n")},
	}
}

func TestRead(t *testing.T) {
	read, err := Read(folder(), "crds")
	require.NoError(t, err)
	require.Len(t, read, 2)
	assert.Equal(t, []string{"gadgets", "widgets"}, []string{read[0].GetName(), read[1].GetName()})
	assert.NotContains(t, read[0].Object, "status")

	Keep(read)
	assert.Equal(t, map[string]string{"a": "b", "resources.gardener.cloud/keep-object": "true"}, read[0].GetAnnotations())
	assert.Equal(t, map[string]string{"resources.gardener.cloud/keep-object": "true"}, read[1].GetAnnotations())
	again, err := Read(folder(), "crds")
	require.NoError(t, err)
	assert.Empty(t, again[1].GetAnnotations(), "each call decodes again")

	_, err = Read(folder(), "missing")
	assert.ErrorContains(t, err, "listing definitions: ")
	_, err = Read(fstest.MapFS{"crds/broken.yaml": {Data: []byte("{")}}, "crds")
	assert.ErrorContains(t, err, "decoding broken.yaml: ")
}

func TestEncode(t *testing.T) {
	read, err := Read(folder(), "crds")
	require.NoError(t, err)
	encoded, err := Encode(read)
	require.NoError(t, err)
	require.Len(t, encoded, 2)
	for _, object := range []any{encoded[0], encoded[0].DeepCopyObject()} {
		content, err := json.Marshal(object)
		require.NoError(t, err)
		assert.JSONEq(t, `{"apiVersion": "example.org/v1", "kind": "Definition", "metadata": {"name": "gadgets", "annotations": {"a": "b"}}}`, string(content))
		assert.Equal(t, "Definition", object.(*Encoded).Kind)
		assert.Equal(t, "gadgets", object.(*Encoded).Name)
	}

	_, err = Encode([]*unstructured.Unstructured{{Object: map[string]any{"metadata": map[string]any{"name": "odd"}, "value": math.Inf(1)}}})
	assert.ErrorContains(t, err, "encoding definition odd: ")
}

func TestOnce(t *testing.T) {
	calls := 0
	once := Once(func() ([]*unstructured.Unstructured, error) {
		calls++
		return Read(folder(), "crds")
	})
	for range 2 {
		objects, err := once()
		require.NoError(t, err)
		assert.Len(t, objects, 2)
	}
	assert.Equal(t, 1, calls)

	broken := errors.New("broken")
	_, err := Once(func() ([]*unstructured.Unstructured, error) { return nil, broken })()
	assert.ErrorIs(t, err, broken)
}
