{{- define "facts" -}}
kind: Infrastructure
resource: infrastructures
webhooks: false
images: false
clouds: true
observesClouds: true
# 90th percentile in seconds from which operations count as slow.
slow: 300
# The APIs of clouds, in any network.
networks: [public-networks, private-networks]
shoots: false
{{- end -}}

{{/* Its own flags, a list in YAML. */}}
{{- define "args" -}}
{{- with .Values.fullCheckInterval }}
- {{ printf "--full-check-interval=%s" . | quote }}
{{- end }}
{{- end -}}
