{{- define "common.deployment" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $ports := include "common.ports" . | fromYaml -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "common.name" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    # What is a server as well as a controller counts as server (gardener/docs/development/high-availability-of-components.md).
    high-availability-config.resources.gardener.cloud/type: {{ $facts.webhooks | ternary "server" "controller" }}
  {{- with include "common.deploymentAnnotations" . }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
spec:
  replicas: {{ empty $facts.idle | ternary (.Values.replicaCount | int64) 0 }}
  revisionHistoryLimit: 2
  # Every shoot that needs this controller waits while its Deployment is progressing, and it is soonest over when nothing is
  # taken away before its successor is ready.
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  selector:
    matchLabels:
      {{- include "common.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "common.podLabels" . | nindent 8 }}
      {{- with include "common.podAnnotations" . }}
      annotations:
        {{- . | nindent 8 }}
      {{- end }}
    spec:
      {{- include "common.scheduling" . | nindent 6 }}
      serviceAccountName: {{ include "common.name" . }}
      {{- with include "common.pullSecrets" . }}
      imagePullSecrets:
      {{- . | nindent 6 }}
      {{- end }}
      # A pass under way has 25 seconds to save its state; endpoints are given 5 before that.
      terminationGracePeriodSeconds: {{ $facts.webhooks | ternary 35 30 }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        fsGroup: 65532
        seccompProfile:
          type: RuntimeDefault
      containers:
      - name: {{ include "common.name" . }}
        image: {{ include "common.image" . | quote }}
        imagePullPolicy: {{ .Values.image.pullPolicy }}
        args:
        {{- include "common.args" . | nindent 8 }}
        {{- with include "common.environment" . }}
        env:
        {{- . | nindent 8 }}
        {{- end }}
        ports:
        - name: metrics
          containerPort: {{ $ports.metrics }}
          protocol: TCP
        - name: health
          containerPort: {{ $ports.health }}
          protocol: TCP
        {{- if $facts.webhooks }}
        - name: webhooks
          containerPort: {{ $ports.webhooks }}
          protocol: TCP
        {{- end }}
        # A replica is ready within a second of its start; two minutes are for nodes and API servers under load.
        startupProbe:
          httpGet:
            path: /healthz
            port: health
          periodSeconds: 1
          failureThreshold: 120
        livenessProbe:
          httpGet:
            path: /healthz
            port: health
          periodSeconds: 10
          timeoutSeconds: 5
        readinessProbe:
          httpGet:
            path: /readyz
            port: health
          periodSeconds: 2
          timeoutSeconds: 2
        {{- if $facts.webhooks }}
        # Endpoints are slower than processes: whoever still has this one's address gets an answer.
        lifecycle:
          preStop:
            sleep:
              seconds: 5
        {{- end }}
        resources:
          {{- include "common.resources" .Values.resources | nindent 10 }}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities:
            drop:
            - ALL
        {{- if include "common.volumes" . }}
        volumeMounts:
        {{- if .Values.serviceAccount.mountToken }}
        - name: kube-api-access-chart
          mountPath: /var/run/secrets/kubernetes.io/serviceaccount
          readOnly: true
        {{- end }}
        {{- if include "common.imageVector" . }}
        - name: imagevector-overwrite
          mountPath: /etc/trellis/imagevector-overwrite
          readOnly: true
        {{- end }}
        {{- if include "common.gardenKubeconfig" . }}
        - name: garden
          mountPath: /etc/trellis/garden
          readOnly: true
        {{- end }}
        {{- end }}
      {{- with include "common.volumes" . }}
      volumes:
      {{- . | nindent 6 }}
      {{- end }}
{{- end -}}

{{/* The volumes of its pods, a list in YAML. */}}
{{- define "common.volumes" -}}
{{- if .Values.serviceAccount.mountToken }}
# gardener-resource-manager leaves pods alone that have a volume with this prefix.
- name: kube-api-access-chart
  projected:
    defaultMode: 420
    sources:
    - serviceAccountToken:
        expirationSeconds: 43200
        path: token
    - configMap:
        name: kube-root-ca.crt
        items:
        - key: ca.crt
          path: ca.crt
    - downwardAPI:
        items:
        - path: namespace
          fieldRef:
            apiVersion: v1
            fieldPath: metadata.namespace
{{- end }}
{{- if include "common.imageVector" . }}
- name: imagevector-overwrite
  configMap:
    name: {{ include "common.imageVectorName" . }}
    defaultMode: 420
{{- end }}
{{- with include "common.gardenKubeconfig" . }}
- name: garden
  secret:
    secretName: {{ . }}
    # 0440: for the group of the pod.
    defaultMode: 288
{{- end }}
{{- end -}}

{{/* The Secret with a kubeconfig of the virtual garden, for those without gardener-operator, which brings its own into pods. */}}
{{- define "common.gardenKubeconfig" -}}
{{- (.Values.garden).kubeconfigSecret | default "" -}}
{{- end -}}

{{- define "common.deploymentAnnotations" -}}
{{- $replicas := .Values.replicaCount | int64 -}}
{{- $lines := list -}}
{{- if and (ne $replicas 0) (ne $replicas 2) -}}
{{- /* gardener-resource-manager makes two of any other number that is not 0, unless it is told otherwise. */ -}}
{{- $lines = append $lines (printf "high-availability-config.resources.gardener.cloud/replicas: %q" (toString $replicas)) -}}
{{- end -}}
{{- if include "common.imageVector" . -}}
{{- $lines = append $lines (include "common.imageVectorReference" .) -}}
{{- end -}}
{{- $lines | join "\n" -}}
{{- end -}}

{{/*
Pods reach nothing that is not named here (gardener/docs/operations/network_policies.md).
*/}}
{{- define "common.networkLabels" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
networking.gardener.cloud/to-dns: allowed
networking.gardener.cloud/to-runtime-apiserver: allowed
{{- range $facts.networks }}
networking.gardener.cloud/to-{{ . }}: allowed
{{- end }}
{{- if $facts.garden }}
networking.resources.gardener.cloud/to-virtual-garden-kube-apiserver-tcp-443: allowed
{{- end }}
{{- if $facts.virtualGarden }}
networking.resources.gardener.cloud/to-garden-virtual-garden-kube-apiserver-tcp-443: allowed
{{- end }}
{{- if $facts.shoots }}
networking.resources.gardener.cloud/to-all-shoots-kube-apiserver-tcp-443: allowed
{{- end }}
{{- end -}}
