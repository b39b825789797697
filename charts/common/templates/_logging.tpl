{{/* How fluent-bit reads what the controller writes, and what the components write that it deploys. */}}
{{- define "common.logging" -}}
{{- if .Values.logging.parser -}}
{{- $name := include "common.name" . -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $logs := list -}}
{{- range $facts.logs -}}
{{- $logs = append $logs (merge (dict "name" (printf "%s-%s" $name .pod)) .) -}}
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
  # The pod's name and the container's are both in the tag.
  match: kubernetes.*{{ $log.pod }}*{{ $log.container }}*
  filters:
  # A parser leaves a line alone that it does not understand.
  {{- range $log.formats }}
  - parser:
      keyName: log
      parser: {{ include "common.logParser" (list $name .) }}
      reserveData: true
  {{- end }}
  {{- if has "json" $log.formats }}
  # The names that Gardener's dashboards look for.
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

{{/* What a line looks like: json is our own processes', klog that of Kubernetes, calico that of Calico. */}}
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
