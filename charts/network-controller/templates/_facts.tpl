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

{{/* No image has a value of its own. */}}
{{- define "images" -}}
[]
{{- end -}}

{{/* It has no flags of its own. */}}
{{- define "args" -}}
{{- end -}}
