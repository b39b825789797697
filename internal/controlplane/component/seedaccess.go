package component

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// seedAccess returns the ServiceAccount with the permissions in the shoot's namespace of the seed, or nothing.
func (c Component) seedAccess(values Values) []client.Object {
	if len(c.SeedRules) == 0 {
		return nil
	}
	meta := func() metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: c.Name, Namespace: values.Namespace, Labels: maps.Clone(c.Selector)}
	}
	kind := func(name string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: name}
	}
	return []client.Object{
		&corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "ServiceAccount"},
			ObjectMeta: meta(), AutomountServiceAccountToken: new(false),
		},
		&rbacv1.Role{TypeMeta: kind("Role"), ObjectMeta: meta(), Rules: c.SeedRules},
		&rbacv1.RoleBinding{
			TypeMeta: kind("RoleBinding"), ObjectMeta: meta(),
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: c.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: c.Name, Namespace: values.Namespace}},
		},
	}
}
