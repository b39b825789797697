package openstack

import (
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// upstreamCCMBinding is the ClusterRoleBinding by which upstream's extension makes the cloud-controller-manager an administrator of the shoot.
	upstreamCCMBinding = "extensions.gardener.cloud:provider-openstack:" + ccmName
	// ccmRole is the name of its role and binding: not upstream's, since the role of a binding cannot be changed.
	ccmRole = upstreamCCMBinding + ":controllers"
	// cloudNodeController is the name of a role that upstream's extension deploys.
	cloudNodeController = "system:controller:cloud-node-controller"
)

// ccmRBAC are the permissions of the cloud-controller-manager in the shoot: those of its controllers for nodes, their lifecycle, Services and routes, for one
// ServiceAccount. It reads no Secrets: certificates of load balancers that terminate TLS are in Barbican.
func ccmRBAC() []client.Object {
	subject := serviceAccount(ccmName)
	return []client.Object{
		clusterRole(ccmRole, ccmRules()),
		clusterRoleBinding(ccmRole, ccmRole, subject),
		role(ccmRole, ccmSystemRules()),
		roleBinding(ccmRole, ccmRole, subject),
		// These two are unused, but upstream's extension deploys them: a shoot that moves there and back keeps them.
		clusterRole(cloudNodeController, cloudNodeControllerRules()),
		clusterRoleBinding(cloudNodeController, cloudNodeController, serviceAccount("cloud-node-controller")),
	}
}

func ccmRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch", "update", "patch", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"nodes/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"list", "watch", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"services/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		// Delegated authentication and authorization of requests for its metrics.
		{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
		{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
	}
}

// ccmSystemRules are those in kube-system: leader election, and the CAs of client certificates.
func ccmSystemRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}},
		{
			APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{ccmName},
			Verbs: []string{"get", "update"},
		},
		{
			APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"extension-apiserver-authentication"},
			Verbs: []string{"get", "list", "watch"},
		},
	}
}

func cloudNodeControllerRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"delete", "get", "patch", "update", "list"}},
		{APIGroups: []string{""}, Resources: []string{"nodes/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch", "update"}},
	}
}

// retiredBinding is upstream's binding without subjects. Upstream's extension makes gardener-resource-manager keep it; this one may be deleted.
func retiredBinding() client.Object {
	binding := clusterRoleBinding(upstreamCCMBinding, "cluster-admin")
	binding.Annotations = map[string]string{resourcesv1alpha1.KeepObject: "false"}
	return binding
}

func serviceAccount(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: metav1.NamespaceSystem}
}

func rbacType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

func clusterRole(name string, rules []rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{TypeMeta: rbacType("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func clusterRoleBinding(name, role string, subjects ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta:   rbacType("ClusterRoleBinding"),
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   subjects,
	}
}

func role(name string, rules []rbacv1.PolicyRule) *rbacv1.Role {
	return &rbacv1.Role{
		TypeMeta: rbacType("Role"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem}, Rules: rules,
	}
}

func roleBinding(name, role string, subjects ...rbacv1.Subject) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		TypeMeta:   rbacType("RoleBinding"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
		Subjects:   subjects,
	}
}
