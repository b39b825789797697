package rbac

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// CloudControllerManager returns the permissions of a cloud-controller-manager whose controllers all use one ServiceAccount: those for nodes, their lifecycle,
// Services and routes. It reads no Secrets.
func CloudControllerManager(name, account string) Permissions {
	return Permissions{
		Name: name, Account: account,
		Rules: []rbacv1.PolicyRule{
			WatchRule("", "nodes", "update", "patch", "delete"),
			Rule("", "nodes/status", "patch"),
			Rule("", "services", "list", "watch", "patch"),
			Rule("", "services/status", "patch"),
			Rule("", "events", "create", "patch"),
			// Delegated authentication and authorization of requests for its metrics.
			Rule("authentication.k8s.io", "tokenreviews", "create"),
			Rule("authorization.k8s.io", "subjectaccessreviews", "create"),
		},
		// Leader election, and the CAs of client certificates.
		SystemRules: slices.Concat(LeaderElectionRules(account), []rbacv1.PolicyRule{
			NamedRule("", "configmaps", []string{"extension-apiserver-authentication"}, "get", "list", "watch"),
		}),
	}
}
