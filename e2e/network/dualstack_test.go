package network

import (
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	ipv4, ipv6 = gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6

	podsIPv6 = "2001:db8:1::/56"
)

// poolsNativeDualStack are the pools of a shoot with two families without encapsulation.
func poolsNativeDualStack() map[string]pool {
	pools := poolsNative()
	pools["default-ipv6-ippool"] = pool{podsIPv6, "Never", "Never", false}
	return pools
}

// testDualStack adds a second family to a shoot, and removes it again, as gardenlet's flow does: the constraint is set first, and the Network's status
// determines when it is removed.
func testDualStack(t *testing.T, env *environment) {
	env.Shoot.IPFamilies = []gardencorev1beta1.IPFamily{ipv4, ipv6}
	env.Shoot.Networking = gardencorev1beta1.NetworkingStatus{
		Pods: []string{"100.96.0.0/11", podsIPv6}, Services: []string{"100.64.0.0/13", "2001:db8:2::/112"}, Nodes: []string{"10.250.0.0/16", "2001:db8:3::/64"},
	}
	env.updateMigrationConstraint(t)
	require.Equal(t, gardencorev1beta1.ConditionProgressing, env.Shoot.Constraints[0].Status)
	env.reconcile(t)
	env.awaitTransitionDone(t)
	assert.Equal(t, []extensionsv1alpha1.IPFamily{"IPv4"}, env.object(t).Status.IPFamilies, "nodes have no range of the other")
	assert.Equal(t, poolsNative(), env.pools(t))

	// The nodes are replaced by nodes with ranges of both families.
	env.replaceNodes(t, func(i int) []string {
		return []string{fmt.Sprintf("100.96.%d.0/24", i), fmt.Sprintf("2001:db8:1:%d::/64", i)}
	})
	env.updateMigrationConstraint(t)
	require.Equal(t, gardencorev1beta1.ConditionTrue, env.Shoot.Constraints[0].Status)
	env.reconcile(t)
	env.awaitTransitionDone(t)
	assert.Equal(t, []extensionsv1alpha1.IPFamily{"IPv4", "IPv6"}, env.object(t).Status.IPFamilies)
	assert.Equal(t, poolsNativeDualStack(), env.pools(t))
	assert.Equal(t, "autodetect", env.variable(t, "IP6"))
	env.updateMigrationConstraint(t)
	require.Empty(t, env.Shoot.Constraints, "the migration is over")
	env.reconcile(t)
	assert.Equal(t, poolsNativeDualStack(), env.pools(t))

	env.Shoot.IPFamilies = []gardencorev1beta1.IPFamily{ipv4}
	env.Shoot.Networking = gardencorev1beta1.NetworkingStatus{}
	env.updateMigrationConstraint(t)
	require.Equal(t, gardencorev1beta1.ConditionTrue, env.Shoot.Constraints[0].Status)
	env.reconcile(t)
	env.awaitTransitionDone(t)
	assert.Equal(t, []extensionsv1alpha1.IPFamily{"IPv4"}, env.object(t).Status.IPFamilies)
	assert.Equal(t, poolsNative(), env.pools(t))
	env.replaceNodes(t, func(i int) []string { return []string{fmt.Sprintf("100.96.%d.0/24", i)} })
	env.updateMigrationConstraint(t)
	require.Empty(t, env.Shoot.Constraints)
	env.awaitRolledOut(t)
}

// updateMigrationConstraint maintains the shoot's constraint by gardenlet's rules (DetermineUpdateFunction in pkg/gardenlet/operation/botanist):
// while the Network does not serve the families of the spec it says whether nodes are ready for them, and then it is removed.
func (env *environment) updateMigrationConstraint(t *testing.T) {
	t.Helper()
	nodes := &corev1.NodeList{}
	require.NoError(t, env.Cluster.Client.List(t.Context(), nodes))
	migrated := len(nodes.Items) > 0
	for _, node := range nodes.Items {
		migrated = migrated && len(node.Spec.PodCIDRs) == len(env.Shoot.IPFamilies)
	}
	single := len(env.Shoot.IPFamilies) == 1
	if len(env.object(t).Status.IPFamilies) == len(env.Shoot.IPFamilies) {
		if !single || migrated {
			env.Shoot.Constraints = helper.RemoveConditions(env.Shoot.Constraints, gardencorev1beta1.ShootDualStackNodesMigrationReady)
		}
		return
	}
	constraint := gardencorev1beta1.Condition{
		Type: gardencorev1beta1.ShootDualStackNodesMigrationReady, Status: gardencorev1beta1.ConditionProgressing, Reason: "NodesNotMigrated",
		LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
	}
	switch {
	case migrated:
		constraint.Status, constraint.Reason = gardencorev1beta1.ConditionTrue, "NodesMigrated"
	case single:
		constraint.Status, constraint.Reason = gardencorev1beta1.ConditionTrue, "NodesMigrating"
	}
	env.Shoot.Constraints = helper.MergeConditions(env.Shoot.Constraints, constraint)
}

// replaceNodes replaces both nodes by nodes with other ranges and routes, one after the other.
func (env *environment) replaceNodes(t *testing.T, ranges func(int) []string) {
	t.Helper()
	for i, name := range []string{first, second} {
		require.NoError(t, env.Cluster.Kubelets().Leave(t.Context(), name))
		require.NoError(t, env.Cluster.Kubelets().Join(t.Context(), name, ranges(i)...))
		env.route(t, name)
	}
}
