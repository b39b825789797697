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

// nativeDual are the pools of a shoot with two families whose packets go as they are.
func nativeDual() map[string]pool {
	pools := native()
	pools["default-ipv6-ippool"] = pool{podsIPv6, "Never", "Never", false}
	return pools
}

// testDualStack gives a shoot a second family, and takes it away again, as gardenlet's flow does: the constraint goes before, and
// what the Network's status says decides when it goes.
func testDualStack(t *testing.T, w *world) {
	w.Shoot.IPFamilies = []gardencorev1beta1.IPFamily{ipv4, ipv6}
	w.Shoot.Networking = gardencorev1beta1.NetworkingStatus{
		Pods: []string{"100.96.0.0/11", podsIPv6}, Services: []string{"100.64.0.0/13", "2001:db8:2::/112"}, Nodes: []string{"10.250.0.0/16", "2001:db8:3::/64"},
	}
	w.judgeMigration(t)
	require.Equal(t, gardencorev1beta1.ConditionProgressing, w.Shoot.Constraints[0].Status)
	w.fulfil(t)
	w.awaitArrived(t)
	assert.Equal(t, []extensionsv1alpha1.IPFamily{"IPv4"}, w.object(t).Status.IPFamilies, "nodes have no range of the other")
	assert.Equal(t, native(), w.pools(t))

	// The nodes are replaced by some that have ranges of both families.
	w.replaceNodes(t, func(i int) []string {
		return []string{fmt.Sprintf("100.96.%d.0/24", i), fmt.Sprintf("2001:db8:1:%d::/64", i)}
	})
	w.judgeMigration(t)
	require.Equal(t, gardencorev1beta1.ConditionTrue, w.Shoot.Constraints[0].Status)
	w.fulfil(t)
	w.awaitArrived(t)
	assert.Equal(t, []extensionsv1alpha1.IPFamily{"IPv4", "IPv6"}, w.object(t).Status.IPFamilies)
	assert.Equal(t, nativeDual(), w.pools(t))
	assert.Equal(t, "autodetect", w.environment(t, "IP6"))
	w.judgeMigration(t)
	require.Empty(t, w.Shoot.Constraints, "the migration is over")
	w.fulfil(t)
	assert.Equal(t, nativeDual(), w.pools(t))

	w.Shoot.IPFamilies = []gardencorev1beta1.IPFamily{ipv4}
	w.Shoot.Networking = gardencorev1beta1.NetworkingStatus{}
	w.judgeMigration(t)
	require.Equal(t, gardencorev1beta1.ConditionTrue, w.Shoot.Constraints[0].Status)
	w.fulfil(t)
	w.awaitArrived(t)
	assert.Equal(t, []extensionsv1alpha1.IPFamily{"IPv4"}, w.object(t).Status.IPFamilies)
	assert.Equal(t, native(), w.pools(t))
	w.replaceNodes(t, func(i int) []string { return []string{fmt.Sprintf("100.96.%d.0/24", i)} })
	w.judgeMigration(t)
	require.Empty(t, w.Shoot.Constraints)
	w.awaitRolledOut(t)
}

// judgeMigration keeps the shoot's constraint by the rules of gardenlet (DetermineUpdateFunction in pkg/gardenlet/operation/botanist):
// while the Network does not serve the families of the spec it says whether nodes are ready for them, and goes afterwards.
func (w *world) judgeMigration(t *testing.T) {
	t.Helper()
	nodes := &corev1.NodeList{}
	require.NoError(t, w.Cluster.Client.List(t.Context(), nodes))
	migrated := len(nodes.Items) > 0
	for _, node := range nodes.Items {
		migrated = migrated && len(node.Spec.PodCIDRs) == len(w.Shoot.IPFamilies)
	}
	single := len(w.Shoot.IPFamilies) == 1
	if len(w.object(t).Status.IPFamilies) == len(w.Shoot.IPFamilies) {
		if !single || migrated {
			w.Shoot.Constraints = helper.RemoveConditions(w.Shoot.Constraints, gardencorev1beta1.ShootDualStackNodesMigrationReady)
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
	w.Shoot.Constraints = helper.MergeConditions(w.Shoot.Constraints, constraint)
}

// replaceNodes lets both nodes go and come back with other ranges, and routes to them, one after the other.
func (w *world) replaceNodes(t *testing.T, ranges func(int) []string) {
	t.Helper()
	for i, name := range []string{first, second} {
		require.NoError(t, w.Cluster.Kubelets().Leave(t.Context(), name))
		require.NoError(t, w.Cluster.Kubelets().Join(t.Context(), name, ranges(i)...))
		w.route(t, name)
	}
}
