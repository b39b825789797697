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
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/ground"
	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

// controllerName is the name of the controller, its rights and its namespace.
const controllerName = "controlplane-controller"

// world is the ground, the seed that hosts the shoot at the moment, and the controller that runs there, if any.
type world struct {
	*ground.Ground
	seed       *ground.Seed
	binary     string
	controller *controller.Controller
	site       site
	// ccm is the shoot's cloud-controller-manager while it runs.
	ccm *running
	// manilaCredentials are those that the user gave for Manila alone.
	manilaCredentials map[string][]byte
	// dir is for what parts leave to others.
	dir string
	// untouched is what there was before the first ControlPlane.
	untouched groundtest.Landscape
}

// newWorld returns a world with a shoot whose infrastructure is ready.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Ground: groundtest.New(t, ground.Options{Destination: true}), dir: t.TempDir()}
	w.seed = w.Source
	var err error
	w.binary, err = controller.ControlPlane().Build(t.Context(), false)
	require.NoError(t, err)
	w.makeSite(t)
	w.untouched = w.look(t)
	t.Cleanup(func() {
		if w.ccm != nil {
			w.ccm.Stop()
		}
	})
	return w
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
	w.controller, err = w.seed.StartController(t.Context(), controller.ControlPlane(), controller.Options{
		Path: w.binary, Args: []string{"--disable-webhooks=*"},
	})
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

// order asks for the shoot's ControlPlane as it is now described.
func (w *world) order(t *testing.T) {
	t.Helper()
	require.NoError(t, w.seed.Gardenlet.Prepare(t.Context(), w.Shoot))
	w.passSecond(t)
	require.NoError(t, w.seed.Gardenlet.ControlPlane(w.Shoot).Deploy(t.Context()))
}

// fulfil orders the shoot's ControlPlane and waits for it, as gardenlet does.
func (w *world) fulfil(t *testing.T) {
	t.Helper()
	w.order(t)
	require.NoError(t, w.seed.Gardenlet.ControlPlane(w.Shoot).Wait(t.Context()))
}

// destroy deletes the shoot's ControlPlane and waits until it is gone, as gardenlet does.
func (w *world) destroy(t *testing.T) {
	t.Helper()
	component := w.seed.Gardenlet.ControlPlane(w.Shoot)
	require.NoError(t, component.Destroy(t.Context()))
	require.NoError(t, component.WaitCleanup(t.Context()))
}

// object reads the shoot's ControlPlane.
func (w *world) object(t *testing.T) *extensionsv1alpha1.ControlPlane {
	t.Helper()
	object, err := w.seed.Gardenlet.GetControlPlane(t.Context(), w.Shoot)
	require.NoError(t, err)
	return object
}

// passSecond waits until the clock shows a later second than that of the last operation, if there was one: Gardener compares the
// time of an order with that of an operation by whole seconds.
func (w *world) passSecond(t *testing.T) {
	t.Helper()
	object, err := w.seed.Gardenlet.GetControlPlane(t.Context(), w.Shoot)
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

// genericKubeconfig returns the name of the Secret with the kubeconfig that all components share.
func (w *world) genericKubeconfig(t *testing.T) string {
	t.Helper()
	cluster := &extensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: w.Shoot.Namespace()}}
	require.True(t, groundtest.Get(t, w.seed.Client, cluster))
	return cluster.Annotations["generic-token-kubeconfig.secret.gardener.cloud/name"]
}

// get reads an object of the shoot's namespace in the seed, and tells whether it is there.
func (w *world) get(t *testing.T, object client.Object) bool {
	t.Helper()
	object.SetNamespace(w.Shoot.Namespace())
	return groundtest.Get(t, w.seed.Client, object)
}
