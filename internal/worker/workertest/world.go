package workertest

import (
	"context"
	"fmt"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// lookTimeout bounds what the world does without a context.
const lookTimeout = time.Minute

// world is one cloud and the shoot in it, with a machine-controller-manager that acts before the process goes on.
type world struct {
	server    *contracttest.APIServer
	subject   Subject
	expected  *expectation
	cloud     Cloud
	gardener  gardener
	inspector *inspector
	// patience is how long a scenario waits for one operation.
	patience time.Duration
	// saved is what gardenlet has saved of the machines, when the seed was lost, and stayed is what they were.
	saved  *runtime.RawExtension
	stayed map[string]string
}

var (
	_ contracttest.World[*extensionsv1alpha1.Worker] = (*world)(nil)
	_ contracttest.Inhabited                         = (*world)(nil)
	_ contracttest.Losable                           = (*world)(nil)
	_ contracttest.Saved                             = (*world)(nil)
)

func newWorld(server *contracttest.APIServer, subject Subject, expected *expectation) (*world, error) {
	cloud, err := subject.NewCloud(theShoot())
	if err != nil {
		return nil, fmt.Errorf("making a cloud: %w", err)
	}
	return &world{
		server: server, subject: subject, expected: expected, cloud: cloud, gardener: gardener{subject: subject, inputs: cloud.Inputs()},
	}, nil
}

// Objects implements contracttest.World.
func (w *world) Objects(namespace string) ([]client.Object, *extensionsv1alpha1.Worker, error) {
	foreign, err := w.cloud.Resources()
	if err != nil {
		return nil, nil, fmt.Errorf("listing what is in the new cloud: %w", err)
	}
	servers := NewServers()
	w.inspector = &inspector{
		client: w.server.Client, namespace: namespace, servers: servers, manager: NewManager(w.server, namespace, servers),
		cloud: w.cloud, foreign: foreign,
	}
	before, err := w.gardener.prerequisites(namespace, 1)
	if err != nil {
		return nil, nil, err
	}
	object, err := w.gardener.worker(namespace)
	return before, object, err
}

// Program implements contracttest.World.
func (w *world) Program(mgr manager.Manager, cloud contracttest.Transport) error {
	return program(w.subject, w.cloud, mgr, cloud)
}

// Bystander implements contracttest.Inhabited.
func (w *world) Bystander(call contracttest.Call) { w.inspector.manager.Bystander(call) }

// Lose implements contracttest.Losable: gardenlet has saved the machines and stopped machine-controller-manager, which in the next seed
// waits for the machines to be restored.
func (w *world) Lose(ctx context.Context) error {
	i := w.inspector
	var err error
	if w.saved, err = saveMachines(ctx, i.client, i.namespace); err != nil {
		return err
	}
	w.stayed = i.servers.All()
	if err := scaleManager(ctx, i.client, i.namespace, 0); err != nil {
		return err
	}
	return forgetMachines(ctx, i.client, i.namespace)
}

// State implements contracttest.Saved.
func (w *world) State() (*runtime.RawExtension, error) { return w.saved, nil }

// Inspect implements contracttest.World.
func (w *world) Inspect(ready bool) []string {
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	if !ready {
		return w.inspector.gone(ctx)
	}
	violations := w.inspector.ready(ctx)
	h, _ := w.inspector.read(ctx)
	if h != nil {
		violations = append(violations, w.expected.differences(h)...)
	}
	for id, name := range w.stayed {
		if w.inspector.servers.All()[id] != name {
			violations = append(violations, fmt.Sprintf("machine %s did not survive the move", name))
		}
	}
	return violations
}

// Close implements contracttest.World.
func (w *world) Close() error { return w.cloud.Close() }
