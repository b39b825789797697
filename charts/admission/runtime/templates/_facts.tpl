{{- define "facts" -}}
binary: admission
kind: Admission
garden: true
webhooks: true
certificates: true
images: false
clouds: false
# It calls no cloud.
networks: []
shoots: false
own: true
down: API servers reject the writes that it should validate
stalled: certificates are not renewed, and webhook configurations are not repaired
{{- end -}}

{{- define "args" -}}
{{- with ((.Values.gardener).virtualCluster).namespace }}
- {{ printf "--webhook-config-owner-namespace=%s" . | quote }}
{{- end }}
{{- with .Values.garden.webhookURL }}
- "--webhook-config-mode=url"
- {{ printf "--webhook-config-url=%s" . | quote }}
{{- end }}
- {{ printf "--default-overlay-off=%s" (.Values.defaults.overlayOff | join ",") | quote }}
- {{ printf "--default-pod-routes=%s" (.Values.defaults.podRoutes | join ",") | quote }}
- {{ printf "--default-node-local-dns-without-tcp=%t" .Values.defaults.nodeLocalDNSWithoutTCP | quote }}
{{- end -}}
