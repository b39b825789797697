package calico

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// crdGroup is the API group of Calico's own kinds.
const crdGroup = "crd.projectcalico.org"

// serviceAccount returns a ServiceAccount in the shoot's kube-system. gardener-resource-manager projects a token that expires into its pods.
func serviceAccount(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   inKubeSystem(name),
		AutomountServiceAccountToken: new(false),
	}
}

// clusterGrant grants ServiceAccounts in kube-system rules for the whole cluster: a ClusterRole and its binding, of one name.
func clusterGrant(name string, rules []rbacv1.PolicyRule, accounts ...string) []client.Object {
	return []client.Object{
		&rbacv1.ClusterRole{TypeMeta: rbacType("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			TypeMeta:   rbacType("ClusterRoleBinding"),
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   subjects(accounts),
		},
	}
}

// grant is clusterGrant for kube-system alone.
func grant(name string, rules []rbacv1.PolicyRule, accounts ...string) []client.Object {
	return []client.Object{
		&rbacv1.Role{TypeMeta: rbacType("Role"), ObjectMeta: inKubeSystem(name), Rules: rules},
		&rbacv1.RoleBinding{
			TypeMeta:   rbacType("RoleBinding"),
			ObjectMeta: inKubeSystem(name),
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   subjects(accounts),
		},
	}
}

func subjects(accounts []string) []rbacv1.Subject {
	result := make([]rbacv1.Subject, 0, len(accounts))
	for _, account := range accounts {
		result = append(result, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: metav1.NamespaceSystem})
	}
	return result
}

// policyRule returns a rule: these verbs on these resources of a group.
func policyRule(group string, resources, verbs []string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

func rbacType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

func inKubeSystem(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem}
}
