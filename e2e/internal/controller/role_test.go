package controller

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRole_SameAsChart(t *testing.T) {
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
	for _, what := range []Binary{ControlPlane(), Network(), Worker()} {
		require.Len(t, what.Role.Policies, 2, what.Name)
		conditions, _, err := unstructured.NestedSlice(what.Role.Policies[0].Object, "spec", "matchConditions")
		require.NoError(t, err)
		assert.Equal(t, []any{map[string]any{
			"name": "by-the-controller", "expression": `request.userInfo.username == "` + what.Name + `"`,
		}}, conditions, "the policy is about the user")
	}
	assert.Empty(t, Infrastructure().Role.Policies, "it writes no Secrets")
}
