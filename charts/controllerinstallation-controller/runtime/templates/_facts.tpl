{{- define "facts" -}}
binary: controllerinstallation-controller
# The installation for a single seed may run in the same cluster.
suffix: -garden
kind: ControllerInstallation
queues: true
garden: true
webhooks: false
images: false
clouds: false
# Seeds, and registries with charts, in any network.
networks: [public-networks, private-networks]
shoots: false
own: true
down: Nothing is installed, updated or removed in seeds of what is registered with its types
stalled: nothing is installed, updated or removed in seeds of what is registered with its types
{{- end -}}

{{- define "args" -}}
{{- with .Values.seedSelector }}
- {{ printf "--seed-selector=%s" . | quote }}
{{- end }}
{{- with .Values.gardenAddress }}
- {{ printf "--garden-address=%s" . | quote }}
{{- end }}
- {{ printf "--sync-period=%s" .Values.syncPeriod | quote }}
- {{ printf "--max-concurrent-reconciles=%d" (.Values.concurrentSyncs | int64) | quote }}
{{- end -}}
