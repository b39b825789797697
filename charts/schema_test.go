package charts

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestAWrongValueIsAnErrorThatNamesTheField(t *testing.T) {
	for sentence, test := range map[string]struct {
		chart  string
		values map[string]any
		want   []string
	}{
		"no types":                    {values: map[string]any{"types": []string{}}, want: []string{"'/types'", "minItems"}},
		"types are no list":           {values: map[string]any{"types": "openstack"}, want: []string{"'/types'", "want array"}},
		"a role that is none yet":     {values: map[string]any{"role": "secondary"}, want: []string{"'/role'", "'primary'"}},
		"a name that is none":         {values: map[string]any{"replicas": 3}, want: []string{"additional properties 'replicas'"}},
		"a name inside that is none":  {values: map[string]any{"image": map[string]any{"name": "x"}}, want: []string{"'/image'", "'name'"}},
		"a tag that is none":          {values: map[string]any{"image": map[string]any{"tag": "a b"}}, want: []string{"'/image/tag'"}},
		"a digest that is none":       {values: map[string]any{"image": map[string]any{"digest": "sha256:12"}}, want: []string{"'/image/digest'"}},
		"no workers":                  {values: map[string]any{"concurrentSyncs": 0}, want: []string{"'/concurrentSyncs'", "minimum"}},
		"a class that is none":        {values: map[string]any{"extensionClasses": []string{"world"}}, want: []string{"'/extensionClasses/0'"}},
		"a level that is none":        {values: map[string]any{"logLevel": "trace"}, want: []string{"'/logLevel'"}},
		"a limit of CPU":              {values: map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": 1}}}, want: []string{"'/resources/limits'", "'cpu'"}},
		"a quantity that is none":     {values: map[string]any{"vpa": map[string]any{"minAllowed": map[string]any{"memory": "much"}}}, want: []string{"'/vpa/minAllowed/memory'"}},
		"images without a list":       {chart: "network-controller", values: map[string]any{"imageVectorOverwrite": map[string]any{"x": 1}}, want: []string{"'/imageVectorOverwrite'", "'images'"}},
		"images where there are none": {values: map[string]any{"imageVectorOverwrite": ""}, want: []string{"additional properties 'imageVectorOverwrite'"}},
		"images that are no YAML":     {chart: "network-controller", values: map[string]any{"imageVectorOverwrite": "- a\n- b"}, want: []string{"imageVectorOverwrite: is no document of YAML"}},
		"an etcd without size": {
			chart: "controlplane-controller", values: map[string]any{"etcd": map[string]any{"main": map[string]any{"storageCapacity": "big"}}},
			want: []string{"'/etcd/main/storageCapacity'"},
		},
		"the machine controller's image twice": {
			chart: "worker-controller",
			values: map[string]any{
				"machineController":    map[string]any{"image": map[string]any{"tag": "v1"}},
				"imageVectorOverwrite": "images: [{name: machine-controller-manager-provider-openstack, repository: x}]",
			},
			want: []string{`imageVectorOverwrite: names the image "machine-controller-manager-provider-openstack"`, "give one of them"},
		},
		"ports too few":           {values: map[string]any{"usablePorts": []int{1, 2}}, want: []string{"usablePorts: has 2"}},
		"a port that is none":     {values: map[string]any{"usablePorts": []int{1, 2, 70000}}, want: []string{"'/usablePorts/2'"}},
		"webhooks where are none": {values: map[string]any{"disableWebhooks": []string{"*"}}, want: []string{"additional properties 'disableWebhooks'"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			name := test.chart
			if name == "" {
				name = "infrastructure-controller"
			}
			_, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, test.values))
			require.Error(t, err)
			for _, want := range test.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

func TestImagesMayBeTextToo(t *testing.T) {
	const name = "network-controller"
	const document = "images:\n- name: calico-node\n  tag: v1\n  repository: example.org/node\n"
	object := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(document), &object))
	assert.Equal(t,
		manifest(t, name, withTypes(name, map[string]any{"imageVectorOverwrite": object})),
		manifest(t, name, withTypes(name, map[string]any{"imageVectorOverwrite": document})))
}

// schema is as much of a JSON schema as there is to compare.
type schema struct {
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
}

func TestEveryValueIsDescribedAndWrittenDown(t *testing.T) {
	// Helm's own, and one whose default is that there is none.
	undocumented := []string{"global", "common", "imageVectorOverwrite"}
	for _, name := range all() {
		values := map[string]any{}
		document, err := os.ReadFile(filepath.Join(folder(name), "values.yaml"))
		require.NoError(t, err)
		require.NoError(t, yaml.UnmarshalStrict(document, &values))
		var described schema
		require.NoError(t, json.Unmarshal(schemaOf(t, name), &described))
		for _, field := range undocumented {
			assert.NotContains(t, values, field)
			delete(described.Properties, field)
		}
		assert.ElementsMatch(t, slices.Collect(maps.Keys(values)), slices.Collect(maps.Keys(described.Properties)), name)
		for field, property := range described.Properties {
			assert.NotEmpty(t, property.Description, "%s: %s", name, field)
		}
	}
}

func TestValuesOfOneNameMeanTheSameInAllCharts(t *testing.T) {
	meanings := map[string]any{}
	for _, name := range Names() {
		var described struct {
			Properties map[string]any `json:"properties"`
		}
		require.NoError(t, json.Unmarshal(schemaOf(t, name), &described))
		for field, meaning := range described.Properties {
			if known, ok := meanings[field]; ok {
				assert.Empty(t, cmp.Diff(known, meaning), "%s: %s", name, field)
			}
			meanings[field] = meaning
		}
	}
}

func schemaOf(t *testing.T, name string) []byte {
	t.Helper()
	document, err := os.ReadFile(filepath.Join(folder(name), "values.schema.json"))
	require.NoError(t, err)
	return document
}
