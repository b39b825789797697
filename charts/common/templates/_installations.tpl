{{/* Alerts for installations, for each form of their operator. */}}
{{- define "common.installationAlerts" -}}
{{- $job := printf "job=%q" (include "common.name" .) -}}
- alert: TrellisControllerInstallationNotHealthy
  expr: max by (installation, seed) (trellis_installation_phase{ {{- $job }},phase=~"Pending|Progressing|Unhealthy|Failed"}) == 1
  for: 30m
  labels:
    severity: warning
    {{- include "common.alertLabels" . | nindent 4 }}
  annotations:
    summary: An installation is not healthy
    description: >-
      {{`{{ $labels.installation }}`}} in seed {{`{{ $labels.seed }}`}} has not been healthy for half an hour, and shoots that need it wait. Its conditions
      and status.providerStatus.lastError give the reason.
{{- end -}}
