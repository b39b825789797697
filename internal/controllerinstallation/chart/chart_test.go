package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

const metadata = "apiVersion: v2\nname: example\nversion: 0.1.0\n"

// pack writes an archive of files below example/. Chart.yaml need not be among them.
func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	all := map[string]string{"Chart.yaml": metadata}
	maps.Copy(all, files)
	return gzipped(t, func(archive *tar.Writer) {
		for _, file := range slices.Sorted(maps.Keys(all)) {
			require.NoError(t, archive.WriteHeader(&tar.Header{Name: "example/" + file, Mode: 0o644, Size: int64(len(all[file]))}))
			_, err := archive.Write([]byte(all[file]))
			require.NoError(t, err)
		}
	})
}

func gzipped(t *testing.T, write func(*tar.Writer)) []byte {
	t.Helper()
	var content bytes.Buffer
	zip := gzip.NewWriter(&content)
	archive := tar.NewWriter(zip)
	write(archive)
	require.NoError(t, archive.Close())
	require.NoError(t, zip.Close())
	return content.Bytes()
}

func load(t *testing.T, files map[string]string) *Chart {
	t.Helper()
	loaded, err := Load(pack(t, files))
	require.NoError(t, err)
	return loaded
}

func release() Release {
	return Release{Name: "network", Namespace: "extension-network", KubernetesVersion: "v1.36.3"}
}

// assertProblem compares all that an admin gets to read.
func assertProblem(t *testing.T, err error, reason, message string) {
	t.Helper()
	found, is := problem.In(err)
	if assert.True(t, is, "a problem is expected, not: %v", err) {
		assert.Equal(t, reason, found.Reason)
		assert.Equal(t, message, found.Message)
	}
}

// fullChart uses all of Helm that changes what is installed.
func fullChart() map[string]string {
	return map[string]string{
		"Chart.yaml": metadata + `
kubeVersion: ">= 99"
dependencies:
- {name: agent, version: 0.1.0, condition: agent.enabled, import-values: [{child: shared, parent: imported}]}
- {name: agent, version: 0.1.0, alias: second}
`,
		"values.yaml":                 "replicas: 1\nimage: {name: controller, tag: v1}\nagent: {enabled: false}\nimported: {level: none}\n",
		"values.schema.json":          `{"properties": {"replicas": {"type": "integer", "minimum": 1}}}`,
		"crds/crd.yaml":               "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.org}\n",
		"templates/NOTES.txt":         "Thank you for installing {{ .Chart.Name }}.",
		"templates/_names.tpl":        `{{- define "name" }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}`,
		"templates/comments.yaml":     "# nothing is here\n---\n\n---\n# nor here\n---\n{}\n",
		"templates/empty.yaml":        "{{ if false }}kind: Pod{{ end }}",
		"templates/hook.yaml":         "apiVersion: batch/v1\nkind: Job\nmetadata: {name: before, annotations: {helm.sh/hook: pre-install}}\n",
		"templates/a-deployment.yaml": deployment,
		"templates/several.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: second, labels: {a: b, a: c}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: first, namespace: kube-system}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: '{{ include "name" . }}'}
`,
		"charts/agent/Chart.yaml":               "apiVersion: v2\nname: agent\nversion: 0.1.0\n",
		"charts/agent/values.yaml":              "shared: {level: high}\n",
		"charts/agent/crds/crd.yaml":            "kind: CustomResourceDefinition\n",
		"charts/agent/templates/daemonset.yaml": "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: '{{ .Chart.Name }}'}\n",
	}
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "name" . }}
  namespace: {{ .Release.Namespace }}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
      - name: controller
        image: {{ .Values.image.name }}:{{ .Values.image.tag }}
        args: [--level={{ .Values.imported.level }}]
`

func names(objects []*unstructured.Unstructured) []string {
	var all []string
	for _, object := range objects {
		all = append(all, object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName())
	}
	return all
}

func TestRender(t *testing.T) {
	chart := load(t, fullChart())
	assert.Equal(t, "example 0.1.0", chart.Name())

	objects, err := chart.Render(release(), map[string]any{"replicas": 3, "image": map[string]any{"tag": "v2"}})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"ServiceAccount /network-example", "ConfigMap /second", "ConfigMap kube-system/first", "DaemonSet /second",
		"Deployment extension-network/network-example",
	}, names(objects), "in the order in which Helm installs")
	assert.Empty(t, cmp.Diff(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "network-example", "namespace": "extension-network"},
		"spec": map[string]any{
			"replicas": int64(3),
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
				"name": "controller", "image": "controller:v2", "args": []any{"--level=none"},
			}}}},
		},
	}, objects[4].Object), "given values go over the chart's own")
	assert.Equal(t, map[string]string{"a": "c"}, objects[1].GetLabels(), "of two equal keys the last one wins")

	objects, err = chart.Render(release(), map[string]any{"agent": map[string]any{"enabled": true}})
	require.NoError(t, err)
	assert.Contains(t, names(objects), "DaemonSet /agent", "what the chart was rendered for before has left no trace")
	args, _, _ := unstructured.NestedSlice(objects[len(objects)-1].Object, "spec", "template", "spec", "containers")
	assert.Contains(t, args[0], "args")
}

