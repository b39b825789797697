{{- define "facts" -}}
binary: controllerinstallation-controller
kind: ControllerInstallation
queues: true
webhooks: false
images: false
clouds: false
# It serves installations of seeds. In a self-hosted shoot, gardenlet sets no seed, or reports that it is one.
idle: {{ or (empty (.Values.gardener).seed) (not (empty (.Values.gardener).selfHostedShootCluster)) }}
# The garden, and registries with charts, in any network.
networks: [public-networks, private-networks]
virtualGarden: true
shoots: false
own: true
down: Nothing is installed, updated or removed in this seed of what is registered with its types
stalled: nothing is installed, updated or removed in this seed of what is registered with its types
{{- end -}}

{{- define "args" }}
- {{ printf "--sync-period=%s" .Values.syncPeriod | quote }}
- {{ printf "--max-concurrent-reconciles=%d" (.Values.concurrentSyncs | int64) | quote }}
{{- end -}}
