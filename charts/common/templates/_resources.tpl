{{/* A quantity of Kubernetes as a whole number. */}}
{{- define "common.quantity" -}}
{{- if kindIs "string" . -}}
{{- $units := dict "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 -}}
{{- $units = merge $units (dict "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 "Ei" 1152921504606846976) -}}
{{- $unit := regexFind "[A-Za-z]+$" . -}}
{{- mulf (trimSuffix $unit . | float64) (get $units $unit | default 1) | int64 -}}
{{- else -}}
{{- int64 . -}}
{{- end -}}
{{- end -}}

{{/* Takes a container's resources, and returns them without limits of 0, which stand for no limit. */}}
{{- define "common.resources" -}}
{{- $resources := deepCopy (. | default dict) -}}
{{- if eq (include "common.quantity" ((($resources.limits).memory) | default 0)) "0" -}}
{{- $resources = omit $resources "limits" -}}
{{- end -}}
{{- $requested := include "common.quantity" ((($resources.requests).memory) | default 0) | int64 -}}
{{- if and $resources.limits (gt $requested (include "common.quantity" $resources.limits.memory | int64)) -}}
{{- fail (printf "resources: the limit of memory (%v) is below what is asked for (%v): raise it, or set it to 0 for none" $resources.limits.memory $resources.requests.memory) -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}

{{/*
Takes a container's resources, and returns the soft memory limit of Go's runtime ($GOMEMLIMIT): nine tenths of the limit. Near it, garbage is collected
more often, and the container is not killed. The last tenth is for memory outside of Go's heap.
*/}}
{{- define "common.goMemoryLimit" -}}
{{- $limit := include "common.quantity" (((.limits).memory) | default 0) | int64 -}}
{{- if gt $limit 0 -}}
{{- div (mul $limit 9) 10 -}}
{{- end -}}
{{- end -}}

{{/* The environment of the container, a list in YAML, or nothing. */}}
{{- define "common.environment" -}}
{{- $environment := list -}}
{{- with include "common.goMemoryLimit" .Values.resources -}}
{{- $environment = append $environment (dict "name" "GOMEMLIMIT" "value" .) -}}
{{- end -}}
{{- if include "common.imageVector" . -}}
{{- $environment = append $environment (dict "name" "IMAGEVECTOR_OVERWRITE" "value" "/etc/trellis/imagevector-overwrite/images.yaml") -}}
{{- end -}}
{{- if include "common.gardenKubeconfig" . -}}
{{- $environment = append $environment (dict "name" "GARDEN_KUBECONFIG" "value" "/etc/trellis/garden/kubeconfig") -}}
{{- end -}}
{{- $names := dict -}}
{{- range .Values.extraEnv -}}
{{- if hasKey $names .name -}}
{{- fail (printf "extraEnv: has %q twice: give it once" .name) -}}
{{- end -}}
{{- $_ := set $names .name true -}}
{{- $environment = append $environment . -}}
{{- end -}}
{{- with $environment -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}
