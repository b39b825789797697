{{/*
Each chart has a template "facts", a document of YAML:
  binary:          the binary that it runs, where the chart has another name. Such a chart is installed once in a cluster; the others are installed once
                   for each registration of their binary
  suffix:          suffix of objects' names, if two charts run the binary
  kind, resource:  the extension objects that the controller reconciles; empty if there are none
  queues:          whether it has workqueues, although it reconciles no extension objects
  garden:          whether it serves the garden: it runs in the garden's runtime cluster, and its webhooks are called by the virtual garden's API servers
  idle:            whether it has nothing to reconcile where it is installed, and so has no replica
  webhooks:        whether it serves admission webhooks
  certificates:    whether it needs rights for the Secrets with the webhooks' certificates, because its other rights do not include them
  images:          whether it looks images up in image vectors
  observesImages:  whether it does so as a secondary
  clouds:          whether it calls the APIs of clouds, and so has metrics of these calls
  observesClouds:  whether it does so as a secondary; if not, its pods reach no other destinations than DNS and the API server either
  slow:            90th percentile in seconds from which reconciliations count as slow
  logs:            components that it deploys, whose logs fluent-bit parses: prefixes of the names of pods and containers, and formats of
                   "common.logFormats", of which the first that matches is used
  own:             whether it has metrics and alerts of its own, in its templates "metrics" and "alerts"
  down, stalled:   if there are no extension objects: the consequences if no replica is reachable, and if none is leader
  networks:        destinations of its pods besides DNS and the API server of their cluster; labels of NetworkPolicies without prefix
  shoots:          whether its pods reach the API servers of shoots
  virtualGarden:   whether its pods in a seed reach the virtual garden where that runs in the same cluster
*/}}
{{- define "common.facts" -}}
{{- if include "common.secondary" . -}}
{{- $facts := include "facts" . | fromYaml -}}
{{- range list "webhooks" "certificates" -}}
{{- $_ := set $facts . false -}}
{{- end -}}
{{- if not $facts.observesImages -}}
{{- $_ := set $facts "images" false -}}
{{- end -}}
{{- if not $facts.observesClouds -}}
{{- $facts = mergeOverwrite $facts (dict "clouds" false "networks" list "shoots" false) -}}
{{- end -}}
{{- toYaml (omit $facts "logs") -}}
{{- else -}}
{{- include "facts" . -}}
{{- end -}}
{{- end -}}

{{/* Whether the controller observes what a primary reconciles. It deploys nothing, and serves no webhooks. */}}
{{- define "common.secondary" -}}
{{- if eq (.Values.role | default "primary") "secondary" -}}true{{- end -}}
{{- end -}}

{{/* The controller as alerts name it. */}}
{{- define "common.process" -}}
{{ include "common.secondary" . | empty | ternary "" "secondary " }}{{ include "common.binary" . }}
{{- end -}}

{{- define "common.binary" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{ $facts.binary | default .Chart.Name }}
{{- end -}}

{{/*
The name of the release, which is that of the registration where Gardener installs the chart: a binary may be registered several times, each time with
other types. For charts that are installed once, the name of the binary.
*/}}
{{- define "common.baseName" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- if $facts.binary -}}
{{ $facts.binary }}
{{- else if gt (len .Release.Name) 44 -}}
{{- fail (printf "the name of the release, %s, has %d characters, at most 44 are possible: gardener-extension-<name> becomes the name of a Service" .Release.Name (len .Release.Name)) -}}
{{- else -}}
{{ .Release.Name }}
{{- end -}}
{{- end -}}

{{/* The name that distinguishes the installation from others in the cluster. */}}
{{- define "common.installation" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{ include "common.baseName" . }}{{ $facts.suffix | default "" }}
{{- end -}}

{{/* The name of all objects in the namespace, and of the webhook configurations. */}}
{{- define "common.name" -}}
gardener-extension-{{ include "common.installation" . }}
{{- end -}}

{{/* Cluster-scoped objects are named after the installation, or, if two charts of one binary may be in one cluster, after the chart. */}}
{{- define "common.clusterInstallation" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- if $facts.binary -}}
{{ .Chart.Name }}
{{- else -}}
{{ include "common.installation" . }}
{{- end -}}
{{- end -}}

{{/* The name of cluster-scoped objects. */}}
{{- define "common.clusterName" -}}
extensions.gardener.cloud:trellis:{{ include "common.clusterInstallation" . }}
{{- end -}}

{{/* The name of cluster-scoped objects of kinds whose names have no colons. */}}
{{- define "common.clusterDNSName" -}}
{{ include "common.clusterInstallation" . }}.trellis.extensions.gardener.cloud
{{- end -}}

{{- define "common.selector" -}}
app.kubernetes.io/name: {{ include "common.binary" . }}
app.kubernetes.io/instance: {{ .Release.Name | trunc 63 }}
{{- end -}}

{{- define "common.labels" -}}
{{ include "common.selector" . }}
app.kubernetes.io/part-of: trellis
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimAll "-_." }}
app.kubernetes.io/version: {{ include "common.version" . | trunc 63 | trimAll "-_." | quote }}
{{- end -}}

