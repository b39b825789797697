package workload

import (
	"context"
	"fmt"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func reference(name, kind, object string) gardencorev1.NamedResourceReference {
	return gardencorev1.NamedResourceReference{
		Name: name, ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: kind, Name: object},
	}
}

// assertProblem checks what an admin is told.
func assertProblem(t *testing.T, err error, message string) {
	t.Helper()
	found, ok := problem.In(err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, problem.RenderingHelmValuesFailed, found.Reason)
	assert.Contains(t, found.Message, message)
}

func TestResolveResources(t *testing.T) {
	admin, namespace := start(t).client, newNamespace(t)
	released := map[string]string{"gardener.cloud/role": "resource-reference"}
	meta := func(name string, labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}
	}
	for _, object := range []client.Object{
		&corev1.Secret{ObjectMeta: meta("secret", released), Data: map[string][]byte{"password": []byte("p")}},
		&corev1.Secret{ObjectMeta: meta("kept", map[string]string{"gardener.cloud/role": "helm-pull-secret"})},
		&corev1.ConfigMap{ObjectMeta: meta("settings", released), Data: map[string]string{"url": "u"}},
		&corev1.ConfigMap{ObjectMeta: meta("kept", nil)},
		&corev1.ConfigMap{ObjectMeta: meta("empty", released)},
	} {
		require.NoError(t, admin.Create(t.Context(), object))
	}
	resolve := func(reader client.Reader, refs ...gardencorev1.NamedResourceReference) (map[string]any, error) {
		return ResolveResources(t.Context(), reader, namespace, refs)
	}

	resolved, err := resolve(admin, reference("a", "Secret", "secret"), reference("b", "ConfigMap", "settings"), reference("c", "ConfigMap", "empty"))
	require.NoError(t, err)
	assert.Equal(t, valuesOf(t, "{a: {data: {password: p}}, b: {data: {url: u}}, c: {}}"), resolved)
	resolved, err = resolve(admin)
	require.NoError(t, err)
	assert.Empty(t, resolved)

	for sentence, test := range map[string]struct {
		ref  gardencorev1.NamedResourceReference
		want string
	}{
		"a Secret that is not there": {
			reference("a", "Secret", "gone"), "refers to Secret gone, which does not exist in namespace " + namespace + " of the garden",
		},
		"a ConfigMap that is not there": {
			reference("a", "ConfigMap", "gone"), "refers to ConfigMap gone, which does not exist in namespace " + namespace + " of the garden",
		},
		"a Secret that is for something else": {
			reference("a", "Secret", "kept"),
			"refers to Secret kept in namespace " + namespace + " of the garden, which lacks the label gardener.cloud/role=resource-reference",
		},
		"a ConfigMap that nobody has released": {
			reference("a", "ConfigMap", "kept"),
			"refers to ConfigMap kept in namespace " + namespace + " of the garden, which lacks the label gardener.cloud/role=resource-reference",
		},
		"another kind": {reference("a", "Pod", "x"), "refers to v1 Pod: only Secrets and ConfigMaps (v1) can be referred to"},
		"another version": {
			gardencorev1.NamedResourceReference{Name: "a", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v2", Kind: "Secret"}},
			"refers to v2 Secret: only Secrets and ConfigMaps (v1) can be referred to",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := resolve(admin, test.ref)
			assertProblem(t, err, "resources[a] "+test.want)
		})
	}

	broken := interceptor.NewClient(admin, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errBroken
		},
	})
	_, err = resolve(broken, reference("a", "Secret", "secret"))
	require.ErrorIs(t, err, errBroken)
	_, isProblem := problem.In(err)
	assert.False(t, isProblem, "it goes away")
}

func TestSubstitute(t *testing.T) {
	resources := valuesOf(t, "{secret: {data: {password: 'p{{', key: k}}, empty: {}}")
	for sentence, test := range map[string]struct{ values, want, problem, missing string }{
		"values and keys, wherever they are": {
			values: `{"{{ .resources.secret.data.key }}": ["x", {a: "{{ .resources.secret.data.password }}!"}], n: 1, b: true, z: null, plain: "}}"}`,
			want:   `{k: [x, {a: "p{{!"}], n: 1, b: true, z: null, plain: "}}"}`,
		},
		"no values": {values: "null", want: "null"},
		"a resource that is not referred to": {
			values:  `{a: {b: ["{{ .resources.other.data.key }}"]}}`,
			problem: `values.a.b[0]: the template "{{ .resources.other.data.key }}" fails: `, missing: "other",
		},
		"a key that is not there": {
			values:  `{a: "{{ .resources.secret.data.other }}"}`,
			problem: `values.a: the template "{{ .resources.secret.data.other }}" fails: `, missing: "other",
		},
		"a key of empty data": {
			values:  `{a: "{{ .resources.empty.data.other }}"}`,
			problem: `values.a: the template "{{ .resources.empty.data.other }}" fails: `, missing: "data",
		},
		"no template, and always the first": {
			values:  `{b: "{{ x", a: "{{ end }}"}`,
			problem: `values.a: "{{ end }}" is no template: `,
		},
		"keys that become one": {
			values:  `{"{{ .resources.secret.data.key }}": 2, k: 1}`,
			problem: "values.{{ .resources.secret.data.key }}: the key is there twice once templates are replaced",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			values := valuesOf(t, test.values)
			got, err := Substitute(values, resources)
			assert.Equal(t, valuesOf(t, test.values), values, "they are left as they were")
			if test.problem != "" {
				assertProblem(t, err, test.problem)
				if test.missing != "" {
					assertProblem(t, err, fmt.Sprintf("map has no entry for key %q", test.missing))
				}
				return
			}
			require.NoError(t, err)
			assert.Equal(t, valuesOf(t, test.want), got)
		})
	}
	untouched, err := Substitute(valuesOf(t, `{a: "{{ x"}`), nil)
	require.NoError(t, err, "without resources nothing is a template")
	assert.Equal(t, valuesOf(t, `{a: "{{ x"}`), untouched)
}
