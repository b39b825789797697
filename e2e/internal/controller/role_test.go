package controller

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestRolesAreTheCharts(t *testing.T) {
	for _, what := range []Binary{Infrastructure(), ControlPlane(), Network(), Worker()} {
		assert.Contains(t, what.Role.Cluster, rbacv1.PolicyRule{
			APIGroups: []string{"extensions.gardener.cloud"}, Resources: []string{"clusters"}, Verbs: []string{"get"},
		}, what.Name)
		assert.True(t, slices.ContainsFunc(what.Role.Namespace, func(rule rbacv1.PolicyRule) bool {
			return slices.Equal(rule.ResourceNames, []string{what.Name + "-leader-election", "gardener-extension-heartbeat"})
		}), what.Name)
	}
	assert.Contains(t, Worker().Role.Cluster, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"namespaces"}, ResourceNames: []string{"worker-controller"}, Verbs: []string{"get"},
	}, "the namespace is the binary's")
}
