{{/* The names of values of all charts. Written by go test -update. */}}
{{- define "common.values" -}}
["affinity","common","concurrentSyncs","defaults","disableWebhooks","etcd","extensionClasses","extraEnv","garden","gardenAddress","gardener","global","heartbeat","image","imagePullSecrets","imageRegistries","imageVectorOverwrite","leaderElection","logFormat","logLevel","logging","machineController","metrics","nodeSelector","podAnnotations","podLabels","priorityClassName","replicaCount","resources","role","rollouts","secretGuard","seedSelector","service","serviceAccount","statusGuard","syncPeriod","tolerations","topologySpreadConstraints","types","usablePorts","vpa"]
{{- end -}}
