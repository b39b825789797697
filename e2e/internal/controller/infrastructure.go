package controller

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// Infrastructure is the infrastructure-controller.
func Infrastructure() Binary {
	return Binary{
		Name:  "infrastructure-controller",
		Types: []string{"openstack"},
		Role: seed.Role{
			Cluster: []rbacv1.PolicyRule{
				rule("extensions.gardener.cloud", "infrastructures", "get", "list", "watch", "patch"),
				rule("extensions.gardener.cloud", "infrastructures/status", "patch"),
				rule("extensions.gardener.cloud", "clusters", "get"),
				rule("", "secrets", "get"),
				rule("events.k8s.io", "events", "create", "patch"),
			},
			Namespace: ownRules(),
		},
	}
}

// ownRules are the rights that every controller has in its own namespace: leader election, and the heartbeat.
func ownRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule("coordination.k8s.io", "leases", "get", "create", "update", "patch"),
		rule("", "events", "create", "patch"),
	}
}

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}
