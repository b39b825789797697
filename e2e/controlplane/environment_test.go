package controlplane

import (
	"context"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// controllerName is the name of the controller, its rights and its namespace.
const controllerName = "controlplane-controller"

// environment has the clusters, the seed that hosts the shoot, and the running controller, if any.
type environment struct {
	*clusters.Clusters
	// openstack is the cloud of a shoot in OpenStack.
	openstack *openstack.Clusters
	// upstream is the extension that simulateUpstream simulates.
	upstream   upstreamExtension
	what       controller.Binary
	seed       *clusters.Seed
	binary     string
	controller *controller.Controller
	site       site
	// ccm is the shoot's cloud-controller-manager while it runs.
	ccm *running
	// manilaCredentials are the user's credentials for Manila only.
	manilaCredentials map[string][]byte
	// dir has files that several parts use.
	dir string
	// initial are the objects before the first ControlPlane.
	initial clusterstest.Snapshot
	// fromUpstream are the objects before an adoption.
	fromUpstream clusterstest.Snapshot
}

// newEnvironment returns an environment with a shoot whose infrastructure is ready.
func newEnvironment(t *testing.T) *environment {
	t.Helper()
	env := newEnvironmentIn(t, clusters.Options{Cloud: openstack.OpenFake, Seeds: 2}, controller.ControlPlane(), upstreamOpenStack())
	env.openstack = openstack.In(env.Clusters)
	env.makeSite(t)
	env.initial = env.snapshot(t)
	t.Cleanup(func() {
		if env.ccm != nil {
			env.ccm.Stop()
		}
	})
	return env
}

// newEnvironmentIn returns an environment with a shoot that has no infrastructure.
func newEnvironmentIn(t *testing.T, options clusters.Options, what controller.Binary, upstream upstreamExtension) *environment {
	t.Helper()
	env := &environment{Clusters: clusterstest.NewHosting(t, options), dir: t.TempDir(), what: what, upstream: upstream}
	env.seed = env.Source
	var err error
	env.binary, err = what.Build(t.Context())
	require.NoError(t, err)
	return env
}

// snapshot lists the objects of both clusters without the controller's own.
func (env *environment) snapshot(t *testing.T) clusterstest.Snapshot {
	t.Helper()
	return clusterstest.TakeSnapshot(t, env.seed, env.Cluster, controllerName)
}

// startController starts the controller, and waits until it is ready.
func (env *environment) startController(t *testing.T) {
	t.Helper()
	require.Nil(t, env.controller, "one controller at a time")
	var err error
	env.controller, err = env.seed.StartController(t.Context(), env.what, controller.Options{
		Path: env.binary, Args: []string{"--disable-webhooks=*"},
	})
	require.NoError(t, err)
}

// stopController terminates the controller, which must succeed. Afterwards its last writes are done.
func (env *environment) stopController(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	assert.NoError(t, env.controller.Terminate(ctx))
	env.controller = nil
}

// killController kills the controller.
func (env *environment) killController() {
	env.controller.Kill()
	env.controller = nil
}

// requestReconcile requests a reconciliation of the shoot's ControlPlane with its present description.
func (env *environment) requestReconcile(t *testing.T) {
	t.Helper()
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))
	env.waitNextSecond(t)
	require.NoError(t, env.seed.Gardenlet.ControlPlane(env.Shoot).Deploy(t.Context()))
}

// reconcile reconciles the shoot's ControlPlane and waits for it, as gardenlet does.
func (env *environment) reconcile(t *testing.T) {
	t.Helper()
	env.requestReconcile(t)
	require.NoError(t, env.seed.Gardenlet.ControlPlane(env.Shoot).Wait(t.Context()))
}

// destroy deletes the shoot's ControlPlane and waits until it is gone, as gardenlet does.
func (env *environment) destroy(t *testing.T) {
	t.Helper()
	component := env.seed.Gardenlet.ControlPlane(env.Shoot)
	require.NoError(t, component.Destroy(t.Context()))
	require.NoError(t, component.WaitCleanup(t.Context()))
}

// object reads the shoot's ControlPlane.
func (env *environment) object(t *testing.T) *extensionsv1alpha1.ControlPlane {
	t.Helper()
	object, err := env.seed.Gardenlet.GetControlPlane(t.Context(), env.Shoot)
	require.NoError(t, err)
	return object
}

// waitNextSecond waits for the second after the last operation, if there was one.
func (env *environment) waitNextSecond(t *testing.T) {
	t.Helper()
	object, err := env.seed.Gardenlet.GetControlPlane(t.Context(), env.Shoot)
	require.NoError(t, client.IgnoreNotFound(err))
	if err != nil || object.Status.LastOperation == nil {
		return
	}
	gardenlet.AwaitNextSecond(object.Status.LastOperation.LastUpdateTime.Time)
}

// writes returns the writes of controllers in the shoot's namespace. It is complete once no controller runs.
func (env *environment) writes(t *testing.T) []audit.Write {
	t.Helper()
	writes, err := env.seed.Writes(env.Shoot.Namespace())
	require.NoError(t, err)
	return writes
}

// genericKubeconfig returns the name of the Secret with the kubeconfig of all components.
func (env *environment) genericKubeconfig(t *testing.T) string {
	t.Helper()
	cluster := &extensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: env.Shoot.Namespace()}}
	require.True(t, clusterstest.Get(t, env.seed.Client, cluster))
	return cluster.Annotations["generic-token-kubeconfig.secret.gardener.cloud/name"]
}

// get reads an object of the shoot's namespace in the seed, and reports whether it exists.
func (env *environment) get(t *testing.T, object client.Object) bool {
	t.Helper()
	object.SetNamespace(env.Shoot.Namespace())
	return clusterstest.Get(t, env.seed.Client, object)
}
