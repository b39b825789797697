{{/* Names of Secrets with which nodes pull the image, a list in YAML, or nothing. */}}
{{- define "common.pullSecrets" -}}
{{- range .Values.imagePullSecrets }}
- name: {{ . }}
{{- end }}
{{- if .Values.imageRegistries }}
- name: {{ include "common.registriesName" . }}
{{- end }}
{{- end -}}

{{- define "common.registriesName" -}}
{{ include "common.name" . }}-registries
{{- end -}}

{{/* The Secret that the chart creates: the names of installations' namespaces are not known beforehand. */}}
{{- define "common.registries" -}}
{{- with .Values.imageRegistries -}}
{{- $auths := dict -}}
{{- range $host, $login := . -}}
{{- $auth := printf "%s:%s" $login.username $login.password | b64enc -}}
{{- $_ := set $auths $host (dict "username" $login.username "password" $login.password "auth" $auth) -}}
{{- end -}}
apiVersion: v1
kind: Secret
metadata:
  name: {{ include "common.registriesName" $ }}
  namespace: {{ $.Release.Namespace }}
  labels:
    {{- include "common.labels" $ | nindent 4 }}
  {{- with include "common.keep" $ }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
type: kubernetes.io/dockerconfigjson
data:
  .dockerconfigjson: {{ dict "auths" $auths | toRawJson | b64enc }}
{{- end -}}
{{- end -}}
