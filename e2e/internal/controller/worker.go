package controller

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// Worker is the worker-controller.
func Worker() Binary {
	const machines = "machine.sapcloud.io"
	return Binary{
		Name:  "worker-controller",
		Types: []string{"openstack"},
		Role: seed.Role{
			Cluster: append([]rbacv1.PolicyRule{
				rule("extensions.gardener.cloud", "workers", "get", "list", "watch", "patch"),
				rule("extensions.gardener.cloud", "workers/status", "patch"),
				rule("extensions.gardener.cloud", "clusters", "get"),
				rule(machines, "machineclasses", "list", "create", "patch", "delete"),
				rule(machines, "machinedeployments", "list", "create", "patch", "delete"),
				// After a move, machines and their sets are made before machine-controller-manager runs. What is left over, nobody else deletes.
				rule(machines, "machinesets", "list", "create", "delete"),
				rule(machines, "machines", "list", "create", "patch", "delete"),
				// Credentials, what machines start with, and the classes' own.
				rule("", "secrets", "get", "list", "create", "patch", "delete"),
				// machine-controller-manager sleeps with the shoot, and gets a new pod when it is stuck.
				rule("apps", "deployments", "get"),
				rule("apps", "deployments/scale", "patch"),
				rule("", "pods", "list", "delete"),
				rule("events.k8s.io", "events", "create", "patch"),
			}, registrationRules("worker-controller")...),
			Namespace: ownRules(),
		},
	}
}
