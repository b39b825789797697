{{/* The Prometheus that scrapes the controller. */}}
{{- define "common.prometheus" -}}
{{- include "common.inRuntimeCluster" . | empty | ternary "seed" "garden" -}}
{{- end -}}

{{/* A regular expression of the controller's metrics that are stored: those that alerts, sums of the landscape and the dashboard query. */}}
{{- define "common.metrics" -}}
^({{ include "common.metricNames" . | fromYamlArray | join "|" }})$
{{- end -}}

{{- define "common.metricNames" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
- trellis_build_info
{{- if include "common.secondary" . }}
- trellis_observation_healthy
- trellis_observation_timestamp_seconds
- trellis_observation_failures_total
- trellis_observation_conflicts_total
{{- else if $facts.resource }}
- trellis_reconcile_total
- trellis_reconcile_duration_seconds_bucket
{{- if include "common.inLandscape" . }}
- trellis_reconcile_duration_seconds_count
- trellis_reconcile_duration_seconds_sum
{{- end }}
{{- end }}
{{- if $facts.clouds }}
- trellis_cloud_requests_total
- trellis_cloud_request_duration_seconds_bucket
- trellis_cloud_logins_total
{{- end }}
{{- if or $facts.resource $facts.queues }}
- controller_runtime_active_workers
- controller_runtime_max_concurrent_reconciles
- controller_runtime_reconcile_total
{{- end }}
{{- if $facts.webhooks }}
- trellis_webhook_requests_total
- trellis_webhook_certificate_not_after_timestamp_seconds
- controller_runtime_webhook_latency_seconds_count
- controller_runtime_webhook_latency_seconds_sum
{{- end }}
{{- if or $facts.resource $facts.queues }}
- workqueue_depth
{{- end }}
{{- if $facts.own }}
{{ include "metrics" . }}
{{- end }}
- leader_election_master_status
- rest_client_requests_total
- process_cpu_seconds_total
- process_resident_memory_bytes
{{- end -}}

{{- define "common.serviceMonitor" -}}
{{- if .Values.metrics.scrape -}}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "common.name" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    prometheus: {{ include "common.prometheus" . }}
spec:
  selector:
    matchLabels:
      {{- include "common.selector" . | nindent 6 }}
  endpoints:
  - port: metrics
    {{- if include "common.secondary" . }}
    # The label namespace of its own metrics is the shoot's.
    honorLabels: true
    {{- end }}
    metricRelabelings:
    - action: keep
      sourceLabels: [__name__]
      regex: {{ include "common.metrics" . | squote }}
{{- end -}}
{{- end -}}

{{- define "common.prometheusRule" -}}
{{- if or .Values.metrics.alerts (include "common.inLandscape" .) -}}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {{ include "common.name" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    prometheus: {{ include "common.prometheus" . }}
spec:
  groups:
  {{- if .Values.metrics.alerts }}
  - name: {{ include "common.name" . }}
    rules:
    {{- include "common.alerts" . | nindent 4 }}
  {{- end }}
  {{- if include "common.inLandscape" . }}
  - name: {{ include "common.name" . }}-landscape
    rules:
    {{- include "common.landscapeRules" . | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end -}}

{{- define "common.alertLabels" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
service: {{ include "common.binary" . }}
topology: {{ empty $facts.garden | ternary "seed" "garden" }}
type: seed
visibility: operator
{{- end -}}
