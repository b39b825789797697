package example

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/example"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
)

// maxIdleMemory bounds the private memory of a controller without objects, however many drivers it links.
const maxIdleMemory = 12_000_000

// environment has the clusters of a shoot of the example provider.
type environment struct {
	*clusters.Clusters
	cloud *example.Cloud
}

// The parts follow one another.
func TestExample(t *testing.T) {
	c := clusterstest.New(t, clusters.Options{Cloud: example.OpenFake, Machines: true})
	clusterstest.AssertNoErrors(t, c)
	env := &environment{Clusters: c, cloud: c.Cloud.(*example.Cloud)}
	account := env.cloud.Account()
	env.startControllers(t) // before the shoot's namespace is filled, since a webhook completes the credentials
	shoot := account.NewShoot("one")
	account.OfferMachines(shoot)
	shoot.Workers = []gardencorev1beta1.Worker{example.NewPool("pool", 2)}
	require.NoError(t, env.StartCluster(t.Context(), shoot))
	env.startMachines(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"Create", env.testCreate},
		{"NoOp", env.testNoOp},
		{"Scale", env.testScale},
		{"Delete", env.testDelete},
	} {
		require.True(t, t.Run(part.name, part.run))
	}
	clusterstest.AssertNoWriteForbidden(t, env.Source.Seed)
}

// startControllers starts all four controllers, each for the example provider alone.
func (env *environment) startControllers(t *testing.T) {
	t.Helper()
	for _, build := range []func() (controller.Binary, error){example.Infrastructure, example.ControlPlane, example.Network, example.Worker} {
		what, err := build()
		require.NoError(t, err)
		path, err := what.Build(t.Context())
		require.NoError(t, err)
		options := controller.Options{Path: path}
		hasWebhooks := what.Name == "controlplane-controller" || what.Name == "worker-controller"
		if hasWebhooks {
			options.Args, err = what.WebhookArgs()
			require.NoError(t, err)
		}
		started, err := env.Source.StartController(t.Context(), what, options)
		require.NoError(t, err)
		if hasWebhooks {
			require.NoError(t, what.AwaitWebhooks(t.Context(), env.Source.Client))
		}
		memory, err := started.Memory()
		require.NoError(t, err)
		t.Logf("%s has %d kB of private memory", what.Name, memory.Private/1024)
		assert.LessOrEqual(t, memory.Private, int64(maxIdleMemory), "private memory of %s without objects", what.Name)
	}
}

// startMachines runs machine-controller-manager with the machine controller of the example provider.
func (env *environment) startMachines(t *testing.T) {
	t.Helper()
	path, err := example.Machine().Build(t.Context())
	require.NoError(t, err)
	require.NoError(t, env.StartMachines(t.Context(), clusters.MachineOptions{Controller: path}))
}

// testCreate creates all extension objects in gardenlet's order.
func (env *environment) testCreate(t *testing.T) {
	env.reconcile(t)
	resources := env.resources(t)
	assert.Len(t, resources, 4, "a network, a subnet and two servers")
	assert.Contains(t, resources, "networks networks-1 "+env.Shoot.Namespace())
	assert.Contains(t, resources, "subnets subnets-2 "+env.Shoot.Namespace())
	assert.Len(t, env.readyNodes(t), 2)
	secret := &corev1.Secret{}
	require.NoError(t, env.Source.Client.Get(t.Context(), client.ObjectKey{Namespace: env.Shoot.Namespace(), Name: "cloudprovider"}, secret))
	assert.Equal(t, env.cloud.URL(), string(secret.Data["url"]), "the webhook has added it")
	env.awaitHealthy(t)
}

// testNoOp reconciles again: nothing in the cloud changes.
func (env *environment) testNoOp(t *testing.T) {
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
	before := env.resources(t)
	env.cloud.ResetLog()
	env.reconcile(t)
	assert.Equal(t, before, env.resources(t))
	for _, call := range env.cloud.Log() {
		assert.False(t, call.IsWrite(), call.String())
	}
}

