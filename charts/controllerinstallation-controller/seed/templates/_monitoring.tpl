{{- define "metrics" -}}
- trellis_installation_phase
{{- end -}}

{{- define "alerts" -}}
{{ include "common.installationAlerts" . }}
{{- end -}}
