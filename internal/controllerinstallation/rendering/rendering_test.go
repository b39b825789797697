package rendering

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/chart"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

// TestMain is what a program does that renders: the processes are this binary, too.
func TestMain(m *testing.M) {
	RunIfChild()
	os.Exit(m.Run())
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '{{ .Values.a }}'}\n"

func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	all := map[string]string{"Chart.yaml": "apiVersion: v2\nname: example\nversion: 0.1.0\n"}
	maps.Copy(all, files)
	var content bytes.Buffer
	zip := gzip.NewWriter(&content)
	archive := tar.NewWriter(zip)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: "example/" + file, Mode: 0o644, Size: int64(len(all[file]))}))
		_, err := archive.Write([]byte(all[file]))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, zip.Close())
	return content.Bytes()
}

func request(t *testing.T, template string, values map[string]any) *Request {
	t.Helper()
	return &Request{
		Archive: pack(t, map[string]string{"templates/a.yaml": template}), Values: values,
		Release: chart.Release{Name: "network", Namespace: "extension-network", KubernetesVersion: "v1.36.3"},
	}
}

func newRenderer(t *testing.T, limits Limits) *Renderer {
	t.Helper()
	r, err := New(limits)
	require.NoError(t, err)
	return r
}

func TestRender_TemplateExceedsLimits(t *testing.T) {
	const cpu, memory = "of processor time: look for a loop", "MiB of memory, or goes too deep: look for a loop"
	both := []string{cpu, memory}
	for name, test := range map[string]struct {
		template string
		values   map[string]any
		wantText []string
	}{
		"an endless loop":          {`{{ range until 1000000000 }}{{ end }}`, nil, both},
		"a loop over a number":     {`{{ range 1000000000000 }}{{ end }}`, nil, []string{cpu}},
		"a very long text":         {`{{ repeat 2000000000 "a" }}`, nil, []string{memory}},
		"a text that doubles":      {`{{ $a := "aaaaaaaa" }}{{ range 60 }}{{ $a = print $a $a }}{{ end }}`, nil, both},
		"a list that grows":        {`{{ $a := list }}{{ range 1000000000 }}{{ $a = append $a "text" }}{{ end }}`, nil, both},
		"a template of itself":     {`{{ define "a" }}{{ template "a" . }}{{ template "a" . }}{{ end }}{{ template "a" . }}`, nil, nil},
		"two that include two":     {`{{ define "a" }}{{ if lt . 60 }}{{ include "a" (add1 .) }}{{ include "a" (add1 .) }}{{ end }}{{ end }}{{ include "a" 0 }}`, nil, both},
		"a very wide number":       {`{{ printf "%01000000000d" 1 }}`, nil, nil},
		"a password of many bytes": {`{{ randAlphaNum 2000000000 }}`, nil, both},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newRenderer(t, Limits{CPU: time.Second / 2, Wait: 10 * time.Minute}).Render(t.Context(), request(t, test.template, test.values))
			found, is := problem.In(err)
			require.True(t, is, "%v", err)
			assert.Equal(t, problem.ChartCannotBeRendered, found.Reason)
			assert.Less(t, len(found.Message), 2000)
			if test.wantText != nil {
				assert.True(t, slices.ContainsFunc(test.wantText, func(words string) bool { return strings.Contains(found.Message, words) }), found.Message)
			}
		})
	}
}

// Values are templates, too, where a deployment refers to resources.
func TestRender_ValuesExceedLimits(t *testing.T) {
	values := request(t, configMap, map[string]any{"a": "{{ range 1000000000000 }}{{ end }}"})
	values.Resources = map[string]any{"login": map[string]any{}}
	_, err := newRenderer(t, Limits{CPU: time.Second, Wait: 10 * time.Minute}).Render(t.Context(), values)
	found, is := problem.In(err)
	require.True(t, is, "%v", err)
	assert.Contains(t, found.Message, "takes more than 1s of processor time")
}

func TestRender_OutputExceedsLimits(t *testing.T) {
	r := newRenderer(t, Limits{Objects: 10, Output: 1 << 20})
	many := "{{ range 11 }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a{{ . }}}\n{{ end }}"
	for name, test := range map[string]struct{ template, wantText string }{
		"too many objects": {many, "gives 11 objects, and there may be 10"},
		"too many bytes":   {strings.Replace(configMap, "{{ .Values.a }}", `{{ repeat 2000000 "a" }}`, 1), "gives objects of more than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.Render(t.Context(), request(t, test.template, nil))
			found, is := problem.In(err)
			require.True(t, is, "%v", err)
			assert.Equal(t, problem.ChartCannotBeRendered, found.Reason)
			assert.Contains(t, found.Message, test.wantText)
		})
	}
	objects, err := r.Render(t.Context(), request(t, strings.Replace(many, "11", "10", 1), nil))
	require.NoError(t, err)
	assert.Len(t, objects, 10)
}