// testScale adds a machine.
func (env *environment) testScale(t *testing.T) {
	env.Shoot.Workers = []gardencorev1beta1.Worker{example.NewPool("pool", 3)}
	env.reconcile(t)
	assert.Len(t, env.resources(t), 5)
	assert.Len(t, env.readyNodes(t), 3)
}

// testDelete deletes all extension objects in gardenlet's order: nothing is left in the cloud.
func (env *environment) testDelete(t *testing.T) {
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeDelete
	them := env.Source.Gardenlet
	require.NoError(t, them.Prepare(t.Context(), env.Shoot))
	require.NoError(t, them.PrepareMachines(t.Context(), env.Shoot, env.apiServer()))
	require.NoError(t, them.DestroyWorker(t.Context(), env.Shoot))
	network, err := them.Network(env.Shoot)
	require.NoError(t, err)
	plane, infrastructure := them.ControlPlane(env.Shoot), them.Infrastructure(env.Shoot)
	for _, component := range []interface {
		Destroy(ctx context.Context) error
		WaitCleanup(ctx context.Context) error
	}{network, plane, infrastructure} {
		require.NoError(t, component.Destroy(t.Context()))
		require.NoError(t, component.WaitCleanup(t.Context()))
	}
	require.NoError(t, env.Account.Remove(t.Context()))
}

// reconcile reconciles all extension objects in gardenlet's order, and waits for them.
func (env *environment) reconcile(t *testing.T) {
	t.Helper()
	gardenlet.AwaitNextSecond(time.Now())
	them := env.Source.Gardenlet
	require.NoError(t, them.Prepare(t.Context(), env.Shoot))
	infrastructure := them.Infrastructure(env.Shoot)
	require.NoError(t, infrastructure.Deploy(t.Context()))
	require.NoError(t, infrastructure.Wait(t.Context()))
	env.Shoot.InfrastructureStatus = json.RawMessage(infrastructure.ProviderStatus().Raw)
	plane := them.ControlPlane(env.Shoot)
	require.NoError(t, plane.Deploy(t.Context()))
	require.NoError(t, plane.Wait(t.Context()))
	network, err := them.Network(env.Shoot)
	require.NoError(t, err)
	require.NoError(t, network.Deploy(t.Context()))
	require.NoError(t, network.Wait(t.Context()))
	require.NoError(t, them.PrepareMachines(t.Context(), env.Shoot, env.apiServer()))
	require.NoError(t, them.ReconcileWorker(t.Context(), env.Shoot))
}

func (env *environment) apiServer() gardenlet.APIServer {
	return gardenlet.APIServer{URL: env.Cluster.URL(), CA: env.Cluster.CA}
}

// resources names the shoot's resources in the cloud.
func (env *environment) resources(t *testing.T) []string {
	t.Helper()
	names, err := env.cloud.Names(t.Context(), string(env.Shoot.UID))
	require.NoError(t, err)
	return names
}

// readyNodes names the ready nodes of the shoot.
func (env *environment) readyNodes(t *testing.T) (names []string) {
	t.Helper()
	list := &corev1.NodeList{}
	require.NoError(t, env.Cluster.Client.List(t.Context(), list))
	for _, node := range list.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				names = append(names, node.Name)
			}
		}
	}
	return names
}

// awaitHealthy waits until all conditions are True.
func (env *environment) awaitHealthy(t *testing.T) {
	t.Helper()
	them := env.Source.Gardenlet
	clusterstest.Eventually(t, "the shoot is healthy", func() bool {
		plane, err := them.GetControlPlane(t.Context(), env.Shoot)
		require.NoError(t, err)
		network, err := them.GetNetwork(t.Context(), env.Shoot)
		require.NoError(t, err)
		worker, err := them.GetWorker(t.Context(), env.Shoot)
		require.NoError(t, err)
		return clusterstest.IsTrue(plane.Status.Conditions, gardencorev1beta1.ShootControlPlaneHealthy) &&
			clusterstest.IsTrue(network.Status.Conditions, gardencorev1beta1.ShootSystemComponentsHealthy) &&
			clusterstest.IsTrue(worker.Status.Conditions, gardencorev1beta1.ShootEveryNodeReady)
	})
}
