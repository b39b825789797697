package network

import (
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/component/extensions/network"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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
const controllerName = "network-controller"

// environment has the clusters, the seed that hosts the shoot, and the running controller, if any.
type environment struct {
	*openstack.Clusters
	seed       *clusters.Seed
	binary     string
	controller *controller.Controller
	// definitions are Calico's CRDs in YAML, and Multus'.
	definitions, definitionOfMultus []byte
	// initial are the objects before the first Network.
	initial clusterstest.Snapshot
}

// newEnvironment returns an environment with a shoot without a network and nodes.
func newEnvironment(t *testing.T, options clusters.Options) *environment {
	t.Helper()
	options.Cloud = openstack.OpenFake
	env := &environment{Clusters: openstack.In(clusterstest.NewHosting(t, options))}
	env.seed = env.Source
	var err error
	env.binary, err = controller.Network().Build(t.Context())
	require.NoError(t, err)
	env.defineAutoscaling(t)
	env.initial = env.snapshot(t)
	return env
}

// defineAutoscaling adds the CRDs of the vertical pod autoscaler to the shoot, as in the seed.
func (env *environment) defineAutoscaling(t *testing.T) {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "verticalpodautoscalers.autoscaling.k8s.io"}}
	require.True(t, clusterstest.Get(t, env.seed.Client, definition))
	ofShoot := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: definition.Name, Annotations: definition.Annotations}, Spec: definition.Spec,
	}
	require.NoError(t, env.Cluster.Client.Create(t.Context(), ofShoot))
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
	env.controller, err = env.seed.StartController(t.Context(), controller.Network(), controller.Options{Path: env.binary})
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

// component returns gardenlet's component for the shoot's Network.
func (env *environment) component(t *testing.T) network.Interface {
	t.Helper()
	component, err := env.seed.Gardenlet.Network(env.Shoot)
	require.NoError(t, err)
	return component
}

// requestReconcile requests a reconciliation of the shoot's Network with its present description.
func (env *environment) requestReconcile(t *testing.T) {
	t.Helper()
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))
	env.waitNextSecond(t)
	require.NoError(t, env.component(t).Deploy(t.Context()))
}

// reconcile reconciles the shoot's Network and waits for it, as gardenlet does.
func (env *environment) reconcile(t *testing.T) {
	t.Helper()
	env.requestReconcile(t)
	require.NoError(t, env.component(t).Wait(t.Context()))
}

// configure changes the user's configuration of the network plugin.
func (env *environment) configure(fields map[string]any) {
	config := map[string]any{"apiVersion": "calico.networking.extensions.gardener.cloud/v1alpha1", "kind": "NetworkConfig"}
	maps.Copy(config, fields)
	env.Shoot.NetworkConfig = config
}

// destroy deletes the shoot's Network and waits until it is gone, as gardenlet does.
func (env *environment) destroy(t *testing.T) {
	t.Helper()
	component := env.component(t)
	require.NoError(t, component.Destroy(t.Context()))
	require.NoError(t, component.WaitCleanup(t.Context()))
}

// object reads the shoot's Network.
func (env *environment) object(t *testing.T) *extensionsv1alpha1.Network {
	t.Helper()
	object, err := env.seed.Gardenlet.GetNetwork(t.Context(), env.Shoot)
	require.NoError(t, err)
	return object
}

// stage returns the name of the present stage of a change, according to the Network's state; empty if there is none.
func (env *environment) stage(t *testing.T) string {
	t.Helper()
	object := env.object(t)
	if object.Status.State == nil {
		return ""
	}
	var state struct {
		Stage struct {
			Name string `json:"name"`
		} `json:"stage"`
	}
	require.NoError(t, json.Unmarshal(object.Status.State.Raw, &state))
	return state.Stage.Name
}

// waitNextSecond waits for the second after the last operation, if there was one.
func (env *environment) waitNextSecond(t *testing.T) {
	t.Helper()
	object, err := env.seed.Gardenlet.GetNetwork(t.Context(), env.Shoot)
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

// get reads an object of the shoot's namespace in the seed, and reports whether it exists.
func (env *environment) get(t *testing.T, object client.Object) bool {
	t.Helper()
	object.SetNamespace(env.Shoot.Namespace())
	return clusterstest.Get(t, env.seed.Client, object)
}