// What comes out is what comes out in this process.
func TestRender(t *testing.T) {
	one := request(t, configMap+"---\napiVersion: v1\nkind: Example\nmetadata: {name: b}\nnumbers: [1, 1.5, 9007199254740993, 1e3, true, null]\n",
		map[string]any{"a": "{{ .resources.login.data.user }} & <{{ .resources.login.data.user }}>", "gardener": map[string]any{"a": 1}})
	one.Resources = map[string]any{"login": map[string]any{"data": map[string]any{"user": "me"}}}
	one.Gardener = map[string]any{"gardener": map[string]any{"seed": map[string]any{"name": "eu-1"}}}
	want, err := render(one)
	require.NoError(t, err)
	r := newRenderer(t, Limits{})
	for range 2 { // the second one is kept from the first
		got, err := r.Render(t.Context(), one)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		got[0].SetName("changed by who got it")
	}
	assert.Equal(t, 1, r.cache.len())

	one.Values["a"] = "other"
	got, err := r.Render(t.Context(), one)
	require.NoError(t, err)
	assert.Equal(t, "other", got[0].Object["data"].(map[string]any)["a"])
}

func TestRender_ChartProblem(t *testing.T) {
	r := newRenderer(t, Limits{})
	for range 2 {
		_, err := r.Render(t.Context(), request(t, `{{ fail "never" }}`, nil))
		found, is := problem.In(err)
		require.True(t, is, "%v", err)
		assert.Equal(t, &problem.Problem{
			Reason: problem.ChartCannotBeRendered, Message: "chart example 0.1.0: example/templates/a.yaml:1:3: never",
		}, found)
	}
	unknown := request(t, configMap, nil)
	unknown.Release.KubernetesVersion = "none"
	_, err := r.Render(t.Context(), unknown)
	require.ErrorContains(t, err, "reading the version of Kubernetes")
	_, is := problem.In(err)
	assert.False(t, is, "a seed's fault is not the chart's")
	_, err = r.Render(t.Context(), &Request{Archive: []byte("nothing")})
	found, is := problem.In(err)
	require.True(t, is, "%v", err)
	assert.Equal(t, problem.ChartInformationInvalid, found.Reason)
}

// A process that had no time to run has shown nothing.
func TestRender_MachineErrors(t *testing.T) {
	endless := request(t, `{{ range 1000000000000 }}{{ end }}`, nil)
	for name, test := range map[string]struct {
		limits  Limits
		timeout time.Duration
		program string
	}{
		"the time on the clock is over":  {limits: Limits{CPU: time.Hour, Wait: time.Second}, timeout: time.Minute},
		"the caller's time is over":      {limits: Limits{CPU: time.Hour}, timeout: time.Second},
		"the process cannot be started":  {program: "/nowhere", timeout: time.Minute},
		"the process is another program": {program: "/bin/false", timeout: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRenderer(t, test.limits)
			if test.program != "" {
				r.program = test.program
			}
			ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
			defer cancel()
			_, err := r.Render(ctx, endless)
			require.Error(t, err)
			_, is := problem.In(err)
			assert.False(t, is, "%v", err)
			assert.Zero(t, r.cache.len(), "it is tried again")
			assert.Empty(t, r.slots)
		})
	}
}

// Whatever somebody finds in the process that renders, credentials are not in its environment.
func TestRender_ProcessEnvironment(t *testing.T) {
	t.Setenv("TRELLIS_TEST_SECRET", "hunter2")
	r := newRenderer(t, Limits{})
	r.program = filepath.Join(t.TempDir(), "tell")
	script := `#!/bin/sh
printf '{"error":"%s in %s, and open are %s"}' "$(env | sort | grep -v '^_=' | cut -d= -f1 | tr '\n' ' ')" "$(pwd)" "$(ls /proc/$$/fd | sort -n | tr '\n' ' ')"`
	require.NoError(t, os.WriteFile(r.program, []byte(script), 0o700))
	secret, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer func() { _ = secret.Close() }()
	_, err = r.Render(t.Context(), request(t, configMap, nil))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "TRELLIS_TEST_SECRET")
	assert.Contains(t, err.Error(), "GOMAXPROCS")
	assert.Contains(t, err.Error(), " in /, and open are 0 1 2 ")
}

func TestRender_Concurrently(t *testing.T) {
	r := newRenderer(t, Limits{})
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			value := fmt.Sprint("value ", i)
			objects, err := r.Render(t.Context(), request(t, configMap, map[string]any{"a": value}))
			if assert.NoError(t, err) {
				assert.Equal(t, value, objects[0].Object["data"].(map[string]any)["a"])
			}
		})
	}
	group.Wait()
	assert.Equal(t, 8, r.cache.len())
}

// Parsers and functions quote what they stumble over.
func TestRender_RedactsSecrets(t *testing.T) {
	for name, template := range map[string]string{
		"output that is no YAML":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ .Values.a }}}\n",
		"a chart that says it itself": `{{ fail (print "wrong: " .Values.a) }}`,
		"a function that fails":       `{{ regexMatch (print "(" .Values.a) "a" }}`,
	} {
		t.Run(name, func(t *testing.T) {
			one := request(t, template, map[string]any{"a": "{{ .resources.login.data.password }}"})
			one.Resources = map[string]any{"login": map[string]any{"data": map[string]any{"password": "*hunter2"}}}
			one.Resources["short"] = map[string]any{"data": map[string]any{"a": "a"}}
			_, err := newRenderer(t, Limits{}).Render(t.Context(), one)
			found, is := problem.In(err)
			require.True(t, is, "%v", err)
			assert.NotContains(t, found.Message, "hunter2")
			assert.Contains(t, found.Message, "example/templates/a.yaml")
		})
	}
}
