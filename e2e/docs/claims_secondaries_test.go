package docs

func secondaryClaims() map[string]claim {
	const observed = `SEED=$GARDEN
kubectl --kubeconfig "$SEED" create namespace shoot--dev--first
for kind in Infrastructure ControlPlane Network Worker; do
  kubectl --kubeconfig "$SEED" apply -f - <<END
{apiVersion: extensions.gardener.cloud/v1alpha1, kind: $kind, metadata: {name: first, namespace: shoot--dev--first}}
END
  kubectl --kubeconfig "$SEED" patch "$kind" first -n shoot--dev--first --subresource=status --type=merge \
    -p "{\"status\":{\"conditions\":[{\"type\":\"${kind}WithoutDrift\",\"status\":\"False\",\"message\":\"network n differs\"}]}}"
done`
	return map[string]claim{
		"for name in infrastructure-secondary controlplane-secondary network-secondary worker-secondary; do": {
			kind: run,
			after: `for name in infrastructure-secondary controlplane-secondary network-secondary worker-secondary; do
  kubectl --kubeconfig "$GARDEN" get controllerdeployment "$name"
  [ "$(kubectl --kubeconfig "$GARDEN" get controllerregistration "$name" \
    -o jsonpath='{.spec.resources[0].primary} {.spec.deployment.policy} {.spec.deployment.seedSelector.matchLabels.observed}')" = "false OnDemand true" ]
done`,
		},
		"SEED=seed.kubeconfig": {
			kind: run, replace: map[string]string{"seed.kubeconfig": "garden.kubeconfig"}, before: observed,
			after: `[ "$(kubectl --kubeconfig "$SEED" get infrastructures,controlplanes,networks,workers -n shoot--dev--first \
  -o jsonpath='{range .items[*]}{range .status.conditions[*]}{.type}{"\t"}{.status}{"\t"}{.message}{"\n"}{end}{end}')" = \
  "$(printf 'InfrastructureWithoutDrift\tFalse\tnetwork n differs\nControlPlaneWithoutDrift\tFalse\tnetwork n differs\nNetworkWithoutDrift\tFalse\tnetwork n differs\nWorkerWithoutDrift\tFalse\tnetwork n differs')" ]
kubectl --kubeconfig "$SEED" get infrastructure -A \
  -o custom-columns='NAMESPACE:.metadata.namespace,NO DRIFT:.status.conditions[?(@.type=="InfrastructureWithoutDrift")].status' | grep 'shoot--dev--first *False'`,
		},
		"NAME=infrastructure-secondary": {
			kind:  run,
			after: `[ -z "$(kubectl --kubeconfig "$GARDEN" get controllerregistrations,controllerdeployments -o name | grep "$NAME")" ]`,
		},
		`kubectl --kubeconfig "$SEED" delete configmap -n observers gardener-extension-infrastructure-secondary-observations --timeout=10m`: {
			kind: parsed, reason: "nobody removes the finalizer without the controller; e2e/charts does so with its rights",
		},
		"NAME=infrastructure-secondary NAMESPACE=<namespace>": {
			kind: run, replace: map[string]string{"<namespace>": "observers"},
			before: `SEED=$GARDEN
kubectl --kubeconfig "$SEED" create namespace observers
kubectl --kubeconfig "$SEED" apply -f - <<END
apiVersion: v1
kind: ConfigMap
metadata:
  name: gardener-extension-infrastructure-secondary-observations
  namespace: observers
  finalizers: [trellis.extensions.gardener.cloud/observations]
END
kubectl --kubeconfig "$SEED" delete configmap -n observers gardener-extension-infrastructure-secondary-observations --wait=false
kubectl --kubeconfig "$SEED" create clusterrole extensions.gardener.cloud:trellis:infrastructure-secondary --verb=get --resource=pods
kubectl --kubeconfig "$SEED" create clusterrolebinding extensions.gardener.cloud:trellis:infrastructure-secondary \
  --clusterrole=extensions.gardener.cloud:trellis:infrastructure-secondary`,
			after: `[ -z "$(kubectl --kubeconfig "$SEED" get configmaps -n observers -o name | grep observations)" ]
[ -z "$(kubectl --kubeconfig "$SEED" get clusterroles,clusterrolebindings -o name | grep trellis:infrastructure-secondary)" ]`,
		},
	}
}
