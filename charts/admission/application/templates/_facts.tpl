{{- define "facts" -}}
binary: admission
{{- end -}}

{{/* The types of clouds, a list in JSON: their objects are validated against cloud profiles and credentials. */}}
{{- define "clouds" -}}
["openstack","aws"]
{{- end -}}

{{/* Those whose credentials cannot change in everything while shoots use them. */}}
{{- define "boundClouds" -}}
["openstack"]
{{- end -}}

{{/* Those that have workload identities. */}}
{{- define "identityClouds" -}}
["aws"]
{{- end -}}
