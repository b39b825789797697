{{/*
What the dashboard of the landscape shows of a seed. The garden's Prometheus takes from a seed's aggregate Prometheus what is called seed:...:sum and
seed:...:count (gardener/pkg/component/observability/monitoring/prometheus/garden). Series of extensions are in the seed's other Prometheus: it computes
the sums, and the aggregate Prometheus is told to take them from there. In the garden's runtime cluster, the garden's Prometheus has the metrics themselves.
*/}}
{{- define "common.inLandscape" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- if and .Values.metrics.scrape (not (include "common.secondary" .)) (or $facts.resource $facts.queues) (eq (include "common.prometheus" .) "seed") -}}
true
{{- end -}}
{{- end -}}

{{- define "common.landscapeRules" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $job := printf "job=%q" (include "common.name" .) -}}
{{- $labels := printf "registration: %s" (include "common.baseName" . | quote) -}}
- record: seed:trellis_replicas:count
  expr: count by (version) (trellis_build_info{ {{- $job -}} })
  labels:
    {{ $labels }}
- record: seed:trellis_memory_bytes:sum
  expr: sum(process_resident_memory_bytes{ {{- $job -}} })
  labels:
    {{ $labels }}
- record: seed:trellis_cpu_cores:sum
  expr: sum(rate(process_cpu_seconds_total{ {{- $job -}} }[5m]))
  labels:
    {{ $labels }}
- record: seed:trellis_queue_depth:sum
  expr: sum by (name) (workqueue_depth{ {{- $job -}} })
  labels:
    {{ $labels }}
{{- if $facts.resource }}
- record: seed:trellis_reconcile:sum
  expr: sum by (contract, operation, result) (rate(trellis_reconcile_total{ {{- $job -}} }[5m]))
  labels:
    {{ $labels }}
- record: seed:trellis_reconcile_duration_seconds:sum
  expr: sum by (contract, operation) (rate(trellis_reconcile_duration_seconds_sum{ {{- $job -}} }[15m]))
  labels:
    {{ $labels }}
- record: seed:trellis_reconcile_duration_seconds:count
  expr: sum by (contract, operation) (rate(trellis_reconcile_duration_seconds_count{ {{- $job -}} }[15m]))
  labels:
    {{ $labels }}
{{- else }}
- record: seed:trellis_installations:sum
  expr: sum by (phase) (trellis_installation_phase{ {{- $job -}} })
  labels:
    {{ $labels }}
{{- end }}
{{- if $facts.clouds }}
- record: seed:trellis_cloud_requests:sum
  expr: sum by (cloud, service, code) (rate(trellis_cloud_requests_total{ {{- $job -}} }[5m]))
  labels:
    {{ $labels }}
{{- end }}
{{- if $facts.webhooks }}
- record: seed:trellis_webhook_requests:sum
  expr: sum by (webhook, result) (rate(trellis_webhook_requests_total{ {{- $job -}} }[5m]))
  labels:
    {{ $labels }}
{{- end }}
{{- end -}}

{{- define "common.landscapeScrapeConfig" -}}
{{- if include "common.inLandscape" . -}}
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeConfig
metadata:
  name: {{ include "common.name" . }}-landscape
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    prometheus: aggregate
spec:
  honorLabels: true
  honorTimestamps: false
  metricsPath: /federate
  params:
    "match[]":
    - '{__name__=~"seed:trellis_.+",registration={{ include "common.baseName" . | quote }}}'
  staticConfigs:
  - targets:
    - prometheus-seed.garden.svc:80
{{- end -}}
{{- end -}}
