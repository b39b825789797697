{{/* The names of values, as values.schema.json has them. Written by go test -update. */}}
{{- define "values" -}}
["affinity","common","concurrentSyncs","extraEnv","garden","gardenAddress","gardener","global","image","imagePullSecrets","imageRegistries","leaderElection","logFormat","logLevel","logging","metrics","nodeSelector","podAnnotations","podLabels","priorityClassName","replicaCount","resources","rollouts","seedSelector","serviceAccount","syncPeriod","tolerations","topologySpreadConstraints","types","vpa"]
{{- end -}}
