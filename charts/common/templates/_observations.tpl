{{/* Alerts about what a secondary observes, a list in YAML. */}}
{{- define "common.observationAlerts" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $job := printf "job=%q" (include "common.name" .) -}}
{{- $prefix := printf "Trellis%s" $facts.kind -}}
{{- $labels := include "common.alertLabels" . -}}
{{- $read := printf "kubectl get %s -n {{ $labels.namespace }} -o yaml" $facts.resource -}}
- alert: {{ $prefix }}ObservationUnhealthy
  expr: min by (namespace, type, observation) (trellis_observation_healthy{ {{- $job -}} }) == 0
  for: 30m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: The observation {{`{{ $labels.observation }}`}} of a {{ $facts.kind }} is unhealthy
    description: >-
      The observation {{`{{ $labels.observation }}`}} of the {{ $facts.kind }} of type {{`{{ $labels.type }}`}} in the namespace {{`{{ $labels.namespace }}`}} has been
      unhealthy for half an hour. A condition in its status says what is wrong: {{ $read }}. The page about secondary controllers says what to do.
- alert: {{ $prefix }}ObservationFails
  expr: min by (namespace, type, observation) (trellis_observation_healthy{ {{- $job -}} }) == -1
  for: 30m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A {{ $facts.kind }} cannot be observed
    description: >-
      The observation {{`{{ $labels.observation }}`}} of the {{ $facts.kind }} of type {{`{{ $labels.type }}`}} in the namespace {{`{{ $labels.namespace }}`}} has failed
      for half an hour. A condition in its status gives the reason: {{ $read }}.
- alert: {{ $prefix }}ObservationOld
  expr: time() - max by (namespace, type, observation) (trellis_observation_timestamp_seconds{ {{- $job -}} }) > {{ include "common.observationAgeLimit" . }}
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: The result of an observation is old
    description: >-
      The observation {{`{{ $labels.observation }}`}} of the {{ $facts.kind }} of type {{`{{ $labels.type }}`}} in the namespace {{`{{ $labels.namespace }}`}} is
      {{`{{ $value | humanizeDuration }}`}} old, and its condition may not be true any more. Objects are not observed while an operation of the primary controller
      has not succeeded: status.lastOperation says whether that is so; else the logs of the {{ include "common.process" . }} give the reason.
{{- end -}}

{{/* The age in seconds from which a result is old: six intervals, and at least an hour. */}}
{{- define "common.observationAgeLimit" -}}
{{- $number := regexFind "^[0-9]+" .Values.observationInterval | int64 -}}
{{- $unit := regexFind "[smh]$" .Values.observationInterval -}}
{{- mul 6 $number (get (dict "s" 1 "m" 60 "h" 3600) $unit) | max 3600 -}}
{{- end -}}
