package worker

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	gardenletworker "github.com/gardener/gardener/pkg/component/extensions/worker"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// controllerName is the name of the controller, its rights and its namespace.
const controllerName = "worker-controller"

// environment is the ground, the seed that hosts the shoot at the moment, and what runs there.
type environment struct {
	*clusters.Clusters
	seed        *clusters.Seed
	binary      string
	controllers []*controller.Controller
	// machines are the pods of machine-controller-manager in the seed, destinationMachines those in the destination, nodes what runs on the shoot's
	// machines.
	machines, destinationMachines *mcm.Pods
	nodes                         *nodes.Nodes
	// site is what the shoot's machines are in, infrastructure all that there is of it.
	site           openstackv1alpha1.InfrastructureStatus
	infrastructure []string
	// initial is what there was before the first Worker.
	initial clusterstest.Snapshot
}

// newEnvironment returns a world with a shoot whose infrastructure is ready, and that has no machines.
func newEnvironment(t *testing.T, options clusters.Options) *environment {
	t.Helper()
	programs, err := assets.Ensure(t.Context(), os.Stderr, assets.Machines()...)
	require.NoError(t, err)
	env := &environment{Clusters: clusterstest.New(t, options)}
	env.seed = env.Source
	env.binary, err = controller.Worker().Build(t.Context())
	require.NoError(t, err)
	machineController, err := controller.Machine().Build(t.Context())
	require.NoError(t, err)
	env.site = clusterstest.MakeInfrastructure(t, env.Clusters)
	env.infrastructure = env.inventory(t)
	openstack.OfferMachines(env.Shoot, env.Cloud)
	env.Shoot.Credentials["authURL"] = []byte(env.Cloud.AuthURL()) // as the webhook of the controlplane-controller completes them
	env.Cloud.Fake.SetTransition(fake.ServerBuild, fake.Transition{After: 300 * time.Millisecond})

	run := mcm.Options{
		Manager: filepath.Join(programs, "machine-controller-manager"), MachineController: machineController,
		Flags: map[string]string{"resource-exhausted-retry": "5s"},
	}
	for _, s := range []*clusters.Seed{env.Source, env.Destination} {
		if s != nil {
			run.Dir = t.TempDir()
			env.runMachines(t, s, run)
		}
	}
	env.nodes, err = nodes.Start(t.Context(), env.Cluster.Config, env.Account.Servers(env.Shoot, env.Cloud.Region()))
	require.NoError(t, err)
	t.Cleanup(env.nodes.Stop)
	env.initial = env.snapshot(t)
	return env
}

// runMachines runs machine-controller-manager in a seed, until the test ends.
func (env *environment) runMachines(t *testing.T, s *clusters.Seed, options mcm.Options) {
	t.Helper()
	pods := mcm.Start(t.Context(), s.Seed, options)
	if s == env.seed {
		env.machines = pods
	} else {
		env.destinationMachines = pods
	}
	t.Cleanup(func() {
		assert.NoError(t, pods.Stop())
		if t.Failed() {
			t.Log(pods.Tails(40))
		}
	})
}

// removeManager removes machine-controller-manager as gardenlet does. Until then it must have had all the rights that it wanted, of which
// some may have come a moment after itself.
func (env *environment) removeManager(t *testing.T) {
	t.Helper()
	for _, container := range []string{mcm.Manager, mcm.MachineController} {
		env.machines.Kill(env.Shoot.Namespace(), container) // what it watches is recorded when it ends
	}
	clusterstest.AwaitNothingForbidden(t, env.seed.AuditLog(), audit.UserOf(env.Shoot.Namespace(), mcm.Manager))
	clusterstest.AwaitNothingForbidden(t, env.Cluster.AuditLog(), audit.UserOf(metav1.NamespaceSystem, mcm.Manager))
	require.NoError(t, env.seed.Gardenlet.RemoveMachineControllerManager(t.Context(), env.Shoot))
}

// snapshot lists what there is in both clusters, but for the controller's own.
func (env *environment) snapshot(t *testing.T) clusterstest.Snapshot {
	t.Helper()
	return clusterstest.TakeSnapshot(t, env.seed, env.Cluster, controllerName)
}

// startController starts the controller, and waits until its webhooks are called.
func (env *environment) startController(t *testing.T) {
	t.Helper()
	require.Empty(t, env.controllers, "one controller at a time")
	env.startOneMore(t, controller.Options{})
}

