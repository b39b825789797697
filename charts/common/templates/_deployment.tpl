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
    # A controller that is also a server counts as server (gardener/docs/development/high-availability-of-components.md).
    high-availability-config.resources.gardener.cloud/type: {{ $facts.webhooks | ternary "server" "controller" }}
  {{- with include "common.deploymentAnnotations" . }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
spec:
  replicas: {{ include "common.replicas" . }}
  revisionHistoryLimit: 2
  # Shoots that need this controller wait while its Deployment is progressing. That is shortest if a pod is removed only after its successor is
  # ready.
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
      # A running reconciliation has 25 seconds to save its state, after 5 for endpoints.
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
        {{- if include "common.shootWebhooks" . }}
        - name: shoot-webhooks
          containerPort: {{ $ports.shootWebhooks }}
          protocol: TCP
        {{- end }}
        # A replica is ready a second after its start; two minutes are for nodes and API servers under load.
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
        # Endpoints are updated after the process is terminated: clients that still have the address get responses meanwhile.
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

{{- define "common.replicas" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $replicas := .Values.replicaCount | int64 -}}
{{- if and (include "common.secondary" .) (eq $replicas 0) -}}
{{- fail "replicaCount: a secondary without replicas renews no heartbeat, so that gardenlet can report the health of the primary's objects as Unknown, and does not remove its conditions; set it to 1 or more, or uninstall the secondary" -}}
{{- end -}}
{{- empty $facts.idle | ternary $replicas 0 -}}
{{- end -}}

{{/* The volumes of its pods, a list in YAML. */}}
{{- define "common.volumes" -}}
{{- if .Values.serviceAccount.mountToken }}
# gardener-resource-manager does not change pods that have a volume with this prefix.
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
    # 0440: for the pod's group.
    defaultMode: 288
{{- end }}
{{- end -}}

{{/* The Secret with a kubeconfig of the virtual garden, for installations without gardener-operator, which mounts its own into pods. */}}
{{- define "common.gardenKubeconfig" -}}
{{- (.Values.garden).kubeconfigSecret | default "" -}}
{{- end -}}

{{- define "common.deploymentAnnotations" -}}
{{- $replicas := .Values.replicaCount | int64 -}}
{{- $lines := list -}}
{{- if and (ne $replicas 0) (ne $replicas 2) -}}
{{- /* Without the annotation, gardener-resource-manager changes any number of replicas except 0 to 2. */ -}}
{{- $lines = append $lines (printf "high-availability-config.resources.gardener.cloud/replicas: %q" (toString $replicas)) -}}
{{- end -}}
{{- if include "common.imageVector" . -}}
{{- $lines = append $lines (include "common.imageVectorReference" .) -}}
{{- end -}}
{{- with include "common.keep" . -}}
{{- $lines = append $lines . -}}
{{- end -}}
{{- $lines | join "\n" -}}
{{- end -}}

{{/*
Pods can connect only to destinations that are named here (gardener/docs/operations/network_policies.md).
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
