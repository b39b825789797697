{{/* The command line, a list in YAML. */}}
{{- define "common.args" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $ports := include "common.ports" . | fromYaml -}}
- {{ printf "--types=%s" (.Values.types | join ",") | quote }}
{{- if $facts.resource }}
- {{ printf "--role=%s" .Values.role | quote }}
{{- with include "common.classes" . }}
- {{ printf "--extension-classes=%s" . | quote }}
{{- end }}
- {{ printf "--max-concurrent-reconciles=%d" (.Values.concurrentSyncs | int64) | quote }}
{{- if include "common.secondary" . }}
{{- with .Values.observations }}
- {{ printf "--observations=%s" (. | join ",") | quote }}
{{- end }}
- {{ printf "--observation-interval=%s" .Values.observationInterval | quote }}
- {{ printf "--cleanup-configmap=%s" (include "common.markerName" .) | quote }}
{{- end }}
{{- with (.Values.gardener).version }}
- {{ printf "--gardener-version=%s" . | quote }}
{{- end }}
{{- end }}
- {{ printf "--leader-election-id=%s" (include "common.leaderElectionID" .) | quote }}
- {{ printf "--leader-election-namespace=%s" .Release.Namespace | quote }}
{{- if $facts.resource }}
- {{ printf "--heartbeat-namespace=%s" (include "common.heartbeatNamespace" .) | quote }}
- {{ printf "--heartbeat-renew-interval-seconds=%d" (.Values.heartbeat.renewIntervalSeconds | int64) | quote }}
{{- end }}
{{- if $facts.webhooks }}
{{- with .Values.disableWebhooks }}
- {{ printf "--disable-webhooks=%s" (. | join ",") | quote }}
{{- end }}
- {{ printf "--webhook-config-name=%s" (include "common.name" .) | quote }}
- {{ printf "--webhook-config-namespace=%s" .Release.Namespace | quote }}
- "--webhook-config-service-port=443"
- {{ printf "--webhook-config-server-port=%d" ($ports.webhooks | int64) | quote }}
{{- if include "common.shootWebhooks" . }}
- "--webhook-config-shoot-service-port=8443"
- {{ printf "--webhook-config-shoot-server-port=%d" ($ports.shootWebhooks | int64) | quote }}
{{- end }}
{{- end }}
- {{ printf "--health-bind-address=:%d" ($ports.health | int64) | quote }}
- {{ printf "--metrics-bind-address=:%d" ($ports.metrics | int64) | quote }}
- {{ printf "--log-level=%s" .Values.logLevel | quote }}
- {{ printf "--log-format=%s" .Values.logFormat | quote }}
{{- if not (include "common.secondary" .) }}
{{- include "args" . }}
{{- end }}
{{- end -}}
