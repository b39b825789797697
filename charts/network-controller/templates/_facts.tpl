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
- {pod: gardenet-service-router, container: gardenet-service-router, formats: [json]}
{{- end -}}

{{/* The images of gardenet, by the names that the binary looks up. */}}
{{- define "images" -}}
{{- range $name, $image := dict "gardenet-agent" (.Values.gardenetAgent).image "gardenet-service-router" (.Values.gardenetServiceRouter).image -}}
{{- with $image -}}
{{- $repository := .repository | default (printf "ghcr.io/trellis-garden/trellis/%s" $name) -}}
{{- if or .repository .tag .digest }}
- name: {{ $name }}
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
{{- end }}
{{- end -}}

{{/* It has no flags of its own. */}}
{{- define "args" -}}
{{- end -}}
