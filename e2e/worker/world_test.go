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
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/ground"
	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// controllerName is the name of the controller, its rights and its namespace.
const controllerName = "worker-controller"

// world is the ground, the seed that hosts the shoot at the moment, and what runs there.
type world struct {
	*ground.Ground
	seed        *ground.Seed
	binary      string
	controllers []*controller.Controller
	// machines are the pods of machine-controller-manager in the seed, machinesThere those in the destination, nodes what runs on the shoot's
	// machines.
	machines, machinesThere *mcm.Pods
	nodes                   *nodes.Nodes
	// site is what the shoot's machines are in, infrastructure all that there is of it.
	site           openstackv1alpha1.InfrastructureStatus
	infrastructure []string
	// untouched is what there was before the first Worker.
	untouched groundtest.Landscape
}

// newWorld returns a world with a shoot whose infrastructure is ready, and that has no machines.
func newWorld(t *testing.T, options ground.Options) *world {
	t.Helper()
	programs, err := assets.Ensure(t.Context(), os.Stderr, assets.Machines()...)
	require.NoError(t, err)
	w := &world{Ground: groundtest.New(t, options)}
	w.seed = w.Source
	w.binary, err = controller.Worker().Build(t.Context(), false)
	require.NoError(t, err)
	machineController, err := controller.Machine().Build(t.Context(), false)
	require.NoError(t, err)
	w.site = groundtest.MakeInfrastructure(t, w.Ground)
	w.infrastructure = w.inventory(t)
	openstack.OfferMachines(w.Shoot, w.Cloud)
	w.Shoot.Credentials["authURL"] = []byte(w.Cloud.AuthURL()) // as the webhook of the controlplane-controller completes them
	w.Cloud.StandIn.SetTransition(fake.ServerBuild, fake.Transition{After: 300 * time.Millisecond})

	run := mcm.Options{
		Manager: filepath.Join(programs, "machine-controller-manager"), MachineController: machineController,
		Flags: map[string]string{"resource-exhausted-retry": "5s"},
	}
	for _, s := range []*ground.Seed{w.Source, w.Destination} {
		if s != nil {
			run.Dir = t.TempDir()
			w.runMachines(t, s, run)
		}
	}
	w.nodes, err = nodes.Start(t.Context(), w.Cluster.Config, w.Account.Servers(w.Shoot, w.Cloud.Region()))
	require.NoError(t, err)
	t.Cleanup(w.nodes.Stop)
	w.untouched = w.look(t)
	return w
}

