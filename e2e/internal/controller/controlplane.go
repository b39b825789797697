package controller

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// ControlPlane is the controlplane-controller.
func ControlPlane() Binary {
	const (
		name      = "controlplane-controller"
		webhooks  = "admissionregistration.k8s.io"
		configure = "gardener-extension-" + name
	)
	named := func(r rbacv1.PolicyRule, names ...string) rbacv1.PolicyRule {
		r.ResourceNames = names
		return r
	}
	return Binary{
		Name:  name,
		Types: []string{"openstack"},
		Role: seed.Role{
			Cluster: []rbacv1.PolicyRule{
				rule("extensions.gardener.cloud", "controlplanes", "get", "list", "watch", "patch"),
				rule("extensions.gardener.cloud", "controlplanes/status", "patch"),
				rule("extensions.gardener.cloud", "clusters", "get"),
				rule("resources.gardener.cloud", "managedresources", "get", "create", "patch", "delete"),
				rule("", "secrets", "get", "list", "create", "patch", "delete"),
				rule("apps", "deployments", "get"),
				rule("", "pods", "list"),
				rule("events.k8s.io", "events", "create", "patch"),
				// The webhooks that it serves: it registers itself, under one name and no other.
				rule(webhooks, "mutatingwebhookconfigurations", "create"),
				named(rule(webhooks, "mutatingwebhookconfigurations", "get", "update", "delete"), configure),
				named(rule(webhooks, "validatingwebhookconfigurations", "get", "update", "delete"), configure),
				named(rule("", "namespaces", "get"), name),
			},
			Namespace: ownRules(),
		},
	}
}
