{{/*
RBAC can restrict neither labels of namespaces nor types of Secrets. With RBAC alone, a user who may create and read Secrets in all namespaces can get
the token of any ServiceAccount: it creates a Secret of the type kubernetes.io/service-account-token that names the account, and reads the token that
the token controller writes into it.
*/}}
{{- define "common.secretGuard" -}}
{{- if and .Values.secretGuard.enabled (not (include "common.secondary" .)) -}}
{{- $controller := printf "system:serviceaccount:%s:%s" .Release.Namespace (include "common.name" .) -}}
{{- $namespaces := concat (list .Release.Namespace) (.Values.secretGuard.namespaces | default list) | uniq -}}
{{- $name := printf "secrets.%s" (include "common.clusterDNSName" .) -}}
# The namespaces in which this controller may write Secrets, and their types. It applies to no other user. It fails closed: each request has the
# fields that it reads. gardenlet labels the namespaces of shoots, also kube-system of a shoot that is its own seed.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ $name }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    matchPolicy: Equivalent
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE, UPDATE, DELETE]
      resources: [secrets]
      scope: Namespaced
  matchConditions:
  - name: by-the-controller
    expression: {{ printf "request.userInfo.username == %s" (toRawJson $controller) | quote }}
  validations:
  - expression: >-
      request.namespace in {{ include "common.celList" $namespaces }} ||
      (has(namespaceObject.metadata.labels) && 'gardener.cloud/role' in namespaceObject.metadata.labels &&
      namespaceObject.metadata.labels['gardener.cloud/role'] == 'shoot')
    reason: Forbidden
    message: {{ printf "%s may write Secrets only in its own namespace and in namespaces of shoots, which have the label gardener.cloud/role=shoot." $controller | quote }}
  # Kubernetes creates credentials for Secrets of these types.
  - expression: >-
      request.operation == 'DELETE' || !has(object.type) ||
      !(object.type in ['kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token'])
    reason: Forbidden
    message: {{ printf "%s may write no Secrets of the types kubernetes.io/service-account-token and bootstrap.kubernetes.io/token." $controller | quote }}
  # gardenlet writes tokens of the garden into these.
  - expression: >-
      request.operation == 'DELETE' || !has(object.metadata.labels) || !('resources.gardener.cloud/class' in object.metadata.labels) ||
      object.metadata.labels['resources.gardener.cloud/class'] != 'garden'
    reason: Forbidden
    message: {{ printf "%s may write no Secrets with the label resources.gardener.cloud/class=garden." $controller | quote }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ $name }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  policyName: {{ $name }}
  validationActions: [Deny]
{{- end -}}
{{- end -}}
