package calico

import rbacv1 "k8s.io/api/rbac/v1"

// typhaRules are what Typha may do: read what nodes request from it, and set up what Calico requires at its start. Upstream lets it do everything that
// calico-node may, such as writing nodes and assigning addresses.
//
// It must be allowed to list kinds that the shoot does not have, too: "forbidden" stops it, "not found" does not.
func typhaRules() []rbacv1.PolicyRule {
	readVerbs := []string{"get", "list", "watch"}
	return []rbacv1.PolicyRule{
		policyRule("", []string{"namespaces", "nodes", "pods", "serviceaccounts", "services"}, readVerbs),
		// The EndpointSlices of its own Service, to count its replicas.
		policyRule("", []string{"endpoints"}, []string{"get"}),
		policyRule("discovery.k8s.io", []string{"endpointslices"}, readVerbs),
		policyRule("networking.k8s.io", []string{"networkpolicies"}, readVerbs),
		// The last two are for Typhas of v3.31 and before, until they are replaced.
		policyRule("policy.networking.k8s.io", []string{"clusternetworkpolicies", "adminnetworkpolicies", "baselineadminnetworkpolicies"}, readVerbs),
		policyRule("kubevirt.io", []string{"virtualmachineinstancemigrations"}, readVerbs),
		policyRule(crdGroup, []string{
			"bgpconfigurations", "bgpfilters", "bgppeers", "blockaffinities", "caliconodestatuses", "clusterinformations",
			"felixconfigurations", "globalnetworkpolicies", "globalnetworksets", "hostendpoints", "ipamblocks", "ippools",
			"ipreservations", "networkpolicies", "networksets", "stagedglobalnetworkpolicies",
			"stagedkubernetesnetworkpolicies", "stagednetworkpolicies", "tiers",
		}, readVerbs),
		// Until a calico-node has recorded Calico's version, Typha looks for data of Calico v2, and serves no client before.
		policyRule(crdGroup, []string{"globalfelixconfigs"}, []string{"get"}),
		policyRule(crdGroup, []string{"clusterinformations"}, []string{"create", "update"}),
		policyRule(crdGroup, []string{"tiers"}, []string{"create"}),
	}
}
