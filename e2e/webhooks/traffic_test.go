package webhooks

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/components"
)

// traffic is clients that create, update and delete what the webhooks are for, each again and again.
type traffic struct {
	requests, handshakes atomic.Int64
	stop                 func()

	mutex    sync.Mutex
	failures []string
	// replicasMutex is held while handshakes are made with the replicas.
	replicasMutex sync.Mutex
	replicas      []*replica
}

// workItem is what one client works on: an object as gardenlet wants it, and as the webhooks make it.
type workItem struct{ before, after *unstructured.Unstructured }

// startTraffic starts a client for each webhook in each of two shoots, and one that makes handshakes with all replicas.
func (env *environment) startTraffic(t *testing.T, replicas ...*replica) *traffic {
	t.Helper()
	require.NoError(t, components.DeployEtcds(t.Context(), env.Client, env.reference, "1.36.3"))
	created := env.stored(t, etcdNamed(env.reference, "etcd-main"))
	require.NoError(t, env.Client.Delete(t.Context(), created.DeepCopy()))
	var work []workItem
	for _, name := range []string{"busy", "busier"} {
		shoot := newShoot(name)
		env.prepare(t, shoot)
		secret := &unstructured.Unstructured{}
		secret.SetAPIVersion("v1")
		secret.SetKind("Secret")
		secret.SetName("cloudprovider")
		secret.SetLabels(map[string]string{"gardener.cloud/purpose": "cloudprovider"})
		secret.SetNamespace(shoot.Namespace())
		require.NoError(t, env.Client.Delete(t.Context(), secret.DeepCopy()))
		etcd := &unstructured.Unstructured{Object: content(created)}
		etcd.SetNamespace(shoot.Namespace())
		for _, before := range []*unstructured.Unstructured{
			secret, etcd,
			golden(t, "1.36", "kube-controller-manager.before", shoot.Namespace()),
			golden(t, "1.36", "osc-reconcile.before", shoot.Namespace()),
		} {
			after := before.DeepCopy()
			require.NoError(t, env.Client.Create(t.Context(), after, client.DryRunAll))
			require.NotEqual(t, content(env.untouched(t, before)), content(after), "%s is tuned", before.GetKind())
			work = append(work, workItem{before, after})
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	tr := &traffic{replicas: replicas}
	var workers sync.WaitGroup
	for _, item := range work {
		workers.Go(func() { tr.repeat(ctx, func() error { return env.runWorkItem(ctx, tr, item) }) })
	}
	workers.Go(func() { tr.repeat(ctx, func() error { return env.checkHandshakes(ctx, tr) }) })
	tr.stop = sync.OnceFunc(func() {
		cancel()
		workers.Wait()
	})
	t.Cleanup(func() { tr.stop() })
	return tr
}

// repeat does something until ctx ends, and leaves the machine a little time for other things.
func (tr *traffic) repeat(ctx context.Context, do func() error) {
	for ctx.Err() == nil {
		if err := do(); err != nil && ctx.Err() == nil {
			tr.mutex.Lock()
			tr.failures = append(tr.failures, time.Now().Format(time.TimeOnly)+" "+err.Error())
			tr.mutex.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// runWorkItem is the life of one object.
func (env *environment) runWorkItem(ctx context.Context, tr *traffic, item workItem) error {
	object := item.before.DeepCopy()
	if err := env.Client.Create(ctx, object); err != nil {
		return fmt.Errorf("creating %s: %w", object.GetKind(), err)
	}
	// An object that is left behind would fail all later creations.
	defer func() { _ = env.Client.Delete(context.WithoutCancel(ctx), object) }()
	tr.requests.Add(1)
	if !reflect.DeepEqual(content(object), content(item.after)) {
		return fmt.Errorf("%s is not tuned when it is created", object.GetKind())
	}
	again := item.before.DeepCopy()
	again.SetResourceVersion(object.GetResourceVersion())
	if err := env.Client.Update(ctx, again); err != nil {
		return fmt.Errorf("updating %s: %w", object.GetKind(), err)
	}
	tr.requests.Add(1)
	if !reflect.DeepEqual(content(again), content(item.after)) {
		return fmt.Errorf("%s is not tuned when it is updated", object.GetKind())
	}
	return nil
}

// checkHandshakes is an API server that does not know any replica yet, and trusts what is registered at the moment.
func (env *environment) checkHandshakes(ctx context.Context, tr *traffic) error {
	tr.replicasMutex.Lock()
	defer tr.replicasMutex.Unlock()
	current := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := env.Client.Get(ctx, client.ObjectKey{Name: registration}, current); err != nil {
		return err
	}
	for _, r := range tr.replicas {
		if _, err := handshake(r.address, env.loadBalancer.host, current.Webhooks[0].ClientConfig.CABundle); err != nil {
			return fmt.Errorf("handshake with %s: %w", r.address, err)
		}
		tr.handshakes.Add(1)
	}
	return nil
}

// setReplicas replaces the replicas that handshakes are made with. Those before see no more of them.
func (tr *traffic) setReplicas(replicas ...*replica) {
	tr.replicasMutex.Lock()
	defer tr.replicasMutex.Unlock()
	tr.replicas = replicas
}

// waitForMore waits until the traffic has gone on for some time.
func (tr *traffic) waitForMore(t *testing.T, atLeast time.Duration) {
	t.Helper()
	start, requests, handshakes := time.Now(), tr.requests.Load(), tr.handshakes.Load()
	eventually(t, "the traffic has gone on", func() bool {
		return time.Since(start) > atLeast && tr.requests.Load() > requests+50 && tr.handshakes.Load() > handshakes+10
	})
}

// check ends the traffic, of which nothing may have failed.
func (tr *traffic) check(t *testing.T) {
	t.Helper()
	tr.stop()
	assert.Empty(t, tr.failures, "no request may fail")
	assert.Greater(t, tr.requests.Load(), int64(200))
	assert.Greater(t, tr.handshakes.Load(), int64(50))
	t.Logf("%d requests and %d handshakes", tr.requests.Load(), tr.handshakes.Load())
}
