package rbac_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/internal/controlplane/rbac"
	"github.com/trellis-garden/trellis/internal/golden"
)

func TestCloudControllerManager(t *testing.T) {
	folder := golden.Open(t, "testdata")
	folder.Check(t, "cloudcontrollermanager.yaml",
		golden.Manifest(t, rbac.CloudControllerManager("extensions.gardener.cloud:provider-example:cloud-controller-manager", "cloud-controller-manager").Objects()))
}

func TestPermissions_Objects(t *testing.T) {
	rules := []rbacv1.PolicyRule{rbac.WatchRule("", "nodes")}
	assert.Empty(t, rbac.Permissions{Name: "a", Account: "b"}.Objects(), "an empty role grants nothing")
	assert.Len(t, rbac.Permissions{Name: "a", Account: "b", Rules: rules}.Objects(), 2)
	assert.Len(t, rbac.Permissions{Name: "a", Account: "b", SystemRules: rules}.Objects(), 2)
}

func TestWatchRule_KeepsArguments(t *testing.T) {
	more := make([]string, 1, 8)
	more[0] = "patch"
	first, second := rbac.WatchRule("", "nodes", more...), rbac.WatchRule("", "pods", more...)
	assert.Equal(t, []string{"get", "list", "watch", "patch"}, first.Verbs)
	first.Verbs[3] = "delete"
	assert.Equal(t, []string{"get", "list", "watch", "patch"}, second.Verbs)
}
