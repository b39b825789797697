package gardenet

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The names of ClusterRoles and their bindings.
const (
	agentRole  = "gardener.cloud:gardenet:agent"
	routerRole = "gardener.cloud:gardenet:service-router"
)

// account returns the agents' ServiceAccount, with their rights.
func (s *settings) account() []client.Object { return accountWith(agentName, agentRole, s.rules()) }

// accountWith returns a ServiceAccount and its rights.
func accountWith(name, role string, rules []rbacv1.PolicyRule) []client.Object {
	typeMeta := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
	}
	return []client.Object{
		&corev1.ServiceAccount{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: inKubeSystem(name, name), AutomountServiceAccountToken: new(false),
		},
		&rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: role}, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			TypeMeta: typeMeta("ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: role},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: metav1.NamespaceSystem}},
		},
	}
}

// rules are the rights of an agent: to read what its configuration needs, and to report what it finds.
func (s *settings) rules() []rbacv1.PolicyRule {
	watches := []string{"list", "watch"}
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create"}},
	}
	// Agents set the condition of their node's network, or remove it.
	if s.reportsNetwork() || s.form.WaitsForRoutes {
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes/status"}, Verbs: []string{"patch"}})
	}
	if *s.config.NetworkPolicy.Enabled {
		rules = append(rules,
			rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces", "pods"}, Verbs: watches},
			rbacv1.PolicyRule{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"networkpolicies"}, Verbs: watches},
		)
	}
	return rules
}
