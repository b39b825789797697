#!/usr/bin/env bash
# Writes the CRDs of Calico as the newest of its releases has them that the Go module proxy serves. The module (Apache License
# 2.0) is only read: it is no dependency of ours. Nothing in them is changed here; what Calico's newer releases need is added
# when they are read (newer.go, open.go).
set -euo pipefail

module=github.com/projectcalico/calico
# The commit of release v3.28.5. Calico tags its releases v3.x without the path element that Go asks for.
version=v1.11.0-cni-plugin.0.20250813170300-a0db560f0520
release=v3.28.5
sum=h1:TXnPEzx4pLWgwzCetIO/VJuz4iBZZrOdNSv16a50YqE=
folder=libcalico-go/config/crd

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# From outside of any module, so that no go.mod and no go.sum changes.
cd /
downloaded=$(GOWORK=off GOFLAGS= go mod download -json "$module@$version")
field() { sed -n "s|^[[:space:]]*\"$1\": \"\(.*\)\",\{0,1\}$|\1|p" <<<"$downloaded"; }
if [[ $(field Sum) != "$sum" ]]; then
	echo "$module@$version is not what it was: $(field Sum), want $sum" >&2
	exit 1
fi
rm -f "$here"/*.yaml
for source in "$(field Dir)/$folder"/crd.projectcalico.org_*.yaml; do
	name=$(basename "$source")
	{
		echo "# Written by generate.sh from $folder/$name of $module $release ($version), Apache License 2.0. Do not edit."
		cat "$source"
	} >"$here/${name#crd.projectcalico.org_}"
done
