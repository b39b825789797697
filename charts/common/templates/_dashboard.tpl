{{/* Plutono reads dashboards from the namespace garden. Names of their ConfigMaps never change: of two, both dashboards would be shown. */}}
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
  {{ include "common.name" . }}.json: |
    {{- include "common.dashboardJSON" . | nindent 4 }}
{{- end -}}
{{- end -}}

{{/* Two panels in a row, in the order of common.panels. */}}
{{- define "common.dashboardJSON" -}}
{{- $panels := list -}}
{{- range $index, $panel := include "common.panels" . | fromYamlArray -}}
{{- $targets := list -}}
{{- range $number, $query := $panel.queries -}}
{{- $targets = append $targets (dict "expr" $query.expr "legendFormat" $query.legend "format" "time_series" "refId" (index (list "A" "B" "C" "D") $number)) -}}
{{- end -}}
{{- $panels = append $panels (dict
  "id" (add1 $index)
  "type" "graph"
  "title" $panel.title
  "description" $panel.description
  "datasource" nil
  "gridPos" (dict "h" 8 "w" 12 "x" (mul 12 (mod $index 2)) "y" (mul 8 (div $index 2)))
  "fill" 1
  "linewidth" 1
  "lines" true
  "nullPointMode" "null"
  "legend" (dict "show" true "values" false)
  "tooltip" (dict "shared" true "sort" 2 "value_type" "individual")
  "targets" $targets
  "xaxis" (dict "mode" "time" "show" true)
  "yaxes" (list (dict "format" $panel.unit "min" "0" "show" true) (dict "format" "short" "show" false))
) -}}
{{- end -}}
{{- dict
  "title" (printf "Trellis: %s" (include "common.baseName" .))
  "uid" (printf "trellis-%s" (include "common.baseName" .) | trunc 40)
  "tags" (list "trellis" "extension")
  "schemaVersion" 27
  "version" 1
  "editable" true
  "graphTooltip" 1
  "refresh" "1m"
  "timezone" "utc"
  "time" (dict "from" "now-3h" "to" "now")
  "annotations" (dict "list" list)
  "templating" (dict "list" list)
  "panels" $panels
| toPrettyJson -}}
{{- end -}}

{{- define "common.panels" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $job := printf "job=%q" (include "common.name" .) -}}
{{- if $facts.own }}
{{ include "panels" . }}
{{- end }}
{{- if $facts.resource }}
- title: Operations
  description: Operations on {{ $facts.resource }} in five minutes, by operation and result.
  unit: short
  queries:
  - expr: sum by (operation, result) (increase(trellis_reconcile_total{ {{- $job -}} }[5m]))
    legend: {{`"{{operation}} {{result}}"`}}
- title: Duration of operations
  description: From the start of an operation to its final status.
  unit: s
  queries:
  - expr: histogram_quantile(0.5, sum by (le, operation) (rate(trellis_reconcile_duration_seconds_bucket{ {{- $job -}} }[15m])))
    legend: {{`"{{operation}} median"`}}
  - expr: histogram_quantile(0.9, sum by (le, operation) (rate(trellis_reconcile_duration_seconds_bucket{ {{- $job -}} }[15m])))
    legend: {{`"{{operation}} 90th percentile"`}}
{{- end }}
{{- if or $facts.resource $facts.queues }}
- title: Queue
  description: Waiting objects, busy workers and all workers.
  unit: short
  queries:
  - expr: sum by (name) (workqueue_depth{ {{- $job -}} })
    legend: {{`"{{name}} waiting"`}}
  - expr: sum by (controller) (controller_runtime_active_workers{ {{- $job -}} })
    legend: {{`"{{controller}} busy"`}}
  - expr: max by (controller) (controller_runtime_max_concurrent_reconciles{ {{- $job -}} })
    legend: {{`"{{controller}} workers"`}}
- title: Reconciliations
  description: Calls of the reconcilers per second{{ if $facts.resource }}, not all of which start an operation{{ end }}, by controller and result.
  unit: ops
  queries:
  - expr: sum by (controller, result) (rate(controller_runtime_reconcile_total{ {{- $job -}} }[5m]))
    legend: {{`"{{controller}} {{result}}"`}}
{{- end }}
{{- if $facts.clouds }}
- title: Requests to clouds
  description: Every attempt counts; the code is "none" when there was no response.
  unit: reqps
  queries:
  - expr: sum by (cloud, service, code) (rate(trellis_cloud_requests_total{ {{- $job -}} }[5m]))
    legend: {{`"{{cloud}} {{service}} {{code}}"`}}
- title: Duration of requests to clouds
  description: 90th percentile.
  unit: s
  queries:
  - expr: histogram_quantile(0.9, sum by (le, cloud, service, method) (rate(trellis_cloud_request_duration_seconds_bucket{ {{- $job -}} }[15m])))
    legend: {{`"{{cloud}} {{service}} {{method}}"`}}
- title: Logins to clouds
  description: Logins in five minutes, by result.
  unit: short
  queries:
  - expr: sum by (cloud, result) (increase(trellis_cloud_logins_total{ {{- $job -}} }[5m]))
    legend: {{`"{{cloud}} {{result}}"`}}
{{- end }}
{{- if $facts.webhooks }}
- title: Webhook requests
  description: By webhook and result.
  unit: reqps
  queries:
  - expr: sum by (webhook, result) (rate(trellis_webhook_requests_total{ {{- $job -}} }[5m]))
    legend: {{`"{{webhook}} {{result}}"`}}
- title: Duration of webhook requests
  description: Mean.
  unit: s
  queries:
  - expr: >-
      sum by (webhook) (rate(controller_runtime_webhook_latency_seconds_sum{ {{- $job -}} }[5m]))
      / sum by (webhook) (rate(controller_runtime_webhook_latency_seconds_count{ {{- $job -}} }[5m]))
    legend: {{`"{{webhook}}"`}}
{{- end }}
- title: Requests to API servers
  description: By host, verb and code. {{ $facts.hosts | default "Hosts other than one are API servers of shoots" }}.
  unit: reqps
  queries:
  - expr: sum by (host, method, code) (rate(rest_client_requests_total{ {{- $job -}} }[5m]))
    legend: {{`"{{host}} {{method}} {{code}}"`}}
- title: Leader
  description: 1 for the leader, 0 for standbys.
  unit: short
  queries:
  - expr: max by (pod) (leader_election_master_status{ {{- $job -}} })
    legend: {{`"{{pod}}"`}}
- title: Memory
  description: Resident memory of each replica.
  unit: bytes
  queries:
  - expr: max by (pod) (process_resident_memory_bytes{ {{- $job -}} })
    legend: {{`"{{pod}}"`}}
- title: CPU
  description: CPU of each replica, in cores.
  unit: short
  queries:
  - expr: sum by (pod) (rate(process_cpu_seconds_total{ {{- $job -}} }[5m]))
    legend: {{`"{{pod}}"`}}
- title: Versions
  description: Replicas of each build.
  unit: short
  queries:
  - expr: count by (version) (trellis_build_info{ {{- $job -}} })
    legend: {{`"{{version}}"`}}
{{- end -}}
