package openstack

import (
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane/rbac"
)

const (
	// upstreamCCMBinding is the ClusterRoleBinding by which upstream's extension makes the cloud-controller-manager an administrator of the shoot.
	upstreamCCMBinding = "extensions.gardener.cloud:provider-openstack:" + ccmName
	// ccmRole is the name of its role and binding: not upstream's, since the role of a binding cannot be changed.
	ccmRole = upstreamCCMBinding + ":controllers"
	// cloudNodeController is the name of a role that upstream's extension deploys.
	cloudNodeController = "system:controller:cloud-node-controller"
)

// ccmRBAC are the permissions of the cloud-controller-manager in the shoot. It reads no Secrets: certificates of load balancers that terminate TLS are in
// Barbican.
func ccmRBAC() []client.Object {
	return append(rbac.CloudControllerManager(ccmRole, ccmName).Objects(),
		// These two are unused, but upstream's extension deploys them: a shoot that moves there and back keeps them.
		rbac.ClusterRole(cloudNodeController, cloudNodeControllerRules()),
		rbac.ClusterRoleBinding(cloudNodeController, cloudNodeController, rbac.Subject("cloud-node-controller")))
}

func cloudNodeControllerRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rbac.Rule("", "nodes", "delete", "get", "patch", "update", "list"),
		rbac.Rule("", "nodes/status", "patch"),
		rbac.Rule("", "events", "create", "patch", "update"),
	}
}

// retiredBinding is upstream's binding without subjects. Upstream's extension makes gardener-resource-manager keep it; this one may be deleted.
func retiredBinding() client.Object {
	binding := rbac.ClusterRoleBinding(upstreamCCMBinding, "cluster-admin")
	binding.Annotations = map[string]string{resourcesv1alpha1.KeepObject: "false"}
	return binding
}
