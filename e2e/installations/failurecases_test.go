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

// allFailureSeries are by names that registrations can have.
func allFailureSeries(t *testing.T, env *environment) map[string]failureSeries {
	t.Helper()
	const group = "installation.trellis.garden/v1alpha1"
	return map[string]failureSeries{
		"ProviderConfig": {reason: "ProviderConfigInvalid", cases: []failureCase{
			{what: "no providerConfig", messages: []string{"providerConfig is required", group}},
			{what: "no apiVersion", edit: func(config map[string]any) { delete(config, "apiVersion") }, messages: []string{"set apiVersion to " + group}},
			{what: "another apiVersion", edit: set("apiVersion", "v2"), messages: []string{`"v2"`, "set apiVersion to " + group}},
			{what: "no base64", edit: set("chart", "!!!"), messages: []string{"chart", "base64"}},
			{what: "no chart", edit: func(config map[string]any) { delete(config, "chart") }, messages: []string{"providerConfig.chart", "ociRepository"}},
			{what: "values of Gardener", edit: setIn("values", "gardener", "x"), messages: []string{"providerConfig.values.gardener", "remove it"}},
		}},
		"OlderProviderConfig": {reason: "ProviderConfigInvalid", older: true, cases: []failureCase{
			{what: "an unknown field", edit: set("vlaues", map[string]any{}), messages: []string{`"vlaues"`, "correct the name or remove the field"}},
			{what: "an empty object", replace: `{}`, messages: []string{"apiVersion", group}},
			{what: "another kind", edit: set("kind", "ControllerDeployment"), messages: []string{`kind "ControllerDeployment"`, "kind to ControllerDeploymentConfig"}},
			{what: "two sources", edit: setIn("ociRepository", "ref", "example.org/chart:v1"), messages: []string{"providerConfig.ociRepository", "remove one"}},
			{what: "a bad selector", edit: set("valuesOverlays", []any{map[string]any{
				"name": "odd", "values": map[string]any{},
				"seedSelector": map[string]any{"matchExpressions": []any{map[string]any{"key": "a", "operator": "Within", "values": []string{"b"}}}},
			}}), messages: []string{"providerConfig.valuesOverlays[0].seedSelector", `"Within"`}},
		}},
		"Chart": {reason: "ChartInformationInvalid", cases: []failureCase{
			{what: "no archive", edit: set("chart", base64.StdEncoding.EncodeToString([]byte("this is nothing"))), messages: []string{"chart", "helm package"}},
			{what: "an archive of something", edit: set("chart", pack(t, map[string]string{"README.md": "nothing"})), messages: []string{"chart", chartFile}},
		}},
		"Values": {reason: "ValuesInvalid", cases: []failureCase{
			{what: "a text that is to be a number", edit: setIn("values", "replicas", "many"), messages: []string{"replicas", "integer"}},
		}},
		"Template": {reason: "ChartCannotBeRendered", cases: []failureCase{
			{what: "a value that a template misses", edit: setIn("values", "image", ""), messages: []string{"workload.yaml", "an image is required"}},
			{what: "a template that fails", edit: set("chart", pack(t, map[string]string{
				chartFile: chartInformation, "templates/odd.yaml": "{{ .Values.a.b.c }}",
			})), messages: []string{"odd.yaml"}},
			{what: "a template that gives no object", edit: set("chart", pack(t, map[string]string{
				chartFile: chartInformation, "templates/list.yaml": "- a\n- b\n",
			})), messages: []string{"list.yaml"}},
		}},
		"Registry": {reason: "OCIChartCannotBePulled", cases: pullFailureCases(t, env)},
	}
}

// pullFailureCases are about registries.
func pullFailureCases(t *testing.T, env *environment) []failureCase {
	t.Helper()
	_, err := env.registry.Push("charts/workload", "v1", workloadChart(t))
	require.NoError(t, err)
	_, err = env.registry.PushArtifact("charts/image", "v1", "application/vnd.example", "application/vnd.example.layer", []byte("no chart"))
	require.NoError(t, err)
	for _, namespace := range []string{"garden", "seed-" + enclosed} {
		require.NoError(t, env.Client.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "wrong-credentials", Namespace: namespace}, Type: corev1.SecretTypeDockerConfigJson,
			Data: map[string][]byte{corev1.DockerConfigJsonKey: env.registry.DockerConfigOf("puller", "wrong")},
		}))
	}
	from := func(repository string, edit func(map[string]any)) func(map[string]any) {
		return func(config map[string]any) {
			delete(config, "chart")
			source := mapIn(config, "ociRepository")
			source["repository"], source["tag"] = env.registry.Address()+"/"+repository, "v1"
			source["pullSecretRef"], source["caBundleSecretRef"] = map[string]any{"name": pullSecret}, map[string]any{"name": bundleSecret}
			edit(source)
		}
	}
	without := func(field string) func(map[string]any) { return func(source map[string]any) { delete(source, field) } }
	return []failureCase{
		{what: "no such artifact", edit: from("charts/unheard-of", without("")), messages: []string{"charts/unheard-of:v1"}},
		{what: "an image", edit: from("charts/image", without("")), messages: []string{"charts/image:v1", "chart"}},
		{what: "refused credentials", edit: from("charts/workload", setIn("pullSecretRef", "name", "wrong-credentials")), messages: []string{"pullSecretRef", "refuse"}},
		{what: "no credentials", edit: from("charts/workload", without("pullSecretRef")), messages: []string{"pullSecretRef", "wants"}},
		{what: "a missing secret", edit: from("charts/workload", setIn("pullSecretRef", "name", "missing")), messages: []string{"pullSecretRef", `"missing"`, "create it"}},
		{what: "an untrusted authority", edit: from("charts/workload", without("caBundleSecretRef")), messages: []string{"caBundleSecretRef", "trusted"}},
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

// incompressible is a chart that is too large for a revision.
func incompressible(t *testing.T) []byte {
	t.Helper()
	randomBytes := make([]byte, 3<<20)
	_, err := rand.Read(randomBytes)
	require.NoError(t, err)
	chart, err := garden.PackFiles("large", map[string]string{
		chartFile: chartInformation, "noise": base64.StdEncoding.EncodeToString(randomBytes),
	})
	require.NoError(t, err)
	return chart
}
