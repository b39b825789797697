{{/*
The ConfigMap that marks the installation of a secondary. Gardener removes no conditions that it does not know. So whatever uninstalls the secondary waits
for this ConfigMap, whose finalizer the controller removes after it has removed its conditions from all objects.
*/}}
{{- define "common.marker" -}}
{{- if include "common.secondary" . -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "common.markerName" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
  finalizers:
  - trellis.extensions.gardener.cloud/observations
# The controller makes the namespace the owner of these, so that they are deleted with it.
data:
  clusterRole: {{ include "common.clusterName" . }}
  clusterRoleBinding: {{ include "common.clusterName" . }}
{{- end -}}
{{- end -}}

{{- define "common.markerName" -}}
{{ include "common.name" . }}-observations
{{- end -}}

{{/*
An annotation of what a secondary needs until it has removed its conditions: gardener-resource-manager does not delete it with the ManagedResource. It is
deleted with the namespace.
*/}}
{{- define "common.keep" -}}
{{- if include "common.secondary" . -}}
resources.gardener.cloud/keep-object: "true"
{{- end -}}
{{- end -}}

{{/* Rules by which a secondary has its cluster-scoped objects deleted with its namespace. */}}
{{- define "common.cleanupClusterRules" -}}
# When it is uninstalled, it makes its namespace the owner of these two. It deletes neither: an admission plugin of Kubernetes,
# OwnerReferencesPermissionEnforcement, demands the right of everyone who changes owners.
- apiGroups: [rbac.authorization.k8s.io]
  resources: [clusterroles, clusterrolebindings]
  resourceNames: [{{ include "common.clusterName" . | quote }}]
  verbs: [get, patch, delete]
- apiGroups: [""]
  resources: [namespaces]
  resourceNames: [{{ .Release.Namespace }}]
  verbs: [get]
{{- end -}}

{{- define "common.cleanupRules" -}}
# The ConfigMap that marks its installation.
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: [{{ include "common.markerName" . }}]
  verbs: [get, list, watch, patch]
{{- end -}}
