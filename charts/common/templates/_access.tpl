{{- define "common.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
{{ include "common.keptMetadata" . }}
automountServiceAccountToken: false
{{- end -}}

{{- define "common.subjects" -}}
subjects:
- kind: ServiceAccount
  name: {{ include "common.name" . }}
  namespace: {{ .Release.Namespace }}
{{- end -}}

{{/* Rules that every controller has in all namespaces. */}}
{{- define "common.clusterRules" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- if include "common.secondary" . -}}
# The objects that it observes. It writes conditions in their status, and nothing else.
- apiGroups: [extensions.gardener.cloud]
  resources: [{{ $facts.resource }}]
  verbs: [get, list, watch]
{{- else -}}
# The objects that it reconciles. It writes finalizers and removes the operation annotation; it neither creates nor deletes objects.
- apiGroups: [extensions.gardener.cloud]
  resources: [{{ $facts.resource }}]
  verbs: [get, list, watch, patch]
{{- end }}
- apiGroups: [extensions.gardener.cloud]
  resources: [{{ $facts.resource }}/status]
  verbs: [patch]
# The Cluster with the shoot, its cloud profile and its seed, read once per reconciliation.
- apiGroups: [extensions.gardener.cloud]
  resources: [clusters]
  verbs: [get]
# Events about these objects, in their namespaces.
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- if include "common.secondary" . }}
{{ include "common.cleanupClusterRules" . }}
{{- end }}
{{- end -}}

{{/* Rules of a controller with admission webhooks: it registers them in configurations of one name. */}}
{{- define "common.webhookRules" -}}
# RBAC cannot restrict names in create requests.
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations]
  verbs: [create]
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations]
  resourceNames: [{{ include "common.name" . }}]
  verbs: [get, update, delete]
# It has no webhooks of this kind, and deletes a configuration of an earlier version.
- apiGroups: [admissionregistration.k8s.io]
  resources: [validatingwebhookconfigurations]
  resourceNames: [{{ include "common.name" . }}]
  verbs: [get, delete]
# The namespace owns the configurations, which are deleted with it.
- apiGroups: [""]
  resources: [namespaces]
  resourceNames: [{{ .Release.Namespace }}]
  verbs: [get]
{{- end -}}

{{/* The binding of the ClusterRole, and the rights that every controller has in its own namespace. */}}
{{- define "common.bindings" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
{{ include "common.clusterMetadata" . }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ include "common.clusterName" . }}
{{ include "common.subjects" . }}
---
{{ include "common.namespaceRights" . }}
{{- end -}}

{{- define "common.namespaceRights" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $heartbeat := include "common.heartbeatNamespace" . -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
{{ include "common.keptMetadata" . }}
rules:
{{- include "common.leaseRules" (list . .Release.Namespace) }}
# Events of leader election.
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- if $facts.certificates }}
# The certificates of its webhooks.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, list, create, patch, delete]
{{- end }}
{{- if include "common.secondary" . }}
{{ include "common.cleanupRules" . }}
{{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
{{ include "common.keptMetadata" . }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ include "common.name" . }}
{{ include "common.subjects" . }}
{{- if ne $heartbeat .Release.Namespace }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ include "common.name" . }}-heartbeat
  namespace: {{ $heartbeat }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
rules:
{{- include "common.leaseRules" (list . $heartbeat) }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ include "common.name" . }}-heartbeat
  namespace: {{ $heartbeat }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ include "common.name" . }}-heartbeat
{{ include "common.subjects" . }}
{{- end }}
{{- end -}}

{{/* Takes the context and a namespace. RBAC cannot restrict names in create requests. */}}
{{- define "common.leaseRules" -}}
{{- $root := index . 0 -}}
{{- $namespace := index . 1 -}}
{{- $facts := include "common.facts" $root | fromYaml -}}
{{- $names := list -}}
{{- if eq $namespace $root.Release.Namespace -}}
{{- $names = append $names (include "common.leaderElectionID" $root) -}}
{{- end -}}
{{- if and $facts.resource (eq $namespace (include "common.heartbeatNamespace" $root)) -}}
{{- $names = append $names "gardener-extension-heartbeat" -}}
{{- end }}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ $names | join ", " }}]
  verbs: [get, update]
{{- end -}}
