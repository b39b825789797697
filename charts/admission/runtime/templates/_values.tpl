{{/* The names of values, as values.schema.json has them. Written by go test -update. */}}
{{- define "values" -}}
["affinity","common","defaults","disableWebhooks","extraEnv","garden","gardener","global","image","imagePullSecrets","imageRegistries","leaderElection","logFormat","logLevel","logging","metrics","nodeSelector","podAnnotations","podLabels","priorityClassName","replicaCount","resources","service","serviceAccount","tolerations","topologySpreadConstraints","types","vpa"]
{{- end -}}
