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

// TestScalingOneControllerLeavesTheOthersAlone scales one up, and down in such a way that the leader is the one that goes.
func TestScalingOneControllerLeavesTheOthersAlone(t *testing.T) {
	w := theWorld(t)
	const binary = infrastructureController
	untouched := w.othersStand(t, binary)
	w.keepDeployment(t, binary)
	calm := w.newShoot(t, "calm")
	require.NoError(t, calm.OrderInfrastructure(t.Context()))
	want := w.whole(t, calm)
	said := w.keepDiary(t)

	leader, err := w.Leader(t.Context(), binary)
	require.NoError(t, err)
	before, two := w.leading(t, binary), w.standing(t, binary)
	w.scale(t, binary, 3)
	three := w.standing(t, binary)
	assert.Len(t, three.Pods, 3)
	assert.Subset(t, three.Pods, two.Pods, "those that there were go on")
	assert.Equal(t, before.Spec.LeaseTransitions, w.leading(t, binary).Spec.LeaseTransitions, "and so does the one that works")

	meanwhile := w.scaleTheLeaderAway(t, binary, leader)
	after := w.standing(t, binary)
	assert.Len(t, after.Pods, 2)
	assert.Subset(t, three.Pods, after.Pods, "those that stay go on")
	assert.NotContains(t, after.Pods, leader.UID)
	assert.Greater(t, *w.leading(t, binary).Spec.LeaseTransitions, *before.Spec.LeaseTransitions)
	for _, shoot := range meanwhile {
		assert.Equal(t, want, w.whole(t, shoot), "shoot %s", shoot.Name)
	}
	said.requireNoError(t)
	w.leave(t, append(meanwhile, calm)...)
	untouched()
}

// scale has a controller scaled by the values of its chart, as an admin would, and waits until that is done.
func (w *world) scale(t *testing.T, binary string, replicas int32) {
	t.Helper()
	start := time.Now()
	require.NoError(t, w.SetValues(t.Context(), binary, map[string]any{"replicaCount": replicas}))
	require.NoError(t, w.rolledOut(t.Context(), binary, func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == replicas }))
	t.Logf("%s has %d replicas after %s", binary, replicas, time.Since(start).Round(time.Millisecond))
}

// scaleTheLeaderAway takes one replica from a controller, the leader, while a shoot is being created and another is ordered. It returns both.
func (w *world) scaleTheLeaderAway(t *testing.T, binary string, leader *corev1.Pod) []*kindseed.Shoot {
	t.Helper()
	// Kubernetes prefers what is cheapest to delete.
	cheap := leader.DeepCopy()
	cheap.Annotations = map[string]string{corev1.PodDeletionCost: "-1000"}
	require.NoError(t, w.Client.Patch(t.Context(), cheap, client.MergeFrom(leader)))

	shoots := []*kindseed.Shoot{w.newShoot(t, "half-made"), w.newShoot(t, "meanwhile")}
	require.NoError(t, w.Dials.SetLatency(t.Context(), time.Second))
	defer func() { assert.NoError(t, w.Dials.SetLatency(context.WithoutCancel(t.Context()), 0)) }()
	require.NoError(t, w.Dials.ResetCalls(t.Context()))
	halfMade := order(t, shoots[0])
	eventually(t, "the leader has begun a shoot", func() bool { return len(w.cloudWrites(t)) > 0 })
	require.NoError(t, w.SetValues(t.Context(), binary, map[string]any{"replicaCount": 2}))
	asked := w.awaitEnding(t, leader)
	select {
	case err := <-halfMade:
		require.FailNow(t, "the shoot was complete before the leader went", "%v", err)
	default:
	}
	ordered := order(t, shoots[1])
	eventually(t, "another replica leads", func() bool {
		holder := w.leading(t, binary).Spec.HolderIdentity
		return holder != nil && *holder != "" && !strings.HasPrefix(*holder, leader.Name)
	})
	t.Logf("another replica leads %s after the leader was asked to end", time.Since(asked).Round(time.Millisecond))
	require.NoError(t, <-halfMade)
	require.NoError(t, <-ordered)
	t.Logf("both shoots have their infrastructure %s after that", time.Since(asked).Round(time.Millisecond))
	require.NoError(t, w.rolledOut(t.Context(), binary, func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 2 }))
	eventually(t, "the pod has gone", func() bool { return len(w.standing(t, binary).Pods) == 2 })
	return shoots
}

// awaitEnding waits until a pod is asked to end, and returns when that was.
func (w *world) awaitEnding(t *testing.T, leader *corev1.Pod) (asked time.Time) {
	t.Helper()
	eventually(t, "the leader's pod is asked to end", func() bool {
		pod := &corev1.Pod{}
		err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(leader), pod)
		require.NoError(t, client.IgnoreNotFound(err))
		asked = time.Now()
		return err != nil || pod.DeletionTimestamp != nil
	})
	return asked
}