{{/* The binary's version as a tag and a label, which permit fewer characters than a version. */}}
{{- define "common.version" -}}
{{ regexReplaceAll "[^A-Za-z0-9_.-]" .Chart.AppVersion "_" }}
{{- end -}}

{{- define "common.metadata" -}}
metadata:
  name: {{ include "common.name" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
{{- end -}}

{{/* Metadata of what a secondary needs until it has removed its conditions. */}}
{{- define "common.keptMetadata" -}}
{{ include "common.metadata" . }}
{{- with include "common.keep" . }}
  annotations:
    {{- . | nindent 4 }}
{{- end }}
{{- end -}}

{{- define "common.clusterMetadata" -}}
metadata:
  name: {{ include "common.clusterName" . }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
  {{- with include "common.keep" . }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Values that gardenlet or gardener-operator add; any part of them may be absent. */}}
{{- define "common.inRuntimeCluster" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- if or $facts.garden ((.Values.gardener).runtimeCluster).enabled }}true{{ end -}}
{{- end -}}

{{/* Empty is the cluster's default: a runtime cluster without gardener-operator need not have Gardener's classes. */}}
{{- define "common.priorityClass" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $given := ((.Values.gardener).runtimeCluster).priorityClassName -}}
{{- if .Values.priorityClassName -}}
{{ .Values.priorityClassName }}
{{- else if $facts.garden -}}
{{ $given }}
{{- else if include "common.inRuntimeCluster" . -}}
{{ $given | default "gardener-garden-system-200" }}
{{- else -}}
gardener-system-900
{{- end -}}
{{- end -}}

{{/* Whether kube-apiservers of shoots call webhooks of the controller: facts have the types that have such webhooks. */}}
{{- define "common.shootWebhooks" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- if $facts.webhooks -}}
{{- range $facts.shootWebhooks -}}
{{- if has . $.Values.types -}}true{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Ports of the pod as YAML. gardenlet assigns the ports of pods in the network of their node. */}}
{{- define "common.ports" -}}
{{- $ports := .Values.usablePorts | default list -}}
{{- if and $ports (lt (len $ports) 3) -}}
{{- fail (printf "usablePorts: has %d, but the controller listens on three: give metrics, webhook server and health, or none" (len $ports)) -}}
{{- end -}}
{{- if and (eq (len $ports) 3) (include "common.shootWebhooks" .) -}}
{{- fail "usablePorts: has 3, but the controller listens on four: give metrics, webhook server, health and webhook server for shoots, or none" -}}
{{- end -}}
metrics: {{ $ports | empty | ternary 8080 (index (concat $ports (list 0 0 0)) 0) | int64 }}
webhooks: {{ $ports | empty | ternary 10250 (index (concat $ports (list 0 0 0)) 1) | int64 }}
health: {{ $ports | empty | ternary 8081 (index (concat $ports (list 0 0 0)) 2) | int64 }}
shootWebhooks: {{ $ports | empty | ternary 10251 (index (concat $ports (list 0 0 0 0)) 3) | int64 }}
{{- end -}}

{{/* The tag overrides the version of the chart. With a digest, it is only for people. */}}
{{- define "common.image" -}}
{{- $image := .Values.image -}}
{{ $image.repository }}:{{ $image.tag | default (include "common.version" .) }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end -}}

{{/* The classes of extension objects to reconcile; empty is the binary's default. */}}
{{- define "common.classes" -}}
{{- if include "common.secondary" . -}}
{{- range .Values.extensionClasses -}}
{{- if ne . "shoot" -}}
{{- fail (printf "extensionClasses: has %s, but a secondary observes objects of shoots only; remove it" .) -}}
{{- end -}}
{{- end -}}
{{- else if .Values.extensionClasses -}}
{{ .Values.extensionClasses | join "," }}
{{- else if include "common.inRuntimeCluster" . -}}
garden
{{- end -}}
{{- end -}}

{{- define "common.heartbeatNamespace" -}}
{{ (.Values.heartbeat).namespace | default .Release.Namespace }}
{{- end -}}

{{- define "common.leaderElectionID" -}}
{{ (.Values.leaderElection).id | default (printf "%s-leader-election" (include "common.baseName" .)) }}
{{- end -}}
