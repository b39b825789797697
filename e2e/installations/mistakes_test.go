package installations

import (
	"crypto/rand"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

const (
	chartFile        = "Chart.yaml"
	chartInformation = "apiVersion: v2\nname: odd\nversion: 0.1.0\n"
)

// lanes are by names that registrations can have.
func lanes(t *testing.T, g *ground) map[string]lane {
	t.Helper()
	const group = "installation.trellis.garden/v1alpha1"
	return map[string]lane{
		"ProviderConfig": {reason: "ProviderConfigInvalid", mistakes: []mistake{
			{what: "no providerConfig", says: []string{"providerConfig is required", group}},
			{what: "no apiVersion", edit: func(config map[string]any) { delete(config, "apiVersion") }, says: []string{"set apiVersion to " + group}},
			{what: "another apiVersion", edit: set("apiVersion", "v2"), says: []string{`"v2"`, "set apiVersion to " + group}},
			{what: "no base64", edit: set("chart", "!!!"), says: []string{"chart", "base64"}},
			{what: "no chart", edit: func(config map[string]any) { delete(config, "chart") }, says: []string{"providerConfig.chart", "ociRepository"}},
			{what: "values of Gardener", edit: setIn("values", "gardener", "x"), says: []string{"providerConfig.values.gardener", "remove it"}},
		}},
		"OlderProviderConfig": {reason: "ProviderConfigInvalid", older: true, mistakes: []mistake{
			{what: "an unknown field", edit: set("vlaues", map[string]any{}), says: []string{`"vlaues"`, "correct the name or remove the field"}},
			{what: "an empty object", replace: `{}`, says: []string{"apiVersion", group}},
			{what: "another kind", edit: set("kind", "ControllerDeployment"), says: []string{`kind "ControllerDeployment"`, "kind to ControllerDeploymentConfig"}},
			{what: "two sources", edit: setIn("ociRepository", "ref", "example.org/chart:v1"), says: []string{"providerConfig.ociRepository", "remove one"}},
			{what: "a bad selector", edit: set("valuesOverlays", []any{map[string]any{
				"name": "odd", "values": map[string]any{},
				"seedSelector": map[string]any{"matchExpressions": []any{map[string]any{"key": "a", "operator": "Within", "values": []string{"b"}}}},
			}}), says: []string{"providerConfig.valuesOverlays[0].seedSelector", `"Within"`}},
		}},
		"Chart": {reason: "ChartInformationInvalid", mistakes: []mistake{
			{what: "no archive", edit: set("chart", base64.StdEncoding.EncodeToString([]byte("this is nothing"))), says: []string{"chart", "helm package"}},
			{what: "an archive of something", edit: set("chart", pack(t, map[string]string{"README.md": "nothing"})), says: []string{"chart", chartFile}},
		}},
		"Values": {reason: "ValuesInvalid", mistakes: []mistake{
			{what: "a text that is to be a number", edit: setIn("values", "replicas", "many"), says: []string{"replicas", "integer"}},
		}},
		"Template": {reason: "ChartCannotBeRendered", mistakes: []mistake{
			{what: "a value that a template misses", edit: setIn("values", "image", ""), says: []string{"workload.yaml", "an image is required"}},
			{what: "a template that fails", edit: set("chart", pack(t, map[string]string{
				chartFile: chartInformation, "templates/odd.yaml": "{{ .Values.a.b.c }}",
			})), says: []string{"odd.yaml"}},
			{what: "a template that gives no object", edit: set("chart", pack(t, map[string]string{
				chartFile: chartInformation, "templates/list.yaml": "- a\n- b\n",
			})), says: []string{"list.yaml"}},
		}},
		"Registry": {reason: "OCIChartCannotBePulled", mistakes: pullMistakes(t, g)},
	}
}

// pullMistakes are about registries.
func pullMistakes(t *testing.T, g *ground) []mistake {
	t.Helper()
	_, err := g.registry.Push("charts/workload", "v1", workloadChart(t))
	require.NoError(t, err)
	_, err = g.registry.PushArtifact("charts/image", "v1", "application/vnd.example", "application/vnd.example.layer", []byte("no chart"))
	require.NoError(t, err)
	for _, namespace := range []string{"garden", "seed-" + enclosed} {
		require.NoError(t, g.Client.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "wrong-credentials", Namespace: namespace}, Type: corev1.SecretTypeDockerConfigJson,
			Data: map[string][]byte{corev1.DockerConfigJsonKey: g.registry.DockerConfigOf("puller", "wrong")},
		}))
	}
	from := func(repository string, edit func(map[string]any)) func(map[string]any) {
		return func(config map[string]any) {
			delete(config, "chart")
			source := mapIn(config, "ociRepository")
			source["repository"], source["tag"] = g.registry.Address()+"/"+repository, "v1"
			source["pullSecretRef"], source["caBundleSecretRef"] = map[string]any{"name": pullSecret}, map[string]any{"name": bundleSecret}
			edit(source)
		}
	}
	without := func(field string) func(map[string]any) { return func(source map[string]any) { delete(source, field) } }
	return []mistake{
		{what: "no such artifact", edit: from("charts/unheard-of", without("")), says: []string{"charts/unheard-of:v1"}},
		{what: "an image", edit: from("charts/image", without("")), says: []string{"charts/image:v1", "chart"}},
		{what: "refused credentials", edit: from("charts/workload", setIn("pullSecretRef", "name", "wrong-credentials")), says: []string{"pullSecretRef", "refuse"}},
		{what: "no credentials", edit: from("charts/workload", without("pullSecretRef")), says: []string{"pullSecretRef", "wants"}},
		{what: "a missing secret", edit: from("charts/workload", setIn("pullSecretRef", "name", "missing")), says: []string{"pullSecretRef", `"missing"`, "create it"}},
		{what: "an untrusted authority", edit: from("charts/workload", without("caBundleSecretRef")), says: []string{"caBundleSecretRef", "trusted"}},
	}
}

func set(field string, value any) func(map[string]any) {
	return func(config map[string]any) { config[field] = value }
}

func setIn(group, field string, value any) func(map[string]any) {
	return func(config map[string]any) { mapIn(config, group)[field] = value }
}

func mapIn(config map[string]any, field string) map[string]any {
	found, ok := config[field].(map[string]any)
	if !ok {
		found = map[string]any{}
		config[field] = found
	}
	return found
}

// pack packs files in base64.
func pack(t *testing.T, files map[string]string) string {
	t.Helper()
	archive, err := garden.PackFiles("odd", files)
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(archive)
}

// incompressible is a chart that is too large to be kept.
func incompressible(t *testing.T) []byte {
	t.Helper()
	noise := make([]byte, 3<<20)
	_, err := rand.Read(noise)
	require.NoError(t, err)
	chart, err := garden.PackFiles("large", map[string]string{
		chartFile: chartInformation, "noise": base64.StdEncoding.EncodeToString(noise),
	})
	require.NoError(t, err)
	return chart
}
