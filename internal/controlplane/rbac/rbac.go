// Package rbac has the permissions of a component in a shoot, and the objects that grant them.
//
// It knows no component.
package rbac

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Permissions are those of a ServiceAccount in the shoot's kube-system.
type Permissions struct {
	// Name is that of the roles and their bindings. The role of an existing binding cannot be changed.
	Name string
	// Account is the name of the ServiceAccount.
	Account string
	// Rules are for the whole shoot, SystemRules for kube-system.
	Rules, SystemRules []rbacv1.PolicyRule
}

// Objects returns roles and bindings, without those that would be empty.
func (p Permissions) Objects() []client.Object {
	var objects []client.Object
	if len(p.Rules) > 0 {
		objects = append(objects, ClusterRole(p.Name, p.Rules), ClusterRoleBinding(p.Name, p.Name, Subject(p.Account)))
	}
	if len(p.SystemRules) > 0 {
		objects = append(objects, Role(p.Name, p.SystemRules), RoleBinding(p.Name, p.Name, Subject(p.Account)))
	}
	return objects
}

// Rule permits verbs on one resource.
func Rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// WatchRule permits what a cache of a resource needs, and more verbs.
func WatchRule(group, resource string, more ...string) rbacv1.PolicyRule {
	return Rule(group, resource, slices.Concat([]string{"get", "list", "watch"}, more)...)
}

// NamedRule permits verbs on single objects of a resource.
func NamedRule(group, resource string, names []string, verbs ...string) rbacv1.PolicyRule {
	rule := Rule(group, resource, verbs...)
	rule.ResourceNames = names
	return rule
}

// LeaderElectionRules permit the election of a leader by a Lease. The API server does not know the name of an object that is to be created, so any can be.
func LeaderElectionRules(lease string) []rbacv1.PolicyRule {
	const group = "coordination.k8s.io"
	return []rbacv1.PolicyRule{Rule(group, "leases", "create"), NamedRule(group, "leases", []string{lease}, "get", "update")}
}

// Subject is a ServiceAccount in the shoot's kube-system.
func Subject(account string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: metav1.NamespaceSystem}
}

// ClusterRole returns a role for the whole shoot.
func ClusterRole(name string, rules []rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{TypeMeta: kind("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

// ClusterRoleBinding grants a ClusterRole.
func ClusterRoleBinding(name, role string, subjects ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta:   kind("ClusterRoleBinding"),
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   subjects,
	}
}

// Role returns a role in kube-system.
func Role(name string, rules []rbacv1.PolicyRule) *rbacv1.Role {
	return &rbacv1.Role{TypeMeta: kind("Role"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem}, Rules: rules}
}

// RoleBinding grants a Role in kube-system.
func RoleBinding(name, role string, subjects ...rbacv1.Subject) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		TypeMeta:   kind("RoleBinding"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
		Subjects:   subjects,
	}
}

func kind(name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: name}
}