// runMachines runs machine-controller-manager in a seed, until the test ends.
func (w *world) runMachines(t *testing.T, s *ground.Seed, options mcm.Options) {
	t.Helper()
	pods := mcm.Start(t.Context(), s.Seed, options)
	if s == w.seed {
		w.machines = pods
	} else {
		w.machinesThere = pods
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
func (w *world) removeManager(t *testing.T) {
	t.Helper()
	for _, container := range []string{mcm.Manager, mcm.MachineController} {
		w.machines.Kill(w.Shoot.Namespace(), container) // what it watches is recorded when it ends
	}
	groundtest.AwaitNothingRefused(t, w.seed.AuditLog(), audit.UserOf(w.Shoot.Namespace(), mcm.Manager))
	groundtest.AwaitNothingRefused(t, w.Cluster.AuditLog(), audit.UserOf(metav1.NamespaceSystem, mcm.Manager))
	require.NoError(t, w.seed.Gardenlet.RemoveMachineControllerManager(t.Context(), w.Shoot))
}

// look lists what there is in both clusters, but for the controller's own.
func (w *world) look(t *testing.T) groundtest.Landscape {
	t.Helper()
	return groundtest.Look(t, w.seed, w.Cluster, controllerName)
}

// startController starts the controller, and waits until its webhooks are called.
func (w *world) startController(t *testing.T) {
	t.Helper()
	require.Empty(t, w.controllers, "one controller at a time")
	w.startOneMore(t, controller.Options{})
}

func (w *world) startOneMore(t *testing.T, options controller.Options) {
	t.Helper()
	what := controller.Worker()
	args, err := what.WebhookArgs()
	require.NoError(t, err)
	options.Path, options.Args = w.binary, args
	started, err := w.seed.StartController(t.Context(), what, options)
	require.NoError(t, err)
	require.NoError(t, what.AwaitWebhooks(t.Context(), w.seed.Client))
	w.controllers = append(w.controllers, started)
}

// stopController asks the controller to end, which it must do in good order. All it had to write is written afterwards.
func (w *world) stopController(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, running := range w.controllers {
		assert.NoError(t, running.Terminate(ctx))
	}
	w.controllers = nil
}

// killController ends the controller as a power failure would.
func (w *world) killController() {
	for _, running := range w.controllers {
		running.Kill()
	}
	w.controllers = nil
}

// prepare does what gardenlet does before each flow of the Worker.
func (w *world) prepare(t *testing.T) {
	t.Helper()
	require.NoError(t, w.seed.Gardenlet.Prepare(t.Context(), w.Shoot))
	require.NoError(t, w.seed.Gardenlet.PrepareWorker(t.Context(), w.Shoot))
	api := gardenlet.APIServer{URL: w.Cluster.URL(), CA: w.Cluster.CA}
	require.NoError(t, w.seed.Gardenlet.DeployMachineControllerManager(t.Context(), w.Shoot, api))
	w.passSecond(t)
}

// order asks for the shoot's Worker as it is now described. What it returns knows what there was before.
func (w *world) order(t *testing.T) gardenletworker.Interface {
	t.Helper()
	w.prepare(t)
	component := w.component(t)
	require.NoError(t, component.Deploy(t.Context()))
	return component
}

// fulfil orders the shoot's Worker and waits for it, as gardenlet does. It leaves no state behind.
func (w *world) fulfil(t *testing.T) gardenletworker.Interface {
	t.Helper()
	component := w.order(t)
	w.await(t, component)
	return component
}

func (w *world) await(t *testing.T, component gardenletworker.Interface) {
	t.Helper()
	require.NoError(t, component.WaitUntilWorkerStatusMachineDeploymentsUpdated(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	assert.Nil(t, w.object(t).Status.State, "it is gardenlet's")
	w.Shoot.LastOperationType, w.Shoot.LastOperationState = gardencorev1beta1.LastOperationTypeReconcile, gardencorev1beta1.LastOperationStateSucceeded
}

// component returns gardenlet's for the shoot's Worker.
func (w *world) component(t *testing.T) gardenletworker.Interface {
	t.Helper()
	component, err := w.seed.Gardenlet.Worker(w.Shoot)
	require.NoError(t, err)
	return component
}

// destroy deletes the shoot's Worker and waits until it is gone, as gardenlet does.
func (w *world) destroy(t *testing.T) {
	t.Helper()
	w.orderDeletion(t)
	require.NoError(t, w.component(t).WaitCleanup(t.Context()))
}

func (w *world) orderDeletion(t *testing.T) {
	t.Helper()
	w.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeDelete
	w.prepare(t)
	require.NoError(t, w.component(t).Destroy(t.Context()))
}

// object reads the shoot's Worker.
func (w *world) object(t *testing.T) *extensionsv1alpha1.Worker {
	t.Helper()
	object, err := w.seed.Gardenlet.GetWorker(t.Context(), w.Shoot)
	require.NoError(t, err)
	return object
}

// passSecond waits until the clock shows a later second than that of the last operation, if there was one: Gardener compares the
// time of an order with that of an operation by whole seconds.
func (w *world) passSecond(t *testing.T) {
	t.Helper()
	object, err := w.seed.Gardenlet.GetWorker(t.Context(), w.Shoot)
	require.NoError(t, client.IgnoreNotFound(err))
	if err != nil || object.Status.LastOperation == nil {
		return
	}
	last := object.Status.LastOperation.LastUpdateTime.Time
	groundtest.Eventually(t, "the next second begins", func() bool { return time.Now().Truncate(time.Second).After(last) })
}

// writes returns what controllers have written in the shoot's namespace. It is complete when no controller runs.
func (w *world) writes(t *testing.T) []audit.Write {
	t.Helper()
	writes, err := w.seed.Writes(w.Shoot.Namespace())
	require.NoError(t, err)
	return writes
}
