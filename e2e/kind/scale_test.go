//go:build kind

package kind

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
)

// TestScale scales up, and down in such a way that the leader is removed.
func TestScale(t *testing.T) {
	env := getEnvironment(t)
	const binary = infrastructureController
	assertUnchanged := env.othersUnchanged(t, binary)
	env.keepDeployment(t, binary)
	reference := env.newShoot(t, "calm")
	require.NoError(t, reference.ReconcileInfrastructure(t.Context()))
	want := env.shootInventory(t, reference)
	history := env.recordStatusHistory(t)

	leader, err := env.Leader(t.Context(), binary)
	require.NoError(t, err)
	before, two := env.leaderLease(t, binary), env.installedState(t, binary)
	env.scale(t, binary, 3)
	three := env.installedState(t, binary)
	assert.Len(t, three.Pods, 3)
	assert.Subset(t, three.Pods, two.Pods, "those that there were go on")
	assert.Equal(t, before.Spec.LeaseTransitions, env.leaderLease(t, binary).Spec.LeaseTransitions, "and so does the one that works")

	meanwhile := env.scaleTheLeaderAway(t, binary, leader)
	after := env.installedState(t, binary)
	assert.Len(t, after.Pods, 2)
	assert.Subset(t, three.Pods, after.Pods, "those that stay go on")
	assert.NotContains(t, after.Pods, leader.UID)
	assert.Greater(t, *env.leaderLease(t, binary).Spec.LeaseTransitions, *before.Spec.LeaseTransitions)
	for _, shoot := range meanwhile {
		assert.Equal(t, want, env.shootInventory(t, shoot), "shoot %s", shoot.Name)
	}
	history.requireNoError(t)
	env.deleteShoots(t, append(meanwhile, reference)...)
	assertUnchanged()
}

// scale scales a controller by its chart's values, as an admin does, and waits until it is done.
func (env *environment) scale(t *testing.T, binary string, replicas int32) {
	t.Helper()
	start := time.Now()
	require.NoError(t, env.SetValues(t.Context(), binary, map[string]any{"replicaCount": replicas}))
	require.NoError(t, env.rolledOut(t.Context(), binary, func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == replicas }))
	t.Logf("%s has %d replicas after %s", binary, replicas, time.Since(start).Round(time.Millisecond))
}

// scaleTheLeaderAway removes the leader of a controller while a shoot is being created and another is requested. It returns both.
func (env *environment) scaleTheLeaderAway(t *testing.T, binary string, leader *corev1.Pod) []*kindseed.Shoot {
	t.Helper()
	// Kubernetes prefers pods with a low deletion cost.
	cheap := leader.DeepCopy()
	cheap.Annotations = map[string]string{corev1.PodDeletionCost: "-1000"}
	require.NoError(t, env.Client.Patch(t.Context(), cheap, client.MergeFrom(leader)))

	shoots := []*kindseed.Shoot{env.newShoot(t, "half-made"), env.newShoot(t, "meanwhile")}
	require.NoError(t, env.Remote.SetLatency(t.Context(), time.Second))
	defer func() { assert.NoError(t, env.Remote.SetLatency(context.WithoutCancel(t.Context()), 0)) }()
	require.NoError(t, env.Remote.ResetCalls(t.Context()))
	inProgress := startReconcile(t, shoots[0])
	eventually(t, "the leader has begun a shoot", func() bool { return len(env.cloudWrites(t)) > 0 })
	require.NoError(t, env.SetValues(t.Context(), binary, map[string]any{"replicaCount": 2}))
	asked := env.awaitEnding(t, leader)
	select {
	case err := <-inProgress:
		require.FailNow(t, "the shoot was complete before the leader went", "%v", err)
	default:
	}
	requested := startReconcile(t, shoots[1])
	eventually(t, "another replica leads", func() bool {
		holder := env.leaderLease(t, binary).Spec.HolderIdentity
		return holder != nil && *holder != "" && !strings.HasPrefix(*holder, leader.Name)
	})
	t.Logf("another replica leads %s after the leader was asked to end", time.Since(asked).Round(time.Millisecond))
	require.NoError(t, <-inProgress)
	require.NoError(t, <-requested)
	t.Logf("both shoots have their infrastructure %s after that", time.Since(asked).Round(time.Millisecond))
	require.NoError(t, env.rolledOut(t.Context(), binary, func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 2 }))
	eventually(t, "the pod has gone", func() bool { return len(env.installedState(t, binary).Pods) == 2 })
	return shoots
}

// awaitEnding waits until a pod is being deleted, and returns the time.
func (env *environment) awaitEnding(t *testing.T, leader *corev1.Pod) (asked time.Time) {
	t.Helper()
	eventually(t, "the leader's pod is asked to end", func() bool {
		pod := &corev1.Pod{}
		err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(leader), pod)
		require.NoError(t, client.IgnoreNotFound(err))
		asked = time.Now()
		return err != nil || pod.DeletionTimestamp != nil
	})
	return asked
}
