package installations

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// dumpedValues is the key under which the chart dump writes its values.
const dumpedValues = "values"

func referred() []client.Object {
	meta := metav1.ObjectMeta{Name: "referred", Namespace: "garden", Labels: map[string]string{"gardener.cloud/role": "resource-reference"}}
	return []client.Object{
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"word": "found"}},
		&corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"password": "p4ss"}},
	}
}

// dumpChart writes its values, and has each kind of workload, with and without the annotation that excludes it from Gardener's mutations.
func dumpChart(t *testing.T) []byte {
	t.Helper()
	chart, err := garden.PackFiles("dump", map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: dump\nversion: 0.1.0\nappVersion: v3\n",
		"values.yaml": "text: default\nfromTheChart: 1\n",
		"templates/_helpers.tpl": `{{ define "pod" }}
    metadata:
      labels: {app: dump}
    spec:
      restartPolicy: {{ .restart }}
      initContainers:
      - {name: first, image: first}
      containers:
      - {name: second, image: second}
      - name: third
        image: third
        env:
        - {name: SEED_NAME, value: mine}
        - {name: GARDEN_KUBECONFIG, value: /mine}
{{ end }}`,
		"templates/NOTES.txt": "nobody reads this",
		"templates/values.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-values
  namespace: {{ .Release.Namespace }}
data:
  ` + dumpedValues + `: |
{{ toYaml .Values | indent 4 }}
  release: |
{{ toYaml .Release | indent 4 }}
  kubernetes: {{ .Capabilities.KubeVersion.Version }}
  appVersion: {{ .Chart.AppVersion }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-elsewhere
  namespace: default
  annotations: {helm.sh/hook: pre-install}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Release.Name }}
rules: []
`,
		"templates/workload.yaml": `{{- range $suffix, $inject := dict "with" "true" "without" "false" "unsaid" "" }}
{{- range $kind := list "Deployment" "StatefulSet" "DaemonSet" "Job" }}
---
apiVersion: {{ ternary "batch/v1" "apps/v1" (eq $kind "Job") }}
kind: {{ $kind }}
metadata:
  name: {{ lower $kind }}-{{ $suffix }}
  namespace: {{ $.Release.Namespace }}
  labels:
    app: dump
{{- if $inject }}
    extensions.gardener.cloud/inject-garden-kubeconfig: {{ $inject | quote }}
{{- end }}
spec:
{{- if ne $kind "Job" }}
  selector: {matchLabels: {app: dump}}
{{- end }}
  template:
{{ include "pod" (dict "restart" (ternary "Never" "Always" (eq $kind "Job"))) }}
{{- end }}
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: cronjob-{{ $suffix }}
  namespace: {{ $.Release.Namespace }}
{{- if $inject }}
  labels:
    extensions.gardener.cloud/inject-garden-kubeconfig: {{ $inject | quote }}
{{- end }}
spec:
  schedule: "0 0 1 1 *"
  jobTemplate:
    spec:
      template:
{{ include "pod" (dict "restart" "Never") | indent 4 }}
---
apiVersion: v1
kind: Pod
metadata:
  name: pod-{{ $suffix }}
  namespace: {{ $.Release.Namespace }}
  annotations: {resources.gardener.cloud/mode: Ignore} # nobody could change it
{{- if $inject }}
  labels:
    extensions.gardener.cloud/inject-garden-kubeconfig: {{ $inject | quote }}
{{- end }}
spec:
  containers:
  - {name: only, image: only}
{{- end }}
`,
	})
	require.NoError(t, err)
	return chart
}

// workloadChart has a Deployment with one simulated pod.
func workloadChart(t *testing.T) []byte {
	t.Helper()
	chart, err := garden.PackFiles("workload", map[string]string{
		"Chart.yaml":         "apiVersion: v2\nname: workload\nversion: 0.1.0\n",
		"values.yaml":        "image: first\nreplicas: 1\n",
		"values.schema.json": `{"type": "object", "properties": {"replicas": {"type": "integer"}}}`,
		"templates/workload.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  namespace: {{ .Release.Namespace }}
data:
  image: {{ required "an image is required" .Values.image }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: workload
  namespace: {{ .Release.Namespace }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: workload}}
  template:
    metadata:
      labels: {app: workload}
    spec:
      securityContext: {runAsNonRoot: true}
      containers:
      - {name: workload, image: {{ .Values.image }}}
`,
	})
	require.NoError(t, err)
	return chart
}
