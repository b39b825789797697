package contract_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
)

// With an interval of an hour, all checks but the first follow from changes of what is watched.
func TestHealth_Watches(t *testing.T) {
	s := newHealthEnvironment(t)
	s.healthOptions.HealthInterval = time.Hour
	component := func(name string, data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, Data: data}
	}
	s.health.Watches = []contract.Watch{{Object: &corev1.ConfigMap{}, Name: "component", Strip: func(o client.Object) {
		delete(o.(*corev1.ConfigMap).Data, "unread")
	}}}
	s.setCheck(func(ctx context.Context, input contract.CheckInput[*object]) (contract.Findings, error) {
		read := &corev1.ConfigMap{}
		if err := input.Watched.Get(ctx, client.ObjectKey{Namespace: input.Object.Namespace, Name: "component"}, read); err != nil {
			return contract.Findings{healthy: {Message: "It does not exist."}}, client.IgnoreNotFound(err)
		}
		assert.NotContains(t, read.Data, "unread")
		assert.Error(t, input.Watched.Get(ctx, client.ObjectKey{Namespace: input.Object.Namespace, Name: "other"}, read), "it is not watched")
		assert.Error(t, input.Watched.List(ctx, &corev1.ConfigMapList{}), "only one name is watched")
		return contract.Findings{healthy: {Healthy: read.Data["healthy"] == "true", Message: read.Data["message"]}}, nil
	})
	require.NoError(t, s.server.Client.Create(t.Context(), component("component", map[string]string{"healthy": "true", "message": "All is well."})))
	s.create()
	assert.Equal(t, "All is well.", s.waitStatus(gardencorev1beta1.ConditionTrue).Message)
	time.Sleep(3 * time.Second) // its own write starts one more check

	before := s.checkCount.Load()
	update := func(data map[string]string) {
		require.NoError(t, s.server.Client.Update(t.Context(), component("component", data)))
	}
	update(map[string]string{"healthy": "true", "message": "All is well.", "unread": "changed"})
	require.NoError(t, s.server.Client.Create(t.Context(), component("other", nil)))
	time.Sleep(3 * time.Second) // longer than the pause after a change
	assert.Equal(t, before, s.checkCount.Load(), "a change of what no check reads")

	update(map[string]string{"message": "It is down."})
	assert.Equal(t, "It is down.", s.waitStatus(gardencorev1beta1.ConditionFalse).Message)
	update(map[string]string{"healthy": "true"})
	s.waitStatus(gardencorev1beta1.ConditionTrue)
	require.NoError(t, s.server.Client.Delete(t.Context(), component("component", nil)))
	assert.Equal(t, "It does not exist.", s.waitStatus(gardencorev1beta1.ConditionFalse).Message)
	require.NoError(t, s.server.Client.Create(t.Context(), component("component", map[string]string{"healthy": "true"})))
	s.waitStatus(gardencorev1beta1.ConditionTrue)
}

func TestHealth_CheckAfterOperation(t *testing.T) {
	s := newHealthEnvironment(t)
	s.healthOptions.HealthInterval = time.Hour
	s.setCheck(func(_ context.Context, input contract.CheckInput[*object]) (contract.Findings, error) {
		failed := input.Object.Status.LastError != nil
		return contract.Findings{healthy: {Healthy: !failed}}, nil
	})
	s.create()
	s.waitStatus(gardencorev1beta1.ConditionTrue)
	require.NoError(t, s.PatchStatus(t.Context(), func(o *object) {
		o.Status.LastError = &gardencorev1beta1.LastError{Description: "no quota is left"}
	}))
	s.waitStatus(gardencorev1beta1.ConditionFalse)

	// A quick reconciliation leaves the state Succeeded, and may change only what the check reads.
	var message atomic.Value
	message.Store("before")
	s.setCheck(func(context.Context, contract.CheckInput[*object]) (contract.Findings, error) {
		return contract.Findings{healthy: {Healthy: true, Message: message.Load().(string)}}, nil
	})
	require.NoError(t, s.PatchStatus(t.Context(), func(o *object) { o.Status.LastError = nil }))
	s.waitStatus(gardencorev1beta1.ConditionTrue)
	time.Sleep(3 * time.Second) // for the checks that this has started
	message.Store("after")
	require.NoError(t, s.Backdate(t.Context(), longAgo))
	require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
	s.wait(func(o *object) error {
		condition := v1beta1helper.GetCondition(o.Status.Conditions, healthy)
		return errorUnless(condition.Message == "after", "the condition has the message of the former check")
	})
}

func TestHealth_ChecksOfUnchangedObjects(t *testing.T) {
	s := newHealthEnvironment(t)
	s.healthOptions.HealthInterval = 200 * time.Millisecond
	s.create()
	s.waitStatus(gardencorev1beta1.ConditionTrue)
	require.NoError(t, s.PatchStatus(t.Context(), func(o *object) {
		condition := v1beta1helper.GetCondition(o.Status.Conditions, healthy)
		condition.LastTransitionTime = metav1.NewTime(time.Now().Add(-time.Hour))
		o.Status.Conditions = v1beta1helper.MergeConditions(o.Status.Conditions, *condition)
	}))
	time.Sleep(time.Second) // the next check sees the time
	before, since := s.checkCount.Load(), time.Now()
	time.Sleep(4 * time.Second)
	checks := s.checkCount.Load() - before
	assert.LessOrEqual(t, int(checks), 1+int(time.Since(since)/(1900*time.Millisecond)), "2 s pass between two checks, not 200 ms")
}
