{{- define "facts" -}}
kind: Worker
resource: workers
webhooks: true
images: true
clouds: true
# 90th percentile in seconds from which operations count as slow.
slow: 600
# The APIs of clouds, in any network: images and groups. The machine controller creates machines.
networks: [public-networks, private-networks]
# Machine-controller-manager reports nodes and machines in the seed.
shoots: false
# The machine controller writes JSON; other images in its place write klog.
logs:
- {pod: machine-controller-manager, container: machine-controller-manager-provider-, formats: [klog, json]}
{{- end -}}

{{/* The images of the machine controllers, by the names that the binary looks up. */}}
{{- define "images" -}}
{{- range $type, $image := (.Values.machineController).images -}}
{{- with $image -}}
{{- $repository := .repository | default (printf "ghcr.io/trellis-garden/trellis/machine-controller-%s" $type) -}}
{{- if or .repository .tag .digest }}
- name: machine-controller-manager-provider-{{ $type }}
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

{{/* Its own flags, a list in YAML. */}}
{{- define "args" -}}
{{- with ((.Values.machineController).resources).limits }}
{{- if ne (include "common.quantity" (.memory | default 0)) "0" }}
- {{ printf "--machine-controller-memory-limit=%s" (kindIs "string" .memory | ternary .memory (include "common.quantity" .memory)) | quote }}
{{- end }}
{{- end }}
{{- end -}}
