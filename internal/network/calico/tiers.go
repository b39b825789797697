package calico

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tierObjects let kube-controller-manager read tiers of policies. It must where users run Calico's own API server, which shows a policy only to users
// who may read its tier: kube-controller-manager cannot garbage-collect what it cannot read. Calico creates the tiers themselves when it starts.
func (s *settings) tierObjects() ([]client.Object, error) {
	objects := clusterGrant("calico-tier-getter", []rbacv1.PolicyRule{policyRule("projectcalico.org", []string{"tiers"}, []string{"get"})})
	for _, object := range objects {
		if binding, is := object.(*rbacv1.ClusterRoleBinding); is {
			binding.Subjects = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "system:kube-controller-manager"}}
		}
	}
	return objects, nil
}
