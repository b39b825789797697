package calico

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const cniPluginName = "calico-cni-plugin"

// nodeAccounts are the ServiceAccounts of calico-node and the CNI plugin. The plugin has its own, since its kubeconfig is on the disk of each node;
// calico-node requests the tokens for it.
func nodeAccounts() []client.Object {
	objects := []client.Object{serviceAccount(nodeDaemonSet), serviceAccount(cniPluginName)}
	objects = append(objects, clusterGrant(nodeDaemonSet, nodeRules(), nodeDaemonSet)...)
	return append(objects, clusterGrant(cniPluginName, cniPluginRules(), cniPluginName)...)
}

// nodeRules are what Felix, BIRD's configuration and the start of a node require, including Calico v3.32: clusternetworkpolicies, kubevirt's migrations
// (it does not start when it is forbidden to list them), bgpconfigurations.
func nodeRules() []rbacv1.PolicyRule {
	var (
		reads   = []string{"get", "list", "watch"}
		watches = []string{"list", "watch"}
		writes  = []string{"create", "update"}
	)
	token := policyRule("", []string{"serviceaccounts/token"}, []string{"create"})
	token.ResourceNames = []string{cniPluginName}
	itself := policyRule("apps", []string{"daemonsets"}, []string{"get"})
	itself.ResourceNames = []string{nodeDaemonSet}
	return []rbacv1.PolicyRule{
		token,
		policyRule("", []string{"pods", "nodes", "namespaces", "endpoints", "services"}, reads),
		policyRule("", []string{"serviceaccounts"}, watches),
		policyRule("", []string{"configmaps"}, []string{"get"}),
		// The node's addresses, and the condition of its network.
		policyRule("", []string{"nodes/status"}, []string{"patch", "update"}),
		policyRule("", []string{"pods/status"}, []string{"patch"}),
		itself,
		policyRule("discovery.k8s.io", []string{"endpointslices"}, watches),
		policyRule("networking.k8s.io", []string{"networkpolicies"}, watches),
		// The last two are for pods of v3.31 and before, until they are replaced.
		policyRule("policy.networking.k8s.io", []string{"clusternetworkpolicies", "adminnetworkpolicies", "baselineadminnetworkpolicies"}, watches),
		policyRule("kubevirt.io", []string{"virtualmachineinstancemigrations"}, reads),
		policyRule(crdGroup, []string{
			"bgpconfigurations", "bgpfilters", "bgppeers", "blockaffinities", "caliconodestatuses", "clusterinformations",
			"felixconfigurations", "globalbgpconfigs", "globalfelixconfigs", "globalnetworkpolicies", "globalnetworksets",
			"hostendpoints", "ipamblocks", "ippools", "ipreservations", "networkpolicies", "networksets",
			"stagedglobalnetworkpolicies", "stagedkubernetesnetworkpolicies", "stagednetworkpolicies", "tiers",
		}, reads),
		policyRule(crdGroup, []string{"tiers"}, []string{"create"}),
		policyRule(crdGroup, []string{"bgpconfigurations", "bgppeers", "clusterinformations", "felixconfigurations", "ippools"}, writes),
		policyRule(crdGroup, []string{"caliconodestatuses"}, []string{"update"}),
		// The addresses of its tunnels.
		policyRule(crdGroup, []string{"blockaffinities", "ipamblocks", "ipamhandles"}, []string{"get", "list", "create", "update", "delete"}),
		policyRule(crdGroup, []string{"ipamconfigs"}, []string{"get", "create"}),
	}
}

// cniPluginRules are what the plugin requires to assign an address to a pod and to annotate the pod with it.
func cniPluginRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		policyRule("", []string{"pods", "nodes", "namespaces"}, []string{"get"}),
		policyRule("", []string{"pods/status"}, []string{"patch"}),
		policyRule(crdGroup, []string{"clusterinformations", "ippools", "ipreservations"}, []string{"get", "list"}),
		policyRule(crdGroup, []string{"blockaffinities", "ipamblocks", "ipamhandles"}, []string{"get", "list", "create", "update", "delete"}),
		policyRule(crdGroup, []string{"ipamconfigs"}, []string{"get", "list", "create", "update"}),
	}
}
