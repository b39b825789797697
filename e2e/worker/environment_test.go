package worker

import (
	"context"
	"encoding/json"
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
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// controllerName is the name of the controller, its rights and its namespace.
const controllerName = "worker-controller"

// environment has the clusters, the seed that hosts the shoot, and its running controllers.
type environment struct {
	*clusters.Clusters
	// openstack is the cloud of a shoot in OpenStack.
	openstack   *openstack.Clusters
	adoption    adoption
	what        controller.Binary
	seed        *clusters.Seed
	binary      string
	controllers []*controller.Controller
	// site is the status of the Infrastructure, infrastructure its resources.
	site           openstackv1alpha1.InfrastructureStatus
	infrastructure []string
	// initial are the objects before the first Worker.
	initial clusterstest.Snapshot
}

// newEnvironment returns an environment with a shoot whose Infrastructure is ready, without machines.
func newEnvironment(t *testing.T, options clusters.Options) *environment {
	t.Helper()
	options.Cloud = openstack.OpenFake
	env := newEnvironmentIn(t, options, controller.Worker(), adoptionFromOpenStack())
	env.openstack = openstack.In(env.Clusters)
	require.NoError(t, json.Unmarshal(clusterstest.MakeInfrastructure(t, env.Clusters), &env.site))
	env.Shoot.Credentials["authURL"] = []byte(env.openstack.Cloud.AuthURL()) // as the webhook of the controlplane-controller completes them
	env.openstack.Cloud.Fake.SetTransition(fake.ServerBuild, fake.Transition{After: 300 * time.Millisecond})
	env.startMachines(t)
	return env
}

// newEnvironmentIn returns an environment with a shoot that has no Infrastructure.
func newEnvironmentIn(t *testing.T, options clusters.Options, what controller.Binary, adoption adoption) *environment {
	t.Helper()
	options.Machines = true
	env := &environment{Clusters: clusterstest.NewHosting(t, options), what: what, adoption: adoption}
	env.seed = env.Source
	var err error
	env.binary, err = what.Build(t.Context())
	require.NoError(t, err)
	return env
}

// startMachines makes machines possible, once the shoot has its Infrastructure.
func (env *environment) startMachines(t *testing.T) {
	t.Helper()
	account, err := cloud.WithMachines(env.Account)
	require.NoError(t, err)
	account.OfferMachines(env.Shoot)
	env.infrastructure = env.inventory(t)
	machineController, err := controller.MachineFor(env.Shoot.ProviderType).Build(t.Context())
	require.NoError(t, err)
	require.NoError(t, env.StartMachines(t.Context(), clusters.MachineOptions{
		Controller: machineController, Flags: map[string]string{"resource-exhausted-retry": "5s"},
	}))
	env.initial = env.snapshot(t)
}

// removeManager removes machine-controller-manager as gardenlet does. Until then it must have had all rights that it used; some may have been granted
// a moment after its start.
func (env *environment) removeManager(t *testing.T) {
	t.Helper()
	for _, container := range []string{mcm.Manager, mcm.MachineController(env.Shoot.ProviderType)} {
		env.seed.Machines.Kill(env.Shoot.Namespace(), container) // watches are logged when they end
	}
	clusterstest.AwaitNothingForbidden(t, env.seed.AuditLog(), audit.UserOf(env.Shoot.Namespace(), mcm.Manager))
	clusterstest.AwaitNothingForbidden(t, env.Cluster.AuditLog(), audit.UserOf(metav1.NamespaceSystem, mcm.Manager))
	require.NoError(t, env.seed.Gardenlet.RemoveMachineControllerManager(t.Context(), env.Shoot))
}

// snapshot lists the objects of both clusters without the controller's own.
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
	args, err := env.what.WebhookArgs()
	require.NoError(t, err)
	options.Path, options.Args = env.binary, args
	started, err := env.seed.StartController(t.Context(), env.what, options)
	require.NoError(t, err)
	require.NoError(t, env.what.AwaitWebhooks(t.Context(), env.seed.Client))
	env.controllers = append(env.controllers, started)
}

// stopController terminates the controllers, which must succeed. Afterwards their last writes are done.
func (env *environment) stopController(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, running := range env.controllers {
		assert.NoError(t, running.Terminate(ctx))
	}
	env.controllers = nil
}

// killController kills the controllers.
func (env *environment) killController() {
	for _, running := range env.controllers {
		running.Kill()
	}
	env.controllers = nil
}

// prepare does what gardenlet does before each request.
func (env *environment) prepare(t *testing.T) {
	t.Helper()
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))
	require.NoError(t, env.seed.Gardenlet.PrepareWorker(t.Context(), env.Shoot))
	api := gardenlet.APIServer{URL: env.Cluster.URL(), CA: env.Cluster.CA}
	require.NoError(t, env.seed.Gardenlet.DeployMachineControllerManager(t.Context(), env.Shoot, api))
	env.waitNextSecond(t)
}

// requestReconcile requests a reconciliation of the shoot's Worker with its present description. The returned component has read the previous status.
func (env *environment) requestReconcile(t *testing.T) gardenletworker.Interface {
	t.Helper()
	env.prepare(t)
	component := env.component(t)
	require.NoError(t, component.Deploy(t.Context()))
	return component
}

// reconcile reconciles the shoot's Worker and waits for it, as gardenlet does.
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

// component returns gardenlet's component for the shoot's Worker.
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

// waitNextSecond waits for the second after the last operation, if there was one.
func (env *environment) waitNextSecond(t *testing.T) {
	t.Helper()
	object, err := env.seed.Gardenlet.GetWorker(t.Context(), env.Shoot)
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
