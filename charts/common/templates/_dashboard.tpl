{{/*
Plutono reads dashboards from the namespace garden. Names of their ConfigMaps never change: of two, both dashboards would be shown. The data source is
named: the default one of a seed's Plutono, the aggregate Prometheus, has no metrics of extensions.
*/}}
{{- define "common.dashboard" -}}
{{- if .Values.metrics.dashboard -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "common.name" . }}-dashboard
  namespace: garden
  labels:
    {{- include "common.labels" . | nindent 4 }}
    dashboard.monitoring.gardener.cloud/{{ include "common.prometheus" . }}: "true"
data:
  {{ include "common.name" . }}.json: |-
    {{- .Files.Get (include "common.secondary" . | empty | ternary "dashboards/controller.json" "dashboards/secondary.json")
      | replace "$(registration)" (include "common.baseName" .)
      | replace "$(uid)" (printf "trellis-%s" (include "common.baseName" .) | trunc 40)
      | replace "$(datasource)" (printf "prometheus-%s" (include "common.prometheus" .))
      | replace "$(job)" (include "common.name" .)
      | trim | nindent 4 }}
  {{- with .Files.Get "dashboards/landscape.json" }}
  trellis-landscape.json: |-
    {{- . | trim | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end -}}
