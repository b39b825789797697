{{- define "facts" -}}
kind: Worker
resource: workers
webhooks: true
images: true
openstack: true
# Seconds from which nine of ten passes count as slow.
slow: 600
# OpenStack, wherever it is: images and server groups. Machines are made by the machine controller.
networks: [public-networks, private-networks]
# Nodes and machines are seen in the seed, by what machine-controller-manager reports.
shoots: false
{{- end -}}

{{/* The machine controller's image. The name is the one that the binary looks for. */}}
{{- define "images" -}}
{{- with (.Values.machineController).image -}}
{{- if or .repository .tag .digest }}
- name: machine-controller-manager-provider-openstack
  {{- if .digest }}
  ref: {{ printf "%s@%s" (.repository | default "ghcr.io/trellis-garden/trellis/machine-controller") .digest | quote }}
  {{- else }}
  repository: {{ .repository | default "ghcr.io/trellis-garden/trellis/machine-controller" | quote }}
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