func TestRender_NoObjects(t *testing.T) {
	objects, err := load(t, map[string]string{"templates/_only.tpl": "kind: Pod"}).Render(release(), nil)
	require.NoError(t, err)
	assert.Empty(t, objects)
}

// What templates see is what they see in gardenlet (gardener/pkg/chartrenderer).
func TestRender_TemplateInput(t *testing.T) {
	values := map[string]any{"integer": 1000000, "nested": map[string]any{"a": nil}, "list": []string{"x"}}
	for expression, expected := range map[string]string{
		`.Release.Name`:                 "network",
		`.Release.Namespace`:            "extension-network",
		`.Release.Service`:              "Helm",
		`printf "%d" .Release.Revision`: "1",
		`printf "%t %t" .Release.IsInstall .Release.IsUpgrade`: "true false",
		`.Capabilities.KubeVersion.String`:                     "v1.36.3",
		`.Capabilities.KubeVersion.Version`:                    "v1.36.3",
		`.Capabilities.KubeVersion.Major`:                      "1",
		`.Capabilities.KubeVersion.Minor`:                      "36",
		`.Capabilities.APIVersions | len`:                      "0",
		`.Capabilities.APIVersions.Has "v1"`:                   "false",
		`.Capabilities.HelmVersion.Version`:                    "",
		`lookup "v1" "Secret" "garden" "any" | toJson`:         "{}",
		`.Values.integer`:                                      "1e+06",
		`.Values.nested | toJson`:                              `{"a":null}`,
		`.Values.list | toJson`:                                `["x"]`,
		`.Values | toJson`:                                     `{"integer":1000000,"list":["x"],"nested":{"a":null}}`,
		`.Chart.Name`:                                          "example",
		`.Template.Name`:                                       "example/templates/see.yaml",
		`.Files.Get "extra.txt"`:                               "more",
		`getHostByName "localhost"`:                            "",
	} {
		chart := load(t, map[string]string{
			"extra.txt":          "more",
			"templates/see.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: see}\ndata: {seen: {{ " + expression + " | toString | quote }}}\n",
		})
		objects, err := chart.Render(release(), values)
		require.NoError(t, err, expression)
		seen, _, err := unstructured.NestedString(objects[0].Object, "data", "seen")
		require.NoError(t, err)
		assert.Equal(t, expected, seen, expression)
	}
}

func TestCapabilities(t *testing.T) {
	for kubernetes, expected := range map[string][2]string{
		"v1.36.3":               {"1", "36"},
		"v1.33.4-gke.1245000":   {"1", "33+"},
		"v1.31.1+k3s1":          {"1", "31"},
		"v1.37.0-alpha.1+0a1b2": {"1", "37+"},
	} {
		found, err := capabilities(kubernetes)
		require.NoError(t, err)
		assert.Equal(t, kubernetes, found.KubeVersion.Version)
		assert.Equal(t, expected, [2]string{found.KubeVersion.Major, found.KubeVersion.Minor}, kubernetes)
	}

	_, err := load(t, fullChart()).Render(Release{KubernetesVersion: "new"}, nil)
	assert.ErrorContains(t, err, "reading the version of Kubernetes: ")
	_, is := problem.In(err)
	assert.False(t, is, "no admin can do anything about it")
}

// With Helm's own functions on one loaded chart this fails, and the race detector complains.
func TestRender_Concurrently(t *testing.T) {
	chart := load(t, fullChart())
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			values := map[string]any{"replicas": i + 1, "agent": map[string]any{"enabled": i%2 == 0}, "image": map[string]any{"tag": fmt.Sprint(i)}}
			before, err := json.Marshal(values)
			assert.NoError(t, err)
			expected := []string{"ServiceAccount /network-example", "ConfigMap /second", "ConfigMap kube-system/first"}
			if i%2 == 0 {
				expected = append(expected, "DaemonSet /agent")
			}
			expected = append(expected, "DaemonSet /second", "Deployment extension-network/network-example")
			for range 5 {
				objects, err := chart.Render(release(), values)
				if !assert.NoError(t, err) || !assert.Equal(t, expected, names(objects)) {
					return
				}
				replicas, _, err := unstructured.NestedInt64(objects[len(objects)-1].Object, "spec", "replicas")
				assert.NoError(t, err)
				assert.Equal(t, int64(i+1), replicas)
			}
			after, err := json.Marshal(values)
			assert.NoError(t, err)
			assert.Equal(t, string(before), string(after), "values are not changed")
		})
	}
	group.Wait()
}

// Overlays and what is mixed in share maps: a rendering must not write into them.
func TestRender_ValuesUnchanged(t *testing.T) {
	shared := map[string]any{"global": map[string]any{"x": "y"}, "agent": map[string]any{"enabled": true}, "image": map[string]any{}, "nothing": nil}
	before := runtime.DeepCopyJSON(shared)
	chart := load(t, fullChart())
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := chart.Render(release(), shared)
			assert.NoError(t, err)
		})
	}
	group.Wait()
	assert.Empty(t, cmp.Diff(before, shared))
}
