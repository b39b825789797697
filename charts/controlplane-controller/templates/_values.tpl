{{/* The names of values, as values.schema.json has them. Written by go test -update. */}}
{{- define "values" -}}
["affinity","common","concurrentSyncs","disableWebhooks","etcd","extensionClasses","extraEnv","gardener","global","heartbeat","image","imagePullSecrets","imageRegistries","imageVectorOverwrite","leaderElection","logFormat","logLevel","logging","metrics","nodeSelector","podAnnotations","podLabels","priorityClassName","replicaCount","resources","role","secretGuard","serviceAccount","statusGuard","tolerations","topologySpreadConstraints","types","usablePorts","vpa"]
{{- end -}}
