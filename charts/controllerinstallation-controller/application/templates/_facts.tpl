{{- define "facts" -}}
binary: controllerinstallation-controller
suffix: -garden
{{- end -}}
