{{- define "facts" -}}
binary: admission
{{- end -}}
