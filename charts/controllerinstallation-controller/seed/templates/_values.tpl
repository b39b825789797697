{{/* The names of values, as values.schema.json has them. Written by go test -update. */}}
{{- define "values" -}}
["affinity","common","concurrentSyncs","extraEnv","gardener","global","image","imagePullSecrets","imageRegistries","leaderElection","logFormat","logLevel","logging","metrics","nodeSelector","podAnnotations","podLabels","priorityClassName","replicaCount","resources","serviceAccount","syncPeriod","tolerations","topologySpreadConstraints","types","usablePorts","vpa"]
{{- end -}}
