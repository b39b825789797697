package shoot_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/grm"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
	"github.com/trellis-garden/trellis/e2e/internal/shoot"
)

// ground is a seed, and a shoot whose control plane runs there.
type ground struct {
	programs  string
	seed      *seed.Seed
	cluster   *shoot.Cluster
	gardenlet *gardenlet.Gardenlet
	shoot     *gardenlet.Shoot
	cloud     *openstack.Cloud
	account   *openstack.Account
}

// TestControlPlaneInSeed holds what tests of control planes stand on against what a control plane is to others: objects that
// gardener-resource-manager applies, tokens, pods, and a cloud-controller-manager. Nothing of ours runs. All parts share the API
// servers and follow one another.
func TestControlPlaneInSeed(t *testing.T) {
	g := newGround(t)
	for _, part := range []struct {
		name string
		play func(*testing.T, *ground)
	}{
		{"ManagedResourceForShoot", testManagedResourceForShoot},
		{"ManagedResourceForSeed", testManagedResourceForSeed},
		{"Tokens", testTokens},
		{"Demands", testDemands},
		{"CloudControllerManager", testCloudControllerManager},
		{"Hibernation", testHibernation},
	} {
		t.Run(part.name, func(t *testing.T) { part.play(t, g) })
	}
}

func newGround(t *testing.T) *ground {
	t.Helper()
	logf.SetLogger(logr.Discard())
	programs, err := assets.Ensure(t.Context(), os.Stderr, assets.ControlPlane()...)
	require.NoError(t, err)
	g := &ground{programs: programs}
	g.seed, err = seed.Start(t.Context(), programs, t.TempDir(), seed.HostingControlPlanes())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, g.seed.Stop()) })
	g.cluster, err = shoot.Start(t.Context(), programs, t.TempDir(), g.seed.Etcd())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, g.cluster.Stop()) })

	g.cloud, err = openstack.NewFake()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, g.cloud.Close()) })
	g.account, err = g.cloud.NewAccount(t.Context(), "shoot")
	require.NoError(t, err)
	g.shoot = openstack.NewShoot("one", g.cloud, g.account)
	g.gardenlet = gardenlet.New(g.seed.Client)
	require.NoError(t, g.gardenlet.Prepare(t.Context(), g.shoot))

	dir := t.TempDir()
	manager, err := grm.ForSeed(t.Context(), programs, filepath.Join(dir, "seed"), g.seed.Kubeconfig)
	require.NoError(t, err)
	endWith(t, manager)
	manager, err = grm.ForShoot(t.Context(), programs, filepath.Join(dir, "shoot"), g.seed.Kubeconfig, g.shoot.Namespace(), g.cluster.Kubeconfig)
	require.NoError(t, err)
	endWith(t, manager)
	require.NoError(t, g.gardenlet.PrepareControlPlane(t.Context(), g.shoot, gardenlet.APIServer{URL: g.cluster.URL(), CA: g.cluster.CA}))
	return g
}

// endWith ends a process with the test, and shows what it said if the test failed.
func endWith(t *testing.T, p *process.Process) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		assert.NoError(t, p.Terminate(ctx))
		logTail(t, p)
	})
}

// logTail shows the last that a process said if the test failed.
func logTail(t *testing.T, p *process.Process) {
	if t.Failed() {
		output, _ := p.Output()
		lines := strings.Split(output, "\n")
		t.Log(strings.Join(lines[max(0, len(lines)-30):], "\n"))
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 2*time.Minute, 50*time.Millisecond, what)
}

// get reads an object, and tells whether it is there.
func get(t *testing.T, c client.Client, object client.Object) bool {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	if !apierrors.IsNotFound(err) {
		require.NoError(t, err)
	}
	return err == nil
}

// pods counts the pods of a namespace that are ready.
func (g *ground) pods(t *testing.T, c client.Client, namespace string, labels map[string]string) (ready int) {
	t.Helper()
	list := &corev1.PodList{}
	require.NoError(t, c.List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels(labels)))
	for _, pod := range list.Items {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	return ready
}
