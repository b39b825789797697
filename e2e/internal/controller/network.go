package controller

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// Network is the network-controller.
func Network() Binary {
	return Binary{
		Name:  "network-controller",
		Types: []string{"calico"},
		Role: seed.Role{
			Cluster: []rbacv1.PolicyRule{
				rule("extensions.gardener.cloud", "networks", "get", "list", "watch", "patch"),
				rule("extensions.gardener.cloud", "networks/status", "patch"),
				rule("extensions.gardener.cloud", "clusters", "get"),
				rule("extensions.gardener.cloud", "dnsrecords", "list"),
				rule("resources.gardener.cloud", "managedresources", "get", "create", "patch", "delete"),
				// Those that hold what is deployed; and the kubeconfig of the shoot, while its nodes are waited for.
				rule("", "secrets", "get", "list", "create", "delete"),
				// What upstream's extension left, when a shoot comes from there.
				rule("", "configmaps", "delete"),
				rule("monitoring.coreos.com", "scrapeconfigs", "delete"),
				rule("events.k8s.io", "events", "create", "patch"),
			},
			Namespace: ownRules(),
		},
	}
}
