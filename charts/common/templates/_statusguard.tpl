{{/* A name as a string of CEL. JSON's strings are CEL's, except characters that are escaped for HTML. */}}
{{- define "common.celList" -}}
{{- . | default list | toRawJson -}}
{{- end -}}

{{- define "common.statusGuard" -}}
{{- if and .Values.statusGuard.enabled (not (include "common.secondary" .)) -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $controller := printf "system:serviceaccount:%s:%s" .Release.Namespace (include "common.name" .) -}}
{{- $classes := include "common.classes" . | default "shoot" | splitList "," -}}
# Only a primary writes a status, and Gardener, which restores a state and removes it after it was read. Others may write conditions. Gardener
# documents this rule; here the API server enforces it.
#
# The policy fails closed. Its first conditions select the permitted writers and read only fields that always exist. An extension that reconciles
# the same objects at the same time, e.g. the one that a landscape migrates from, is rejected too: it must be disabled first.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ include "common.clusterDNSName" . }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    matchPolicy: Equivalent
    resourceRules:
    - apiGroups: [extensions.gardener.cloud]
      apiVersions: [v1alpha1]
      operations: [UPDATE]
      resources: [{{ $facts.resource }}/status]
      scope: Namespaced
  matchConditions:
  - name: by-others-than-the-controller
    expression: {{ printf "request.userInfo.username != %s" (toRawJson $controller) | quote }}
  - name: by-others-than-gardener
    expression: {{ printf "!(request.userInfo.username in %s)" (include "common.celList" .Values.statusGuard.users) | quote }}
  - name: by-nobody-of-a-trusted-group
    expression: {{ printf "!(has(request.userInfo.groups) && request.userInfo.groups.exists(g, g in %s))" (include "common.celList" .Values.statusGuard.groups) | quote }}
  - name: of-a-type-that-the-controller-serves
    expression: {{ printf "object.spec.type in %s" (include "common.celList" .Values.types) | quote }}
  - name: of-a-class-that-the-controller-serves
    expression: {{ printf "(has(object.spec.class) ? object.spec.class : 'shoot') in %s" (include "common.celList" $classes) | quote }}
  variables:
  # The status is compared as an untyped map, so fields that a later Gardener adds are guarded too.
  - name: before
    expression: "has(oldObject.status) ? dyn(oldObject.status) : dyn({})"
  - name: after
    expression: "has(object.status) ? dyn(object.status) : dyn({})"
  - name: changed
    expression: >-
      (variables.before.filter(f, !(f in variables.after)) +
      variables.after.filter(f, !(f in variables.before) || variables.before[f] != variables.after[f])).filter(f, f != 'conditions')
  validations:
  - expression: size(variables.changed) == 0
    reason: Forbidden
    message: {{ printf "Only %s and Gardener may change the status of this %s; others may change status.conditions and nothing else." $controller $facts.kind | quote }}
    messageExpression: >-
      {{ printf "'Only %s and Gardener may change the status of this %s; others may change status.conditions and nothing else: not '" $controller $facts.kind }}
      + variables.changed.map(f, 'status.' + string(f)).join(', ')
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ include "common.clusterDNSName" . }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  policyName: {{ include "common.clusterDNSName" . }}
  validationActions: [Deny]
---
{{ include "common.objectGuard" . }}
{{- end -}}
{{- end -}}

{{/* The part of the guard that concerns the objects themselves. */}}
{{- define "common.objectGuard" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $controller := printf "system:serviceaccount:%s:%s" .Release.Namespace (include "common.name" .) -}}
{{- $classes := include "common.classes" . | default "shoot" | splitList "," -}}
{{- $name := printf "objects.%s" (include "common.clusterDNSName" .) -}}
# Extensions that are not the primary may not change the fields by which Gardener and the primary work together. gardenlet, people and Kubernetes may:
# whether they can is said by RBAC. What an object was decides, so that nobody evades the policy by a change of its type.
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
    - apiGroups: [extensions.gardener.cloud]
      apiVersions: [v1alpha1]
      operations: [UPDATE]
      resources: [{{ $facts.resource }}]
      scope: Namespaced
  matchConditions:
  - name: by-an-extension
    expression: request.userInfo.username.startsWith('system:serviceaccount:extension-')
  - name: by-others-than-the-controller
    expression: {{ printf "request.userInfo.username != %s" (toRawJson $controller) | quote }}
  - name: by-others-than-the-permitted-users
    expression: {{ printf "!(request.userInfo.username in %s)" (include "common.celList" .Values.statusGuard.users) | quote }}
  - name: by-nobody-of-a-trusted-group
    expression: {{ printf "!(has(request.userInfo.groups) && request.userInfo.groups.exists(g, g in %s))" (include "common.celList" .Values.statusGuard.groups) | quote }}
  - name: of-a-type-that-the-controller-serves
    expression: {{ printf "oldObject.spec.type in %s" (include "common.celList" .Values.types) | quote }}
  - name: of-a-class-that-the-controller-serves
    expression: {{ printf "(has(oldObject.spec.class) ? oldObject.spec.class : 'shoot') in %s" (include "common.celList" $classes) | quote }}
  variables:
  - name: finalizersBefore
    expression: "has(oldObject.metadata.finalizers) ? dyn(oldObject.metadata.finalizers) : dyn([])"
  - name: finalizersAfter
    expression: "has(object.metadata.finalizers) ? dyn(object.metadata.finalizers) : dyn([])"
  - name: annotationsBefore
    expression: "has(oldObject.metadata.annotations) ? dyn(oldObject.metadata.annotations) : dyn({})"
  - name: annotationsAfter
    expression: "has(object.metadata.annotations) ? dyn(object.metadata.annotations) : dyn({})"
  # Each is a clause that says whose field it is.
  - name: changed
    expression: >-
      (dyn(object.spec) == dyn(oldObject.spec) ? [] : ['spec, which is Gardener\'s']) +
      (variables.finalizersBefore == variables.finalizersAfter ? [] : {{ printf "['metadata.finalizers, which are those of %s']" $controller }}) +
      ['gardener.cloud/operation', 'gardener.cloud/timestamp', 'confirmation.gardener.cloud/deletion'].filter(a,
      (a in variables.annotationsBefore) != (a in variables.annotationsAfter) ||
      (a in variables.annotationsBefore && variables.annotationsBefore[a] != variables.annotationsAfter[a])
      ).map(a, 'the annotation ' + a + ', which is Gardener\'s')
  validations:
  - expression: size(variables.changed) == 0
    reason: Forbidden
    message: {{ printf "Extensions other than %s may change neither spec and finalizers of this %s, nor Gardener's annotations." $controller $facts.kind | quote }}
    messageExpression: >-
      request.userInfo.username + {{ printf "' may not change these fields of this %s: '" $facts.kind }} + variables.changed.join('; ')
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
