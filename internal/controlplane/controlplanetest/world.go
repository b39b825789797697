package controlplanetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/controlplane"
)

// lookTimeout bounds what the world does without a context.
const lookTimeout = time.Minute

// world is one shoot with its namespace in a seed.
type world struct {
	server   *contracttest.APIServer
	subject  Subject
	expected *expectation
	settle   sync.Once

	inspector *inspector // nil until there is a namespace
}

var (
	_ contracttest.World[*extensionsv1alpha1.ControlPlane] = (*world)(nil)
	_ contracttest.Inhabited                               = (*world)(nil)
	_ contracttest.Losable                                 = (*world)(nil)
)

func newControlPlane() *extensionsv1alpha1.ControlPlane { return &extensionsv1alpha1.ControlPlane{} }

// Objects implements contracttest.World.
func (w *world) Objects(namespace string) ([]client.Object, *extensionsv1alpha1.ControlPlane, error) {
	g := gardener{subject: w.subject, namespace: namespace}
	given, err := g.objects()
	if err != nil {
		return nil, nil, err
	}
	object, err := g.controlPlane()
	if err != nil {
		return nil, nil, err
	}
	w.inspector = &inspector{
		client: w.server.Client, namespace: namespace, subject: w.subject, expected: w.expected, given: secretsAmong(given),
		identity: &identity{}, manager: newResourceManager(w.server, namespace, contracttest.NewRecord()),
	}
	return append(given, g.upstreams()...), object, nil
}

// Program implements contracttest.World. What is there before the first life of the process has been acted upon by then.
func (w *world) Program(mgr manager.Manager, _ contracttest.Transport) error {
	var err error
	w.settle.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
		defer cancel()
		err = w.inspector.settle(ctx)
	})
	if err != nil {
		return err
	}
	return program(w.subject, mgr)
}

// program adds the subject's controllers to a manager that knows what the binary knows.
func program(subject Subject, mgr manager.Manager) error {
	if err := controlplane.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	return subject.Program(mgr, options(subject))
}

func options(subject Subject) contract.Options {
	return contract.Options{
		Types:      []string{subject.Type},
		Retry:      contract.Retry{Base: 5 * time.Millisecond, Max: 100 * time.Millisecond},
		Registerer: prometheus.NewRegistry(),
	}
}

// Bystander implements contracttest.Inhabited.
func (w *world) Bystander(call contracttest.Call) { w.inspector.manager.Bystander(call) }

// Lose implements contracttest.Losable: gardenlet brings nothing to the other seed but Secrets that are to be persisted, and the
// other resource manager knows nothing of what the one before has made.
func (w *world) Lose(ctx context.Context) error {
	lost := w.inspector
	resources, secrets, err := lost.list(ctx)
	if err != nil {
		return err
	}
	for i := range resources {
		if err := loseResource(ctx, w.server.Client, &resources[i]); err != nil {
			return err
		}
	}
	for i := range secrets {
		secret := &secrets[i]
		if secret.Labels[secretsmanager.LabelKeyPersist] == secretsmanager.LabelValueTrue || slices.Contains(lost.given, secret.Name) {
			continue
		}
		if err := w.server.Client.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("losing Secret %s: %w", secret.Name, err)
		}
	}
	w.inspector = lost.inOtherSeed(w.server, lost.namespace)
	return nil
}

// loseResource removes a ManagedResource although nobody has acted upon its deletion.
func loseResource(ctx context.Context, c client.Client, resource *resourcesv1alpha1.ManagedResource) error {
	patch := client.MergeFrom(resource.DeepCopy())
	resource.Finalizers = nil
	if err := c.Patch(ctx, resource, patch); err != nil {
		return fmt.Errorf("losing ManagedResource %s: %w", resource.Name, err)
	}
	if err := c.Delete(ctx, resource); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("losing ManagedResource %s: %w", resource.Name, err)
	}
	return nil
}

// Inspect implements contracttest.World.
func (w *world) Inspect(ready bool) []string {
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	if ready {
		return w.inspector.ready(ctx)
	}
	return w.inspector.gone(ctx)
}

// Close implements contracttest.World.
func (w *world) Close() error { return nil }
