package manager

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const heartbeatInterval = 30 * time.Second

// startHeartbeat runs a heartbeat in the test's bubble until the test ends. Renewals fail while broken is set. onRequest is called for each request of the
// heartbeat; the test's own ones count as well.
func startHeartbeat(t *testing.T, broken *atomic.Bool, onRequest ...func()) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, coordinationv1.AddToScheme(scheme))
	count := func() {
		for _, do := range onRequest {
			do()
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			count()
			return c.Get(ctx, key, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			count()
			if broken.Load() {
				return errors.New("the API server is on strike")
			}
			return c.Update(ctx, o, opts...)
		},
	}).Build()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	h := &heartbeat{client: c, namespace: "extension-x", holder: "pod-1", interval: heartbeatInterval, log: logr.Discard()}
	go func() { ended <- h.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	synctest.Wait()
	return c
}

func leaseOf(t *testing.T, c client.Client) coordinationv1.LeaseSpec {
	t.Helper()
	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: "extension-x", Name: "gardener-extension-heartbeat"}
	require.NoError(t, c.Get(t.Context(), key, lease))
	return lease.Spec
}

func TestHeartbeat_RenewedEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startHeartbeat(t, &atomic.Bool{})
		first := leaseOf(t, c)
		assert.Equal(t, "pod-1", *first.HolderIdentity)
		assert.Equal(t, int32(30), *first.LeaseDurationSeconds)

		time.Sleep(heartbeatInterval)
		synctest.Wait()
		second := leaseOf(t, c)
		assert.Equal(t, heartbeatInterval, second.RenewTime.Sub(first.RenewTime.Time))
	})
}

func TestHeartbeat_APIServerErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := &atomic.Bool{}
		c := startHeartbeat(t, broken)
		before := leaseOf(t, c)

		broken.Store(true)
		time.Sleep(10 * heartbeatInterval)
		synctest.Wait()
		assert.Equal(t, before.RenewTime.UTC(), leaseOf(t, c).RenewTime.UTC(), "nothing may be written meanwhile")

		broken.Store(false)
		time.Sleep(heartbeatRetry)
		synctest.Wait()
		assert.True(t, leaseOf(t, c).RenewTime.After(before.RenewTime.Time), "it must beat soon after the strike is over")
	})
}

func TestHeartbeat_LeaseOfOthers(t *testing.T) {
	for sentence, change := range map[string]func(client.Client, *coordinationv1.Lease) error{
		"somebody has changed it": func(c client.Client, lease *coordinationv1.Lease) error {
			lease.Spec.HolderIdentity = new("pod-2")
			return c.Update(t.Context(), lease)
		},
		"somebody has deleted it": func(c client.Client, lease *coordinationv1.Lease) error { return c.Delete(t.Context(), lease) },
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := startHeartbeat(t, &atomic.Bool{})
				before := &coordinationv1.Lease{}
				require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "extension-x", Name: "gardener-extension-heartbeat"}, before))
				require.NoError(t, change(c, before.DeepCopy()))

				time.Sleep(heartbeatInterval)
				synctest.Wait()
				after := leaseOf(t, c)
				assert.Equal(t, "pod-1", *after.HolderIdentity)
				assert.Equal(t, heartbeatInterval, after.RenewTime.Sub(before.Spec.RenewTime.Time), "the next renewal is not later than usual")
			})
		})
	}
}

func TestHeartbeat_OneRequestPerRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int32
		count := func() { requests.Add(1) }
		startHeartbeat(t, &atomic.Bool{}, count)
		first := requests.Load()
		time.Sleep(5 * heartbeatInterval)
		synctest.Wait()
		assert.Equal(t, first+5, requests.Load())
	})
}

func TestHeartbeat_NeedsLeaderElection(t *testing.T) {
	assert.True(t, (&heartbeat{}).NeedLeaderElection())
}