func (env *environment) startOneMore(t *testing.T, options controller.Options) {
	t.Helper()
	what := controller.Worker()
	args, err := what.WebhookArgs()
	require.NoError(t, err)
	options.Path, options.Args = env.binary, args
	started, err := env.seed.StartController(t.Context(), what, options)
	require.NoError(t, err)
	require.NoError(t, what.AwaitWebhooks(t.Context(), env.seed.Client))
	env.controllers = append(env.controllers, started)
}

// stopController asks the controller to end, which it must do in good order. All it had to write is written afterwards.
func (env *environment) stopController(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, running := range env.controllers {
		assert.NoError(t, running.Terminate(ctx))
	}
	env.controllers = nil
}

// killController ends the controller as a power failure would.
func (env *environment) killController() {
	for _, running := range env.controllers {
		running.Kill()
	}
	env.controllers = nil
}

// prepare does what gardenlet does before each flow of the Worker.
func (env *environment) prepare(t *testing.T) {
	t.Helper()
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))
	require.NoError(t, env.seed.Gardenlet.PrepareWorker(t.Context(), env.Shoot))
	api := gardenlet.APIServer{URL: env.Cluster.URL(), CA: env.Cluster.CA}
	require.NoError(t, env.seed.Gardenlet.DeployMachineControllerManager(t.Context(), env.Shoot, api))
	env.waitNextSecond(t)
}

// requestReconcile asks for the shoot's Worker as it is now described. What it returns knows what there was before.
func (env *environment) requestReconcile(t *testing.T) gardenletworker.Interface {
	t.Helper()
	env.prepare(t)
	component := env.component(t)
	require.NoError(t, component.Deploy(t.Context()))
	return component
}

// reconcile orders the shoot's Worker and waits for it, as gardenlet does. It leaves no state behind.
func (env *environment) reconcile(t *testing.T) gardenletworker.Interface {
	t.Helper()
	component := env.requestReconcile(t)
	env.await(t, component)
	return component
}

func (env *environment) await(t *testing.T, component gardenletworker.Interface) {
	t.Helper()
	require.NoError(t, component.WaitUntilWorkerStatusMachineDeploymentsUpdated(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	assert.Nil(t, env.object(t).Status.State, "it is gardenlet's")
	env.Shoot.LastOperationType, env.Shoot.LastOperationState = gardencorev1beta1.LastOperationTypeReconcile, gardencorev1beta1.LastOperationStateSucceeded
}

// component returns gardenlet's for the shoot's Worker.
func (env *environment) component(t *testing.T) gardenletworker.Interface {
	t.Helper()
	component, err := env.seed.Gardenlet.Worker(env.Shoot)
	require.NoError(t, err)
	return component
}

// destroy deletes the shoot's Worker and waits until it is gone, as gardenlet does.
func (env *environment) destroy(t *testing.T) {
	t.Helper()
	env.requestDeletion(t)
	require.NoError(t, env.component(t).WaitCleanup(t.Context()))
}

func (env *environment) requestDeletion(t *testing.T) {
	t.Helper()
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeDelete
	env.prepare(t)
	require.NoError(t, env.component(t).Destroy(t.Context()))
}

// object reads the shoot's Worker.
func (env *environment) object(t *testing.T) *extensionsv1alpha1.Worker {
	t.Helper()
	object, err := env.seed.Gardenlet.GetWorker(t.Context(), env.Shoot)
	require.NoError(t, err)
	return object
}

// waitNextSecond waits until the clock shows a later second than that of the last operation, if there was one: Gardener compares the
// time of an order with that of an operation by whole seconds.
func (env *environment) waitNextSecond(t *testing.T) {
	t.Helper()
	object, err := env.seed.Gardenlet.GetWorker(t.Context(), env.Shoot)
	require.NoError(t, client.IgnoreNotFound(err))
	if err != nil || object.Status.LastOperation == nil {
		return
	}
	last := object.Status.LastOperation.LastUpdateTime.Time
	clusterstest.Eventually(t, "the next second begins", func() bool { return time.Now().Truncate(time.Second).After(last) })
}

// writes returns what controllers have written in the shoot's namespace. It is complete when no controller runs.
func (env *environment) writes(t *testing.T) []audit.Write {
	t.Helper()
	writes, err := env.seed.Writes(env.Shoot.Namespace())
	require.NoError(t, err)
	return writes
}
