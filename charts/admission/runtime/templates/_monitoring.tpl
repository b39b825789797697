{{/*
A denied request and a failed validation are both HTTP 200, so these alerts use the metrics of the API servers that call the webhooks.
Prometheus scrapes both, the virtual garden's kube-apiserver and gardener-apiserver.
*/}}
{{- define "calls" -}}
name=~".+[.]admission[.]extensions[.]gardener[.]cloud"
{{- end -}}

{{/* Its own alerts use metrics of API servers only. */}}
{{- define "metrics" -}}
{{- end -}}

{{- define "alerts" -}}
{{- $labels := include "common.alertLabels" . -}}
- alert: TrellisAdmissionUnreachable
  expr: sum by (name) (increase(apiserver_admission_webhook_rejection_count{ {{- include "calls" . }},error_type!="no_error"}[5m])) > 0
  for: 2m
  labels:
    severity: critical
    {{- $labels | nindent 4 }}
  annotations:
    summary: A webhook of admission is unreachable
    description: >-
      API servers of the garden get no response from the webhook {{`{{ $labels.name }}`}} and reject the writes that it should validate.
- alert: TrellisAdmissionValidationFails
  expr: sum by (name) (increase(apiserver_admission_webhook_rejection_count{ {{- include "calls" . }},error_type="no_error",rejection_code=~"5.."}[15m])) > 5
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A webhook of admission cannot look up what it needs
    description: >-
      {{`{{ $value }}`}} writes in the last 15 minutes were rejected by the webhook {{`{{ $labels.name }}`}} because a lookup failed. The logs
      give the reason.
{{- end -}}
