{{/*
The image vector that overrides the binary's own, a document of YAML, or nothing. A chart without images has none. A chart with values for single
images lists their entries in its template "images".
*/}}
{{- define "common.imageVector" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- if $facts.images -}}
{{- $vector := dict -}}
{{- with .Values.imageVectorOverwrite -}}
{{- $vector = kindIs "string" . | ternary (fromYaml (toString .)) . -}}
{{- end -}}
{{- if hasKey $vector "Error" -}}
{{- fail (printf "imageVectorOverwrite: is no document of YAML with a list \"images\": %s" $vector.Error) -}}
{{- end -}}
{{- $images := $vector.images | default list -}}
{{- range include "images" . | fromYamlArray -}}
{{- $own := . -}}
{{- range $images -}}
{{- if eq .name $own.name -}}
{{- fail (printf "imageVectorOverwrite: names the image %q, which another value names too: give one of them" .name) -}}
{{- end -}}
{{- end -}}
{{- $images = append $images $own -}}
{{- end -}}
{{- if $images -}}
{{- toYaml (dict "images" $images) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The name contains a hash of the content, so a change replaces pods. gardener-resource-manager deletes ConfigMaps that are not referenced any more. */}}
{{- define "common.imageVectorName" -}}
{{ include "common.name" . }}-images-{{ include "common.imageVector" . | sha256sum | trunc 8 }}
{{- end -}}

{{/* The reference by which gardener-resource-manager keeps a ConfigMap: the annotation's name ends with a hash of the ConfigMap's name. */}}
{{- define "common.imageVectorReference" -}}
{{- $name := include "common.imageVectorName" . -}}
reference.resources.gardener.cloud/configmap-{{ $name | sha256sum | trunc 8 }}: {{ $name }}
{{- end -}}

{{- define "common.imageVectorOverwrite" -}}
{{- with include "common.imageVector" . -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "common.imageVectorName" $ }}
  namespace: {{ $.Release.Namespace }}
  labels:
    {{- include "common.labels" $ | nindent 4 }}
    resources.gardener.cloud/garbage-collectable-reference: "true"
  {{- with include "common.keep" $ }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
immutable: true
data:
  images.yaml: |
    {{- . | nindent 4 }}
{{- end -}}
{{- end -}}
