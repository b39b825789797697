{{/*
Fails if the name of a value is similar to a name of this chart, or is a name of another chart only. Other unknown names are ignored: Gardener adds
values, and those of a later version must not fail the installation. "garden", which only some charts have, is ignored too.
*/}}
{{- define "common.refuseMisspelt" -}}
{{- $own := include "values" . | fromJsonArray -}}
{{- $all := include "common.values" . | fromJsonArray -}}
{{- range $name, $_ := .Values -}}
{{- if not (has $name $own) -}}
{{- range $known := $own -}}
{{- if include "common.similar" (list $name $known) -}}
{{- fail (printf "%s: there is no such value; if it is to be %s, write it so, else remove it" $name $known) -}}
{{- end -}}
{{- end -}}
{{- if and (has $name $all) (ne $name "garden") -}}
{{- fail (printf "%s: this chart has no such value, only other charts have; remove it" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Takes a name and a known name, and reports whether the first may be a misspelling of the second: they differ only in case, by one missing, additional,
wrong or transposed letter, or in number, or the name is the beginning and at least half of the known one (replicas, replicaCount). The last is not
checked for gardener, common and global: Gardener or Helm set them, and may set values with the same beginning (garden).
*/}}
{{- define "common.similar" -}}
{{- $name := index . 0 | lower | trimSuffix "s" -}}
{{- $known := index . 1 | lower | trimSuffix "s" -}}
{{- if and (hasPrefix $name $known) (not (has $known (list "gardener" "common" "global"))) (ge (mul 2 (len $name)) (len $known | int64)) -}}
true
{{- else if ge (len $name) 4 -}}
{{- $shorter := dict $known true -}}
{{- range $i := until (len $known) -}}
{{- $_ := set $shorter (include "common.withoutLetter" (list $known $i)) true -}}
{{- end -}}
{{- $found := hasKey $shorter $name -}}
{{- range $i := until (len $name) -}}
{{- $found = or $found (hasKey $shorter (include "common.withoutLetter" (list $name $i))) -}}
{{- end -}}
{{- if $found -}}
true
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Takes a name and the index of a letter. */}}
{{- define "common.withoutLetter" -}}
{{- $name := index . 0 -}}
{{- $at := index . 1 | int -}}
{{- substr 0 $at $name }}{{ substr (add1 $at | int) (len $name) $name -}}
{{- end -}}
