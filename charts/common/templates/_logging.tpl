{{- define "common.logging" -}}
{{- if and .Values.logging.parser (eq .Values.logFormat "json") -}}
{{- $name := include "common.name" . -}}
apiVersion: fluentbit.fluent.io/v1alpha2
kind: ClusterParser
metadata:
  name: {{ $name }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    fluentbit.gardener/type: seed
spec:
  json:
    timeKey: ts
    timeFormat: "%Y-%m-%dT%H:%M:%S.%L%z"
---
apiVersion: fluentbit.fluent.io/v1alpha2
kind: ClusterFilter
metadata:
  name: {{ $name }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    fluentbit.gardener/type: seed
spec:
  # The pod's name and the container's are both in the tag.
  match: kubernetes.*{{ $name }}*{{ $name }}*
  filters:
  - parser:
      keyName: log
      parser: {{ $name }}
      reserveData: true
  # The names that Gardener's dashboards look for.
  - modify:
      rules:
      - rename:
          level: severity
          msg: log
          logger: source
{{- end -}}
{{- end -}}
