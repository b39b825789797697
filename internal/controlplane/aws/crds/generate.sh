#!/usr/bin/env bash
# Writes the CRDs of the aws-load-balancer-controller from its Go module. The module (Apache License 2.0) is only read: it is no dependency of ours. It is
# version 3.2.2, the newest that the module proxy has.
set -euo pipefail

module=github.com/kubernetes-sigs/aws-load-balancer-controller
version=v0.0.0-20260423195125-93ff3b5fdaad
sum=h1:sttxR+rS5X6cS1ldieB5JKVucs61EHq8XO7VKySyU5w=

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# From outside of any module, so that no go.mod and no go.sum changes.
cd /
downloaded=$(GOWORK=off GOFLAGS= go mod download -json "$module@$version")
field() { sed -n "s|^[[:space:]]*\"$1\": \"\(.*\)\",\{0,1\}$|\1|p" <<<"$downloaded"; }
if [[ $(field Sum) != "$sum" ]]; then
	echo "$module@$version is not what it was: $(field Sum), want $sum" >&2
	exit 1
fi
for kind in ingressclassparams targetgroupbindings; do
	source=config/crd/bases/elbv2.k8s.aws_$kind.yaml
	{
		echo "# Written by generate.sh from $source of $module $version, Apache License 2.0. Do not edit."
		cat "$(field Dir)/$source"
	} >"$here/$kind.yaml"
done
