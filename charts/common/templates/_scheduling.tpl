{{/* Fields of a Pod's spec for scheduling. Where gardener-resource-manager makes Deployments highly available, it adds to them. */}}
{{- define "common.scheduling" -}}
{{- with include "common.priorityClass" . }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints:
{{- range . }}
{{- $constraint := deepCopy . -}}
{{- if not (hasKey . "labelSelector") -}}
{{- $constraint = set $constraint "labelSelector" (dict "matchLabels" (include "common.selector" $ | fromYaml)) -}}
{{- end }}
{{ list $constraint | toYaml }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Labels of pods. Values cannot change those of the selector. */}}
{{- define "common.podLabels" -}}
{{- $selector := include "common.selector" . -}}
{{- range $label, $_ := $selector | fromYaml -}}
{{- if hasKey ($.Values.podLabels | default dict) $label -}}
{{- fail (printf "podLabels: %s is the chart's own, by which it finds its pods; remove it" $label) -}}
{{- end -}}
{{- end -}}
{{- $selector }}
{{ mergeOverwrite (include "common.networkLabels" . | fromYaml) (.Values.podLabels | default dict) | toYaml }}
{{- end -}}

{{- define "common.podAnnotations" -}}
{{- $annotations := deepCopy (.Values.podAnnotations | default dict) -}}
{{- if include "common.imageVector" . -}}
{{- $annotations = mergeOverwrite $annotations (include "common.imageVectorReference" . | fromYaml) -}}
{{- end -}}
{{- with $annotations -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}
