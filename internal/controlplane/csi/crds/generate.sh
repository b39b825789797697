#!/usr/bin/env bash
# Writes the CRDs of volume snapshots, from the Go module that the snapshot controller of the image vector belongs to. The
# module (Apache License 2.0) is only read: it is no dependency of ours.
set -euo pipefail

module=github.com/kubernetes-csi/external-snapshotter/client/v8
version=v8.6.0
sum=h1:FtGewu2k6HWw6evLGXY8JqUZ9eHpti1kd3e4amj+ilA=

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# From outside of any module, so that no go.mod and no go.sum changes.
cd /
downloaded=$(GOWORK=off GOFLAGS= go mod download -json "$module@$version")
field() { sed -n "s|^[[:space:]]*\"$1\": \"\(.*\)\",\{0,1\}$|\1|p" <<<"$downloaded"; }
if [[ $(field Sum) != "$sum" ]]; then
	echo "$module@$version is not what it was: $(field Sum), want $sum" >&2
	exit 1
fi
for kind in volumesnapshotclasses volumesnapshotcontents volumesnapshots; do
	source=config/crd/snapshot.storage.k8s.io_$kind.yaml
	{
		echo "# Written by generate.sh from $source of $module $version, Apache License 2.0. Do not edit."
		cat "$(field Dir)/$source"
	} >"$here/$kind.yaml"
done
