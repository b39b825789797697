{{/* The alerts of a controller, a list in YAML. The job of its metrics is the name of its Service. */}}
{{- define "common.alerts" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $job := printf "job=%q" (include "common.name" .) -}}
{{- $prefix := printf "Trellis%s" $facts.kind -}}
{{- $process := empty $facts.resource | ternary $prefix (printf "%sController" $prefix) -}}
{{- $labels := include "common.alertLabels" . -}}
- alert: {{ $process }}Down
  expr: absent(up{ {{- $job -}} } == 1)
  for: 5m
  labels:
    severity: critical
    {{- $labels | nindent 4 }}
  annotations:
    {{- if $facts.resource }}
    summary: No {{ .Chart.Name }} answers
    description: >-
      Prometheus reaches no replica of the {{ .Chart.Name }}. Shoots that need a {{ $facts.kind }} of type {{ .Values.types | join ", " }} are not
      reconciled{{ if $facts.webhooks }}, and its webhooks make the API server refuse objects of their control planes{{ end }}.
    {{- else }}
    summary: No replica of {{ include "common.binary" . }} answers
    description: >-
      Prometheus reaches no replica of {{ include "common.binary" . }}. {{ $facts.down }} ({{ .Values.types | join ", " }}).
    {{- end }}
- alert: {{ $process }}WithoutLeader
  expr: max(leader_election_master_status{ {{- $job }},name={{ include "common.leaderElectionID" . | quote -}} }) < 1
  for: 5m
  labels:
    severity: critical
    {{- $labels | nindent 4 }}
  annotations:
    {{- if $facts.resource }}
    summary: No replica of the {{ .Chart.Name }} works
    description: Replicas of the {{ .Chart.Name }} run, but none of them has been leader for five minutes.
    {{- else }}
    summary: No replica of {{ include "common.binary" . }} leads
    description: >-
      Replicas of {{ include "common.binary" . }} run and answer, but none of them has been leader for five minutes: {{ $facts.stalled }}.
    {{- end }}
{{- if $facts.resource }}
- alert: {{ $prefix }}PassesFail
  expr: |-
    sum by (operation) (increase(trellis_passes_total{ {{- $job }},result="failed"}[30m]))
      / sum by (operation) (increase(trellis_passes_total{ {{- $job -}} }[30m])) > 0.5
    and
    sum by (operation) (increase(trellis_passes_total{ {{- $job }},result="failed"}[30m])) > 5
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: Most passes over {{ $facts.resource }} fail
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the passes of operation {{`{{ $labels.operation }}`}} over {{ $facts.resource }} failed in half an
      hour. Why is in status.lastError of the objects.
