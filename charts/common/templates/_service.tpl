{{- define "common.service" -}}
{{- $facts := include "common.facts" . | fromYaml -}}
{{- $ports := include "common.ports" . | fromYaml -}}
{{- $prometheus := include "common.prometheus" . -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "common.name" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
  annotations:
    {{- if $facts.webhooks }}
    # The webhooks are called by this cluster's API server, whose address is unknown. API servers of shoots must not call them.
    networking.resources.gardener.cloud/from-world-to-ports: '[{"protocol":"TCP","port":{{ $ports.webhooks }}}]'
    {{- end }}
    {{- if and $facts.garden $facts.webhooks }}
    # The API servers of the virtual garden call from the namespace garden.
    networking.resources.gardener.cloud/from-all-webhook-targets-allowed-ports: '[{"protocol":"TCP","port":{{ $ports.webhooks }}}]'
    {{- end }}
    {{- if include "common.shootWebhooks" . }}
    # The API servers of shoots reach their own webhooks, and no other port.
    networking.resources.gardener.cloud/from-all-webhook-targets-allowed-ports: '[{"protocol":"TCP","port":{{ $ports.shootWebhooks }}}]'
    {{- end }}
    # Prometheus scrapes from the namespace garden.
    networking.resources.gardener.cloud/from-all-{{ $prometheus }}-scrape-targets-allowed-ports: '[{"protocol":"TCP","port":{{ $ports.metrics }}}]'
    networking.resources.gardener.cloud/namespace-selectors: '[{"matchLabels":{"kubernetes.io/metadata.name":"garden"}}{{ if include "common.shootWebhooks" . }},{"matchLabels":{"gardener.cloud/role":"shoot"}}{{ end }}]'
    networking.resources.gardener.cloud/pod-label-selector-namespace-alias: extensions
spec:
  type: ClusterIP
  {{- if ((.Values.service).topologyAwareRouting).enabled }}
  # Two names for the same: before there was PreferSameNode, PreferClose meant the zone.
  trafficDistribution: {{ semverCompare "< 1.34-0" .Capabilities.KubeVersion.Version | ternary "PreferClose" "PreferSameZone" }}
  {{- end }}
  selector:
    {{- include "common.selector" . | nindent 4 }}
  ports:
  {{- if $facts.webhooks }}
  - name: webhooks
    port: 443
    targetPort: {{ $ports.webhooks }}
    protocol: TCP
  {{- end }}
  {{- if include "common.shootWebhooks" . }}
  - name: shoot-webhooks
    port: 8443
    targetPort: {{ $ports.shootWebhooks }}
    protocol: TCP
  {{- end }}
  - name: metrics
    port: 8080
    targetPort: {{ $ports.metrics }}
    protocol: TCP
{{- end -}}
