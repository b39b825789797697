package controller

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// ControlPlane is the controlplane-controller.
func ControlPlane() Binary {
	return Binary{
		Name:  "controlplane-controller",
		Types: []string{"openstack"},
		Role: seed.Role{
			Cluster: append([]rbacv1.PolicyRule{
				rule("extensions.gardener.cloud", "controlplanes", "get", "list", "watch", "patch"),
				rule("extensions.gardener.cloud", "controlplanes/status", "patch"),
				rule("extensions.gardener.cloud", "clusters", "get"),
				rule("resources.gardener.cloud", "managedresources", "get", "create", "patch", "delete"),
				rule("", "secrets", "get", "list", "create", "patch", "delete"),
				rule("apps", "deployments", "get"),
				rule("", "pods", "list"),
				rule("events.k8s.io", "events", "create", "patch"),
			}, registrationRules("controlplane-controller")...),
			Namespace: ownRules(),
		},
	}
}
