{{- define "facts" -}}
kind: Network
resource: networks
webhooks: false
images: true
clouds: false
# 90th percentile in seconds from which operations count as slow.
slow: 300
networks: []
# A stage of a change waits until the nodes of the shoot have the previous one.
shoots: true
# They also run in the seed if it is a shoot.
logs:
- {pod: calico-node, container: calico-node, formats: [calico]}
- {pod: calico-typha, container: calico-typha, formats: [calico]}
- {pod: calico-kube-controllers, container: calico-kube-controllers, formats: [calico]}
- {pod: gardenet-agent, container: gardenet-agent, formats: [json]}
{{- end -}}

{{/* The image of gardenet's agent, by the name that the binary looks up. */}}
{{- define "images" -}}
{{- with (.Values.gardenetAgent).image -}}
{{- $repository := .repository | default "ghcr.io/trellis-garden/trellis/gardenet-agent" -}}
{{- if or .repository .tag .digest }}
- name: gardenet-agent
  {{- if .digest }}
  ref: {{ printf "%s:%s@%s" $repository (.tag | default (include "common.version" $)) .digest | quote }}
  {{- else }}
  repository: {{ $repository | quote }}
  {{- with .tag }}
  tag: {{ . | quote }}
  {{- end }}
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* It has no flags of its own. */}}
{{- define "args" -}}
{{- end -}}
