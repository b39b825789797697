{{- define "common.podDisruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
{{ include "common.metadata" . }}
spec:
  maxUnavailable: 1
  # Pods that are not ready must not block the drain of a node.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "common.selector" . | nindent 6 }}
{{- end -}}

{{- define "common.verticalPodAutoscaler" -}}
{{- if .Values.vpa.enabled -}}
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
{{ include "common.metadata" . }}
spec:
  targetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "common.name" . }}
  updatePolicy:
    updateMode: {{ .Values.vpa.updateMode }}
  resourcePolicy:
    containerPolicies:
    - containerName: {{ include "common.name" . }}
      controlledValues: RequestsOnly
      minAllowed:
        {{- toYaml .Values.vpa.minAllowed | nindent 8 }}
      {{- with .Values.vpa.maxAllowed }}
      maxAllowed:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    - containerName: "*"
      mode: "Off"
{{- end -}}
{{- end -}}
