package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

const (
	// patience bounds every wait. It is generous, because it only costs time when a test fails.
	patience = 3 * time.Minute
	glance   = 50 * time.Millisecond
)

// world is what one test works with: a cloud of its own, gardenlet, and a controller process that it may start and end as
// often as it likes.
type world struct {
	t          *testing.T
	binary     string
	seed       *runningSeed
	cloud      *fake.Cloud
	gardenlet  *gardenlet.Gardenlet
	controller *controller.Controller
	output     string
	options    controller.Options
}

// newWorld returns a world on the source seed in which no controller runs yet.
func (l *landscape) newWorld(t *testing.T) *world {
	t.Helper()
	cloud := fake.New()
	require.NoError(t, cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	return newWorldIn(t, l.binary, l.source, cloud)
}

func newWorldIn(t *testing.T, binary string, s *runningSeed, cloud *fake.Cloud) *world {
	t.Helper()
	w := &world{
		t: t, binary: binary, seed: s, cloud: cloud, gardenlet: gardenlet.New(s.Client),
		output: filepath.Join(t.TempDir(), "controller.log"),
	}
	t.Cleanup(w.end)
	return w
}

// in returns the world as part of a test sees it.
func (w *world) in(t *testing.T) *world {
	part := *w
	part.t = t
	return &part
}

// end stops the controller if it still runs, and shows its log if the test failed.
func (w *world) end() {
	if w.controller != nil {
		w.stopController()
	}
	if w.t.Failed() {
		w.t.Logf("the controller's log:\n%s", tail(w.log(), 40))
	}
}

func (w *world) startController() {
	w.t.Helper()
	require.Nil(w.t, w.controller, "one controller at a time")
	options := w.options
	options.Binary, options.Kubeconfig, options.Output = w.binary, w.seed.kubeconfig, w.output
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	var err error
	w.controller, err = controller.Start(ctx, options)
	require.NoError(w.t, err)
}

// stopController asks the controller to end, which it must do in good order. All it had to write is written afterwards.
func (w *world) stopController() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	assert.NoError(w.t, w.controller.Terminate(ctx))
	w.controller = nil
}

// killController ends the controller as a power failure would. What it had sent to the cloud takes effect.
func (w *world) killController() {
	w.t.Helper()
	w.controller.Kill()
	w.controller = nil
	require.NoError(w.t, w.cloud.WaitIdle(w.t.Context()))
}

// log returns what the controllers of this world have logged.
func (w *world) log() string {
	content, err := os.ReadFile(w.output)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// shoot returns a shoot with everything that gardenlet prepares. Whatever the test leaves of it is out of the next
// controller's way afterwards.
func (w *world) shoot(name string) *gardenlet.Shoot {
	w.t.Helper()
	return w.shootOf(name, openstack.DefaultAccount())
}

func (w *world) shootOf(name string, account openstack.Account) *gardenlet.Shoot {
	w.t.Helper()
	shoot := openstack.NewShoot(name, w.cloud, account)
	w.prepare(shoot)
	return shoot
}

func (w *world) prepare(shoot *gardenlet.Shoot) {
	w.t.Helper()
	require.NoError(w.t, w.gardenlet.Prepare(w.t.Context(), shoot))
	w.t.Cleanup(func() {
		if err := w.discard(shoot); err != nil {
			w.t.Errorf("discarding shoot %s: %v", shoot.Name, err)
		}
	})
}

// discard removes a shoot's Infrastructure from the seed without the controller's help.
func (w *world) discard(shoot *gardenlet.Shoot) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	object, err := w.gardenlet.Get(ctx, shoot)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	patch := client.MergeFrom(object.DeepCopy())
	object.Finalizers = nil
	if err := w.seed.Client.Patch(ctx, object, patch); client.IgnoreNotFound(err) != nil {
		return err
	}
	return client.IgnoreNotFound(w.seed.Client.Delete(ctx, object))
}

// order asks for the shoot's Infrastructure as it is now described.
func (w *world) order(shoot *gardenlet.Shoot) {
	w.t.Helper()
	require.NoError(w.t, w.gardenlet.Infrastructure(shoot).Deploy(w.t.Context()))
}

// fulfil orders the shoot's Infrastructure and waits for it, as gardenlet does.
func (w *world) fulfil(shoot *gardenlet.Shoot) {
	w.t.Helper()
	component := w.gardenlet.Infrastructure(shoot)
	require.NoError(w.t, component.Deploy(w.t.Context()))
	require.NoError(w.t, component.Wait(w.t.Context()))
}

// fulfilled returns a new shoot whose Infrastructure is ready.
func (w *world) fulfilled(name string) *gardenlet.Shoot {
	w.t.Helper()
	shoot := w.shoot(name)
	w.fulfil(shoot)
	return shoot
}

// destroy deletes the shoot's Infrastructure and waits until it is gone, as gardenlet does.
func (w *world) destroy(shoot *gardenlet.Shoot) {
	w.t.Helper()
	component := w.gardenlet.Infrastructure(shoot)
	require.NoError(w.t, component.Destroy(w.t.Context()))
	require.NoError(w.t, component.WaitCleanup(w.t.Context()))
}

func (w *world) get(shoot *gardenlet.Shoot) *extensionsv1alpha1.Infrastructure {
	w.t.Helper()
	object, err := w.gardenlet.Get(w.t.Context(), shoot)
	require.NoError(w.t, err)
	return object
}

// waitFor waits until the shoot's Infrastructure satisfies a condition, and returns it.
func (w *world) waitFor(shoot *gardenlet.Shoot, what string, satisfied func(*extensionsv1alpha1.Infrastructure) bool) *extensionsv1alpha1.Infrastructure {
	w.t.Helper()
	var object *extensionsv1alpha1.Infrastructure
	w.eventually(what, func() bool {
		object = w.get(shoot)
		return satisfied(object)
	})
	return object
}

// waitHealthy waits until gardenlet would call the shoot's Infrastructure ready, without asking for anything.
func (w *world) waitHealthy(shoot *gardenlet.Shoot) {
	w.t.Helper()
	w.waitFor(shoot, "the Infrastructure is ready", func(object *extensionsv1alpha1.Infrastructure) bool {
		return health.CheckExtensionObject(object) == nil
	})
}

func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(glance) {
		if time.Now().After(end) {
			require.FailNow(w.t, "waited in vain until "+what)
		}
	}
}

// passSecond waits until the clock shows a later second than that of the last operation: Gardener compares the time of an
// order with that of an operation by whole seconds.
func (w *world) passSecond(shoot *gardenlet.Shoot) {
	w.t.Helper()
	last := w.get(shoot).Status.LastOperation.LastUpdateTime
	w.eventually("the next second begins", func() bool { return time.Now().Truncate(time.Second).After(last.Time) })
}

// writes returns what controllers have written in the shoot's namespace. It is complete when no controller runs.
func (w *world) writes(shoot *gardenlet.Shoot) []seed.Write {
	w.t.Helper()
	writes, err := w.seed.Writes(shoot.Namespace())
	require.NoError(w.t, err)
	return writes
}

// tail returns the last lines of a text.
func tail(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// inventory names every resource in the cloud, whoever owns it.
func inventory(cloud *fake.Cloud) []string { return cloud.State("").List() }
