{{- define "facts" -}}
binary: admission
{{- end -}}

{{/* The types of clouds, a list in JSON: their objects are validated against cloud profiles and credentials. */}}
{{- define "clouds" -}}
["openstack"]
{{- end -}}