- alert: {{ $prefix }}PassesSlow
  expr: |-
    histogram_quantile(0.9, sum by (le, operation) (rate(trellis_pass_duration_seconds_bucket{ {{- $job -}} }[1h]))) > {{ $facts.slow }}
  for: 30m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: Passes over {{ $facts.resource }} take long
    description: >-
      Every tenth pass of operation {{`{{ $labels.operation }}`}} over {{ $facts.resource }} took longer than
      {{`{{ $value | humanizeDuration }}`}} in the last hour.
{{- end }}
{{- if $facts.queues }}
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
    summary: The {{ include "common.binary" . }} does not get through
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the looks of {{`{{ $labels.controller }}`}} at objects failed in half an hour. Why is in
      its logs, and in the status of the objects.
{{- end }}
{{- if or $facts.resource $facts.queues }}
- alert: {{ $prefix }}Backlog
  expr: sum by (name) (workqueue_depth{ {{- $job -}} }) > 50
  for: 30m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: The {{ include "common.binary" . }} does not keep up
    description: >-
      {{`{{ $value }}`}} objects wait in the queue {{`{{ $labels.name }}`}} of the {{ include "common.binary" . }}. The value concurrentSyncs of its chart says how
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
    summary: API servers refuse what the {{ include "common.binary" . }} asks for
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the requests of the {{ include "common.binary" . }} to API servers end with {{`{{ $labels.code }}`}}.
{{- if and $facts.webhooks $facts.resource }}
- alert: {{ $prefix }}WebhooksFail
  expr: |-
    sum by (webhook) (rate(trellis_webhook_answers_total{ {{- $job }},answer="failed"}[10m]))
      / sum by (webhook) (rate(trellis_webhook_answers_total{ {{- $job -}} }[10m])) > 0.05
  for: 5m
  labels:
    severity: critical
    {{- $labels | nindent 4 }}
  annotations:
    summary: A webhook of the {{ .Chart.Name }} fails
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the requests to the webhook {{`{{ $labels.webhook }}`}} fail, and the API server refuses the objects that
      they are about.
{{- end }}
{{- if $facts.webhooks }}
- alert: {{ $prefix }}WebhooksBusy
  expr: |-
    sum by (webhook) (rate(trellis_webhook_answers_total{ {{- $job }},answer="busy"}[10m]))
      / sum by (webhook) (rate(trellis_webhook_answers_total{ {{- $job -}} }[10m])) > 0.05
  for: 10m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A webhook of the {{ include "common.binary" . }} has more requests than it handles
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the requests to the webhook {{`{{ $labels.webhook }}`}} are answered with 429, since it has no room for more.
      API servers ask again by themselves; users see slow writes, and failed ones where that takes longer than API servers wait. The value replicaCount of
      its chart says how many replicas share the requests.
- alert: {{ $prefix }}CertificateOld
  expr: min(trellis_webhook_certificate_not_after_timestamp_seconds{ {{- $job -}} } > 0) - time() < 5 * 24 * 3600
  for: 1h
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: The webhooks' certificate of the {{ include "common.binary" . }} is not renewed
    description: >-
      It ends in {{`{{ $value | humanizeDuration }}`}}. It should have been renewed ten days before; what keeps it from that is in the leader's logs.
- alert: {{ $prefix }}WebhooksSlow
  expr: |-
    sum by (webhook) (rate(controller_runtime_webhook_latency_seconds_sum{ {{- $job -}} }[10m]))
      / sum by (webhook) (rate(controller_runtime_webhook_latency_seconds_count{ {{- $job -}} }[10m])) > 2
  for: 10m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A webhook of the {{ include "common.binary" . }} is slow
    description: >-
      A request to the webhook {{`{{ $labels.webhook }}`}} takes {{`{{ $value | humanizeDuration }}`}}. API servers give up after ten seconds.
{{- end }}
{{- if $facts.openstack }}
- alert: {{ $prefix }}OpenStackFails
  expr: |-
    sum by (service) (rate(trellis_openstack_requests_total{ {{- $job }},code=~"429|5..|none"}[15m]))
      / sum by (service) (rate(trellis_openstack_requests_total{ {{- $job -}} }[15m])) > 0.2
    and
    sum by (service) (increase(trellis_openstack_requests_total{ {{- $job -}} }[15m])) > 10
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: OpenStack's {{`{{ $labels.service }}`}} fails
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the requests of the {{ .Chart.Name }} to {{`{{ $labels.service }}`}} have no good answer.
- alert: {{ $prefix }}OpenStackLoginsFail
  expr: |-
    sum(increase(trellis_openstack_logins_total{ {{- $job }},result="failure"}[30m]))
      / sum(increase(trellis_openstack_logins_total{ {{- $job -}} }[30m])) > 0.5
    and
    sum(increase(trellis_openstack_logins_total{ {{- $job }},result="failure"}[30m])) > 5
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: Logins at Keystone fail
    description: >-
      {{`{{ $value | humanizePercentage }}`}} of the logins of the {{ .Chart.Name }} at Keystone failed in half an hour: Keystone is in trouble, or credentials
      are wrong.
{{- end }}
{{- if $facts.own }}
{{ include "alerts" . }}
{{- end }}
{{- end -}}
