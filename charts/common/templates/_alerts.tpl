{{/* The alerts of a controller, a list in YAML. The job of its metrics is the name of its Service. */}}
{{- define "common.alerts" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $job := printf "job=%q" (include "common.name" .) -}}
{{- $prefix := printf "Trellis%s" $facts.kind -}}
{{- $secondary := include "common.secondary" . -}}
{{- $process := empty $facts.resource | ternary $prefix (printf "%s%s" $prefix (empty $secondary | ternary "Controller" "Observer")) -}}
{{- $who := include "common.process" . -}}
{{- $labels := include "common.alertLabels" . -}}
- alert: {{ $process }}Down
  expr: absent(up{ {{- $job -}} } == 1)
  for: 5m
  labels:
    severity: critical
    {{- $labels | nindent 4 }}
  annotations:
    summary: The {{ $who }} is down
    {{- if $secondary }}
    description: >-
      Prometheus cannot reach any replica of the {{ $who }}. Shoots are not observed. Without its heartbeat gardenlet can also report the health of the
      {{ $facts.resource }} as Unknown, although it is the primary controller that reports it.
    {{- else if $facts.resource }}
    description: >-
      Prometheus cannot reach any replica of the {{ $who }}. Shoots that need a {{ $facts.kind }} of type {{ .Values.types | join " or " }} are not
      reconciled{{ if $facts.webhooks }}, and its webhooks make the API server refuse objects of their control planes{{ end }}.
    {{- else }}
    description: >-
      Prometheus cannot reach any replica of {{ $who }}. {{ $facts.down }} ({{ .Values.types | join ", " }}).
    {{- end }}
- alert: {{ $process }}WithoutLeader
  expr: max(leader_election_master_status{ {{- $job }},name={{ include "common.leaderElectionID" . | quote -}} }) < 1
  for: 5m
  labels:
    severity: critical
    {{- $labels | nindent 4 }}
  annotations:
    summary: The {{ $who }} has no leader
    {{- if $facts.resource }}
    description: Replicas of the {{ $who }} are running, but none of them has been leader for five minutes.
    {{- else }}
    description: >-
      Replicas of {{ $who }} are running, but none of them has been leader for five minutes: {{ $facts.stalled }}.
    {{- end }}
{{- if $secondary }}
{{ include "common.observationAlerts" . }}
{{- else if $facts.resource }}
- alert: {{ $prefix }}OperationsFail
  expr: |-
    sum by (operation) (increase(trellis_reconcile_total{ {{- $job }},result="failed"}[30m]))
      / sum by (operation) (increase(trellis_reconcile_total{ {{- $job -}} }[30m])) > 0.5
    and
    sum by (operation) (increase(trellis_reconcile_total{ {{- $job }},result="failed"}[30m])) > 5
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: Most operations on {{ $facts.resource }} fail
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the operations {{`{{ $labels.operation }}`}} on {{ $facts.resource }} failed in the last
      30 minutes. status.lastError of the objects gives the reasons.
