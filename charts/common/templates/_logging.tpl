{{/* Configuration of fluent-bit for the logs of the controller, and of the components that it deploys. */}}
{{- define "common.logging" -}}
{{- if .Values.logging.parser -}}
{{- $name := include "common.name" . -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $logs := list -}}
{{- range $facts.logs -}}
{{- $logs = append $logs (merge (dict "name" (printf "%s-%s" $name (default .pod .name))) .) -}}
{{- end -}}
{{- if eq .Values.logFormat "json" -}}
{{- $logs = prepend $logs (dict "name" $name "pod" $name "container" $name "formats" (list "json")) -}}
{{- end -}}
{{- $formats := list -}}
{{- range $logs -}}
{{- $formats = concat $formats .formats | uniq -}}
{{- end -}}
{{- range $formats }}
---
apiVersion: fluentbit.fluent.io/v1alpha2
kind: ClusterParser
metadata:
  name: {{ include "common.logParser" (list $name .) }}
  labels:
    {{- include "common.labels" $ | nindent 4 }}
    fluentbit.gardener/type: seed
spec:
  {{- include "common.logFormats" . | fromYaml | toYaml | nindent 2 }}
{{- end }}
{{- range $log := $logs }}
---
apiVersion: fluentbit.fluent.io/v1alpha2
kind: ClusterFilter
metadata:
  name: {{ $log.name }}
  labels:
    {{- include "common.labels" $ | nindent 4 }}
    fluentbit.gardener/type: seed
spec:
  # The tag contains the names of the pod and of the container.
  match: kubernetes.*{{ $log.pod }}*{{ $log.container }}*
  filters:
  # A parser does not change lines that it cannot parse.
  {{- range $log.formats }}
  - parser:
      keyName: log
      parser: {{ include "common.logParser" (list $name .) }}
      reserveData: true
  {{- end }}
  {{- if has "json" $log.formats }}
  # The names that Gardener's dashboards query.
  - modify:
      rules:
      - rename:
          level: severity
          msg: log
          logger: source
  {{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The name of the parser for a format. */}}
{{- define "common.logParser" -}}
{{ index . 0 }}{{ if ne (index . 1) "json" }}-{{ index . 1 }}{{ end }}
{{- end -}}

{{/* The format of a line: json is that of our own processes, klog that of Kubernetes' components, calico that of Calico's. */}}
{{- define "common.logFormats" -}}
{{- if eq . "json" }}
json:
  timeKey: ts
  timeFormat: "%Y-%m-%dT%H:%M:%S.%L%z"
{{- else if eq . "klog" }}
regex:
  timeKey: time
  timeFormat: "%m%d %H:%M:%S.%L"
  regex: '^(?<severity>[A-Z])(?<time>\d{4} \S+)\s+(?<pid>\d+)\s+(?<source>[^ \]]+)\]\s(?<log>.*)$'
{{- else if eq . "calico" }}
regex:
  timeKey: time
  timeFormat: "%Y-%m-%d %H:%M:%S.%L"
  regex: '^(?<time>\d{4}-\d{2}-\d{2} \S+)\s+\[(?<severity>\w+)\]\[(?<pid>\d+)\]\s+(?<source>[^:]+):\s(?<log>.*)$'
{{- end }}
{{- end -}}
