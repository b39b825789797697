package charts

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestRender_InvalidValues(t *testing.T) {
	for sentence, test := range map[string]struct {
		chart  string
		values map[string]any
		want   []string
	}{
		"no types":                       {values: map[string]any{"types": []string{}}, want: []string{"'/types'", "minItems"}},
		"types is not a list":            {values: map[string]any{"types": "openstack"}, want: []string{"'/types'", "want array"}},
		"an unknown role":                {values: map[string]any{"role": "tertiary"}, want: []string{"'/role'", "'primary', 'secondary'"}},
		"an unknown observation":         {values: map[string]any{"observations": []string{"images"}}, want: []string{"'/observations/0'", "'drift', 'quota'"}},
		"an interval of too few seconds": {values: map[string]any{"observationInterval": "9s"}, want: []string{"'/observationInterval'"}},
		"an interval of two units":       {values: map[string]any{"observationInterval": "1h30m"}, want: []string{"'/observationInterval'"}},
		"a secondary without replicas": {
			values: map[string]any{"role": "secondary", "replicaCount": 0},
			want:   []string{"replicaCount: a secondary without replicas renews no heartbeat", "set it to 1 or more, or uninstall"},
		},
		"a secondary of another class": {
			values: map[string]any{"role": "secondary", "extensionClasses": []string{"shoot", "seed"}},
			want:   []string{"extensionClasses: has seed, but a secondary observes objects of shoots only; remove it"},
		},
		"observations for a chart without observations": {
			chart: AdmissionRuntime, values: map[string]any{"observations": []string{}},
			want: []string{"observations: this chart has no such value, only other charts have; remove it"},
		},
		"an unknown value":                  {values: map[string]any{"replicas": 3}, want: []string{"replicas: there is no such value; if it is to be replicaCount, write it so, else remove it"}},
		"an unknown nested value":           {values: map[string]any{"image": map[string]any{"name": "x"}}, want: []string{"'/image'", "'name'"}},
		"an invalid tag":                    {values: map[string]any{"image": map[string]any{"tag": "a b"}}, want: []string{"'/image/tag'"}},
		"an invalid digest":                 {values: map[string]any{"image": map[string]any{"digest": "sha256:12"}}, want: []string{"'/image/digest'"}},
		"no workers":                        {values: map[string]any{"concurrentSyncs": 0}, want: []string{"'/concurrentSyncs'", "minimum"}},
		"an unknown class":                  {values: map[string]any{"extensionClasses": []string{"world"}}, want: []string{"'/extensionClasses/0'"}},
		"an unknown log level":              {values: map[string]any{"logLevel": "trace"}, want: []string{"'/logLevel'"}},
		"a CPU limit":                       {values: map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": 1}}}, want: []string{"'/resources/limits'", "'cpu'"}},
		"an invalid quantity":               {values: map[string]any{"vpa": map[string]any{"minAllowed": map[string]any{"memory": "much"}}}, want: []string{"'/vpa/minAllowed/memory'"}},
		"images without a list":             {chart: "network-controller", values: map[string]any{"imageVectorOverwrite": map[string]any{"x": 1}}, want: []string{"'/imageVectorOverwrite'", "'images'"}},
		"images for a chart without images": {values: map[string]any{"imageVectorOverwrite": ""}, want: []string{"imageVectorOverwrite: this chart has no such value, only other charts have; remove it"}},
		"images that are invalid YAML":      {chart: "network-controller", values: map[string]any{"imageVectorOverwrite": "- a\n- b"}, want: []string{"imageVectorOverwrite: is no document of YAML"}},
		"an etcd without size": {
			chart: "controlplane-controller", values: map[string]any{"etcd": map[string]any{"main": map[string]any{"storageCapacity": "big"}}},
			want: []string{"'/etcd/main/storageCapacity'"},
		},
		"two images of the machine controller": {
			chart: "worker-controller",
			values: map[string]any{
				"machineController":    map[string]any{"images": map[string]any{"openstack": map[string]any{"tag": "v1"}}},
				"imageVectorOverwrite": "images: [{name: machine-controller-manager-provider-openstack, repository: x}]",
			},
			want: []string{`imageVectorOverwrite: names the image "machine-controller-manager-provider-openstack"`, "give one of them"},
		},
		"two images of gardenet's agent": {
			chart: "network-controller",
			values: map[string]any{
				"gardenetAgent":        map[string]any{"image": map[string]any{"tag": "v1"}},
				"imageVectorOverwrite": "images: [{name: gardenet-agent, repository: x}]",
			},
			want: []string{`imageVectorOverwrite: names the image "gardenet-agent"`, "give one of them"},
		},
		"two images of gardenet's service router": {
			chart: "network-controller",
			values: map[string]any{
				"gardenetServiceRouter": map[string]any{"image": map[string]any{"tag": "v1"}},
				"imageVectorOverwrite":  "images: [{name: gardenet-service-router, repository: x}]",
			},
			want: []string{`imageVectorOverwrite: names the image "gardenet-service-router"`, "give one of them"},
		},
		"a type that the binary does not serve": {values: map[string]any{"types": []string{"openstack", "calico"}}, want: []string{"'/types/1'", "'openstack', 'aws'"}},
		"a type that a secondary does not observe": {
			values: map[string]any{"role": "secondary", "types": []string{"openstack", "aws"}}, want: []string{"'/types/1'", "'openstack'"},
		},
		"the same port twice": {values: map[string]any{"usablePorts": []int{1, 2, 1}}, want: []string{"'/usablePorts'", "items at 0 and 2 are equal"}},
		"a label of the selector": {
			values: map[string]any{"podLabels": map[string]string{"app.kubernetes.io/name": "x"}},
			want:   []string{"podLabels: app.kubernetes.io/name is the chart's own, by which it finds its pods; remove it"},
		},
		"a variable that the chart sets": {values: map[string]any{"extraEnv": []any{env("GOMEMLIMIT", "1")}}, want: []string{"'/extraEnv/0/name'"}},
		"a registry without a password": {
			values: map[string]any{"imageRegistries": map[string]any{"registry.example.org": map[string]any{"username": "puller"}}},
			want:   []string{"'/imageRegistries/registry.example.org'", "'password'"},
		},
		"a variable twice":      {values: map[string]any{"extraEnv": []any{env("A", "1"), env("A", "2")}}, want: []string{`extraEnv: has "A" twice`}},
		"an invalid toleration": {values: map[string]any{"tolerations": []any{map[string]any{"keys": "x"}}}, want: []string{"'/tolerations/0'", "'keys'"}},
		"a topology spread constraint without topology": {
			values: map[string]any{"topologySpreadConstraints": []any{map[string]any{"maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}}},
			want:   []string{"'/topologySpreadConstraints/0'", "'topologyKey'"},
		},
		"a limit below the request": {
			values: map[string]any{"resources": map[string]any{"requests": map[string]any{"memory": "1Gi"}, "limits": map[string]any{"memory": "1G"}}},
			want:   []string{"resources: the limit of memory (1G) is below what is asked for (1Gi)"},
		},
		"an invalid unit": {
			values: map[string]any{"resources": map[string]any{"limits": map[string]any{"memory": "1ki"}}}, want: []string{"'/resources/limits/memory'"},
		},
		"too few ports": {values: map[string]any{"usablePorts": []int{1, 2}}, want: []string{"usablePorts: has 2"}},
		"too few ports for webhooks of shoots": {
			chart: "controlplane-controller", values: map[string]any{"types": []string{"aws"}, "usablePorts": []int{1, 2, 3}}, want: []string{"usablePorts: has 3", "four"},
		},
		"an invalid port":                       {values: map[string]any{"usablePorts": []int{1, 2, 70000}}, want: []string{"'/usablePorts/2'"}},
		"webhooks for a chart without webhooks": {values: map[string]any{"disableWebhooks": []string{"*"}}, want: []string{"disableWebhooks: this chart has no such value"}},
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

// Gardener adds values, and later releases may add more. They must not be taken for misspelt values of the chart, and vice versa.
func TestRender_UnknownValues(t *testing.T) {
	for name, suggestion := range map[string]string{
		"replicas": "replicaCount", "podLabel": "podLabels", "type": "types", "imagePullSecert": "imagePullSecrets", "loglevel": "logLevel",
		"nodeSelectors": "nodeSelector", "toleration": "tolerations", "statusGaurd": "statusGuard", "concurrentSync": "concurrentSyncs",
		"vpas": "vpa", "xtraEnv": "extraEnv", "secretguard": "secretGuard", "imageVectorOverwrites": "imageVectorOverwrite",
		"usablePort": "usablePorts", "Image": "image", "gardner": "gardener", "Gardener": "gardener",
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			_, err := Render(archiveOf(t, "network-controller"), releaseOf("network-controller"), withTypes("network-controller", map[string]any{name: 1}))
			assert.ErrorContains(t, err, name+": there is no such value; if it is to be "+suggestion+", write it so, else remove it")
		})
	}
	added := map[string]any{
		"gardenlet": map[string]any{}, "seed": map[string]any{"name": "x"}, "shoot": nil, "nodeNetwork": "10.0.0.0/8", "clusterIdentity": "x", "a": 1, "später": true,
		"credentials": []any{"x"}, "hostNetwork": true,
	}
	for _, name := range all() {
		t.Run("others are ignored by "+name, func(t *testing.T) {
			values := maps.Clone(usualValues(name))
			want := manifest(t, name, withTypes(name, values))
			maps.Copy(values, added)
			var described schema
			require.NoError(t, json.Unmarshal(schemaOf(t, name), &described))
			if _, own := described.Properties["garden"]; !own {
				values["garden"] = map[string]any{"clusterIdentity": "x"}
			}
			assert.Equal(t, want, manifest(t, name, withTypes(name, values)))
		})
	}
}

// The templates get the names of values from files that are generated from the schemas.
func TestTemplates_ValueNames(t *testing.T) {
	var everywhere []string
	for _, name := range all() {
		var described schema
		require.NoError(t, json.Unmarshal(schemaOf(t, name), &described))
		names := slices.Sorted(maps.Keys(described.Properties))
		everywhere = append(everywhere, names...)
		compareNames(t, folder(name), "values", "The names of values in values.schema.json.", names)
	}
	slices.Sort(everywhere)
	compareNames(t, library, "common.values", "The names of values of all charts.", slices.Compact(everywhere))
}

func compareNames(t *testing.T, folder, template, comment string, names []string) {
	t.Helper()
	encoded, err := json.Marshal(names)
	require.NoError(t, err)
	compareFile(t, filepath.Join(folder, templateDir, "_values.tpl"),
		fmt.Sprintf("{{/* %s Generated by go test -update. */}}\n{{- define %q -}}\n%s\n{{- end -}}\n", comment, template, encoded))
}

// The kubelet reads Docker's format.
func TestRender_ImageRegistries(t *testing.T) {
	objects, err := Render(archiveOf(t, "worker-controller"), releaseOf("worker-controller"), withTypes("worker-controller", allValues("worker-controller")))
	require.NoError(t, err)
	for _, object := range objects {
		if object.GetKind() != "Secret" {
			continue
		}
		assert.Equal(t, "kubernetes.io/dockerconfigjson", object.Object["type"])
		encoded, _, err := unstructured.NestedString(object.Object, "data", ".dockerconfigjson")
		require.NoError(t, err)
		document, err := base64.StdEncoding.DecodeString(encoded)
		require.NoError(t, err)
		assert.JSONEq(t, `{"auths":{"registry.example.org:5000":{"username":"puller","password":"p:a\"ss","auth":"`+
			base64.StdEncoding.EncodeToString([]byte(`puller:p:a"ss`))+`"}}}`, string(document))
		return
	}
	require.Fail(t, "there is no Secret")
}

func env(name, value string) map[string]any { return map[string]any{"name": name, "value": value} }

func TestRender_ImageAsString(t *testing.T) {
	const name = "network-controller"
	const document = "images:\n- name: calico-node\n  tag: v1\n  repository: example.org/node\n"
	object := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(document), &object))
	assert.Equal(t,
		manifest(t, name, withTypes(name, map[string]any{"imageVectorOverwrite": object})),
		manifest(t, name, withTypes(name, map[string]any{"imageVectorOverwrite": document})))
}

// schema has the parts of a JSON schema that the test compares.
type schema struct {
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
}

func TestSchema_AllValuesDescribed(t *testing.T) {
	// Helm's default, and a default of null.
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

func TestSchema_SameNameSameDescription(t *testing.T) {
	meanings := map[string]any{}
	for _, name := range Names() {
		var described struct {
			Properties map[string]any `json:"properties"`
		}
		require.NoError(t, json.Unmarshal(schemaOf(t, name), &described))
		delete(described.Properties, "types") // each binary has its own, as of the next two
		delete(described.Properties, "role")
		delete(described.Properties, "observations")
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
