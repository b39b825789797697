{{/*
Fails where a value has a name that looks like one of this chart, or is one of another chart only. Other names that nobody knows are ignored: values
are also what Gardener mixes in, and what a later version of it adds must not stop the installation. So may "garden" be, which some charts have.
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
Takes a name and one that is known, and says whether the first may have been meant as the second: whether they differ in case only, by one letter that
is missing, too many, wrong or has changed places, one for many, or whether it is the beginning and at least half of the known one (replicas, replicaCount).
The last does not count for gardener, common and global: Gardener or Helm set them, and what begins like them may be set beside them (garden).
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
