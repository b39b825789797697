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
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/ground"
	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

// controllerName is the name of the controller, its rights and its namespace.
const controllerName = "network-controller"

// world is the ground, the seed that hosts the shoot at the moment, and the controller that runs there, if any.
type world struct {
	*ground.Ground
	seed       *ground.Seed
	binary     string
	controller *controller.Controller
	// definitions are those of Calico's kinds, in YAML, and that of Multus' kind.
	definitions, definitionOfMultus []byte
	// untouched is what there was before the first Network.
	untouched groundtest.Landscape
}

// newWorld returns a world with a shoot that has no network yet, nor any node.
func newWorld(t *testing.T, options ground.Options) *world {
	t.Helper()
	w := &world{Ground: groundtest.New(t, options)}
	w.seed = w.Source
	var err error
	w.binary, err = controller.Network().Build(t.Context(), false)
	require.NoError(t, err)
	w.defineAutoscaling(t)
	w.untouched = w.look(t)
	return w
}

// defineAutoscaling makes the shoot one that knows vertical autoscaling, as the seed does.
func (w *world) defineAutoscaling(t *testing.T) {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "verticalpodautoscalers.autoscaling.k8s.io"}}
	require.True(t, groundtest.Get(t, w.seed.Client, definition))
	ofShoot := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: definition.Name, Annotations: definition.Annotations}, Spec: definition.Spec,
	}
	require.NoError(t, w.Cluster.Client.Create(t.Context(), ofShoot))
}

// look lists what there is in both clusters, but for the controller's own.
func (w *world) look(t *testing.T) groundtest.Landscape {
	t.Helper()
	return groundtest.Look(t, w.seed, w.Cluster, controllerName)
}

// startController starts the controller, and waits until it is ready.
func (w *world) startController(t *testing.T) {
	t.Helper()
	require.Nil(t, w.controller, "one controller at a time")
	var err error
	w.controller, err = w.seed.StartController(t.Context(), controller.Network(), controller.Options{Path: w.binary})
	require.NoError(t, err)
}

// stopController asks the controller to end, which it must do in good order. All it had to write is written afterwards.
func (w *world) stopController(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	assert.NoError(t, w.controller.Terminate(ctx))
	w.controller = nil
}

// killController ends the controller as a power failure would.
func (w *world) killController() {
	w.controller.Kill()
	w.controller = nil
}

// component returns gardenlet's for the shoot's Network.
func (w *world) component(t *testing.T) network.Interface {
	t.Helper()
	component, err := w.seed.Gardenlet.Network(w.Shoot)
	require.NoError(t, err)
	return component
}

// order asks for the shoot's Network as it is now described.
func (w *world) order(t *testing.T) {
	t.Helper()
	require.NoError(t, w.seed.Gardenlet.Prepare(t.Context(), w.Shoot))
	w.passSecond(t)
	require.NoError(t, w.component(t).Deploy(t.Context()))
}

// fulfil orders the shoot's Network and waits for it, as gardenlet does.
func (w *world) fulfil(t *testing.T) {
	t.Helper()
	w.order(t)
	require.NoError(t, w.component(t).Wait(t.Context()))
}

// configure makes the user say something else to the network plugin.
func (w *world) configure(fields map[string]any) {
	config := map[string]any{"apiVersion": "calico.networking.extensions.gardener.cloud/v1alpha1", "kind": "NetworkConfig"}
	maps.Copy(config, fields)
	w.Shoot.NetworkConfig = config
}

// destroy deletes the shoot's Network and waits until it is gone, as gardenlet does.
func (w *world) destroy(t *testing.T) {
	t.Helper()
	component := w.component(t)
	require.NoError(t, component.Destroy(t.Context()))
	require.NoError(t, component.WaitCleanup(t.Context()))
}

// object reads the shoot's Network.
func (w *world) object(t *testing.T) *extensionsv1alpha1.Network {
	t.Helper()
	object, err := w.seed.Gardenlet.GetNetwork(t.Context(), w.Shoot)
	require.NoError(t, err)
	return object
}

// stage returns the name of the stage that the network is in, according to its state; empty when it is in none.
func (w *world) stage(t *testing.T) string {
	t.Helper()
	object := w.object(t)
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

// passSecond waits until the clock shows a later second than that of the last operation, if there was one: Gardener compares the
// time of an order with that of an operation by whole seconds.
func (w *world) passSecond(t *testing.T) {
	t.Helper()
	object, err := w.seed.Gardenlet.GetNetwork(t.Context(), w.Shoot)
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

// get reads an object of the shoot's namespace in the seed, and tells whether it is there.
func (w *world) get(t *testing.T, object client.Object) bool {
	t.Helper()
	object.SetNamespace(w.Shoot.Namespace())
	return groundtest.Get(t, w.seed.Client, object)
}
