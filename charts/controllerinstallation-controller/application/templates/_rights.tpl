{{/* The subjects of the bindings. */}}
{{- define "subjects" -}}
{{- $account := ((.Values.gardener).virtualCluster).serviceAccount | default dict -}}
subjects:
- kind: ServiceAccount
  name: {{ $account.name | default (printf "extension-admission-%s" .Release.Name) }}
  namespace: {{ $account.namespace | default "kube-system" }}
{{- end -}}

{{/* Takes the context, a namespace, and a suffix of the name: names differ in all namespaces, since renderers of Gardener distinguish objects by name. */}}
{{- define "role.metadata" -}}
{{- $root := index . 0 -}}
metadata:
  name: {{ include "common.name" $root }}-rights{{ index . 2 }}
  namespace: {{ index . 1 }}
  labels:
    {{- include "common.labels" $root | nindent 4 }}
{{- end -}}

{{/* Takes the same. */}}
{{- define "role.binding" -}}
{{- $root := index . 0 -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
{{ include "role.metadata" . }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ include "common.name" $root }}-rights{{ index . 2 }}
{{ include "subjects" $root }}
{{- end -}}
