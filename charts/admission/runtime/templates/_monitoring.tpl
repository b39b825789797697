{{/*
A refusal is a good answer, and an answer that something could not be found out is one too, as far as HTTP goes: what becomes of them only the API
servers of the garden count. Prometheus keeps these metrics of both, the virtual garden's and Gardener's own.
*/}}
{{- define "calls" -}}
name=~".+[.]admission[.]extensions[.]gardener[.]cloud"
{{- end -}}

{{/* All that it asks for beyond what others have is counted by API servers. */}}
{{- define "metrics" -}}
{{- end -}}

{{- define "alerts" -}}
{{- $labels := include "common.alertLabels" . -}}
- alert: TrellisAdmissionNotReached
  expr: sum by (name) (increase(apiserver_admission_webhook_rejection_count{ {{- include "calls" . }},error_type!="no_error"}[5m])) > 0
  for: 2m
  labels:
    severity: critical
    {{- $labels | nindent 4 }}
  annotations:
    summary: The garden does not reach a webhook of admission
    description: >-
      API servers of the garden had no answer from the webhook {{`{{ $labels.name }}`}}, and refuse what it should judge.
- alert: TrellisAdmissionCannotJudge
  expr: sum by (name) (increase(apiserver_admission_webhook_rejection_count{ {{- include "calls" . }},error_type="no_error",rejection_code=~"5.."}[15m])) > 5
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A webhook of admission cannot find out what it has to know
    description: >-
      {{`{{ $value }}`}} writes in a quarter of an hour were refused by the webhook {{`{{ $labels.name }}`}} because something could not be looked up. What
      it was is in the logs.
{{- end -}}

{{- define "panels" -}}
- title: Refusals
  description: >-
    In five minutes, by webhook and code, as API servers of the garden count them. 422 is a mistake, 500 something that could not be found out, 0 no
    answer.
  unit: short
  queries:
  - expr: sum by (name, rejection_code) (increase(apiserver_admission_webhook_rejection_count{ {{- include "calls" . -}} }[5m]))
    legend: {{`"{{name}} {{rejection_code}}"`}}
- title: Time of a call
  description: As API servers of the garden see it. Of a hundred calls 99 take no longer.
  unit: s
  queries:
  - expr: histogram_quantile(0.99, sum by (le, name) (rate(apiserver_admission_webhook_admission_duration_seconds_bucket{ {{- include "calls" . -}} }[15m])))
    legend: {{`"{{name}}"`}}
{{- end -}}