- alert: {{ $prefix }}OperationsSlow
  expr: |-
    histogram_quantile(0.9, sum by (le, operation) (rate(trellis_reconcile_duration_seconds_bucket{ {{- $job -}} }[1h]))) > {{ $facts.slow }}
  for: 30m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: Operations on {{ $facts.resource }} are slow
    description: >-
      One in ten operations {{`{{ $labels.operation }}`}} on {{ $facts.resource }} took longer than
      {{`{{ $value | humanizeDuration }}`}} in the last hour.
{{- end }}
{{- if or $facts.queues $secondary }}
- alert: {{ $prefix }}ReconcilesFail
  expr: |-
    sum by (controller) (increase(controller_runtime_reconcile_total{ {{- $job }},result="error"}[30m]))
      / sum by (controller) (increase(controller_runtime_reconcile_total{ {{- $job -}} }[30m])) > 0.5
    and
    sum by (controller) (increase(controller_runtime_reconcile_total{ {{- $job }},result="error"}[30m])) > 5
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: Most reconciliations of the {{ $who }} fail
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the reconciliations of {{`{{ $labels.controller }}`}} failed in the last 30 minutes. Its
      logs and the status of the objects give the reasons.
{{- end }}
{{- if or $facts.resource $facts.queues }}
- alert: {{ $prefix }}Backlog
  expr: sum by (name) (workqueue_depth{ {{- $job -}} }) > 50
  for: 30m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: The {{ $who }} has a backlog
    description: >-
      {{`{{ $value }}`}} objects wait in the queue {{`{{ $labels.name }}`}} of the {{ $who }}. The value concurrentSyncs of its chart says how
      many it works on at the same time.
{{- end }}
- alert: {{ $prefix }}APIServerRefuses
  expr: |-
    sum by (code) (rate(rest_client_requests_total{ {{- $job }},code=~"401|403|429|5..|<error>"}[15m]))
      / ignoring (code) group_left sum(rate(rest_client_requests_total{ {{- $job -}} }[15m])) > 0.1
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: API servers reject requests of the {{ $who }}
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the requests of the {{ $who }} to API servers end with {{`{{ $labels.code }}`}}.
{{- if and $facts.webhooks $facts.resource }}
- alert: {{ $prefix }}WebhooksFail
  expr: |-
    sum by (webhook) (rate(trellis_webhook_requests_total{ {{- $job }},result="failed"}[10m]))
      / sum by (webhook) (rate(trellis_webhook_requests_total{ {{- $job -}} }[10m])) > 0.05
  for: 5m
  labels:
    severity: critical
    {{- $labels | nindent 4 }}
  annotations:
    summary: A webhook of the {{ $who }} fails
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the requests to the webhook {{`{{ $labels.webhook }}`}} fail, and the API server refuses the objects that
      they are about.
{{- end }}
{{- if $facts.webhooks }}
- alert: {{ $prefix }}WebhooksBusy
  expr: |-
    sum by (webhook) (rate(trellis_webhook_requests_total{ {{- $job }},result="busy"}[10m]))
      / sum by (webhook) (rate(trellis_webhook_requests_total{ {{- $job -}} }[10m])) > 0.05
  for: 10m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A webhook of the {{ $who }} is overloaded
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the requests to the webhook {{`{{ $labels.webhook }}`}} are rejected with 429, because it handles as many as it can.
      API servers retry them; users see slow writes, and failed ones where that takes longer than API servers wait. The value replicaCount of
      its chart says how many replicas share the requests.
- alert: {{ $prefix }}CertificateOld
  expr: min(trellis_webhook_certificate_not_after_timestamp_seconds{ {{- $job -}} } > 0) - time() < 5 * 24 * 3600
  for: 1h
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: The webhooks' certificate of the {{ $who }} is not renewed
    description: >-
      It expires in {{`{{ $value | humanizeDuration }}`}}. It should have been renewed ten days before; the leader's logs give the reason.
- alert: {{ $prefix }}WebhooksSlow
  expr: |-
    sum by (webhook) (rate(controller_runtime_webhook_latency_seconds_sum{ {{- $job -}} }[10m]))
      / sum by (webhook) (rate(controller_runtime_webhook_latency_seconds_count{ {{- $job -}} }[10m])) > 2
  for: 10m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A webhook of the {{ $who }} is slow
    description: >-
      A request to the webhook {{`{{ $labels.webhook }}`}} takes {{`{{ $value | humanizeDuration }}`}}. API servers give up after ten seconds.
{{- end }}
{{- if $facts.clouds }}
{{- /* The label "service" of an alert is the binary: of two services of a cloud that fail, the alerts would have the same labels. */}}
- alert: {{ $prefix }}CloudFails
  expr: |-
    label_replace(
      sum by (cloud, service) (rate(trellis_cloud_requests_total{ {{- $job }},code=~"429|5..|none"}[15m]))
        / sum by (cloud, service) (rate(trellis_cloud_requests_total{ {{- $job -}} }[15m])) > 0.2
      and
      sum by (cloud, service) (increase(trellis_cloud_requests_total{ {{- $job -}} }[15m])) > 10,
      "cloud_service", "$1", "service", "(.*)"
    )
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: Requests to {{`{{ $labels.cloud_service }}`}} of {{`{{ $labels.cloud }}`}} fail
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the requests of the {{ $who }} to {{`{{ $labels.service }}`}} of {{`{{ $labels.cloud }}`}} fail.
- alert: {{ $prefix }}CloudLoginsFail
  expr: |-
    sum by (cloud) (increase(trellis_cloud_logins_total{ {{- $job }},result="failure"}[30m]))
      / sum by (cloud) (increase(trellis_cloud_logins_total{ {{- $job -}} }[30m])) > 0.5
    and
    sum by (cloud) (increase(trellis_cloud_logins_total{ {{- $job }},result="failure"}[30m])) > 5
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: Logins to {{`{{ $labels.cloud }}`}} fail
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the logins of the {{ $who }} to {{`{{ $labels.cloud }}`}} failed in half an hour: its login service is
      failing, or credentials are wrong.
{{- end }}
{{- if $facts.own }}
{{ include "alerts" . }}
{{- end }}
{{- end -}}
