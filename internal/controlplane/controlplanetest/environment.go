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

// inspectionTimeout bounds what the world does without a context.
const inspectionTimeout = time.Minute

// environment is one shoot with its namespace in a seed.
type environment struct {
	server      *contracttest.APIServer
	subject     Subject
	expected    *expectation
	processOnce sync.Once

	inspector *inspector // nil until there is a namespace
}

var (
	_ contracttest.Environment[*extensionsv1alpha1.ControlPlane] = (*environment)(nil)
	_ contracttest.WriteObserver                                 = (*environment)(nil)
	_ contracttest.SeedLossEnvironment                           = (*environment)(nil)
)

func newControlPlane() *extensionsv1alpha1.ControlPlane { return &extensionsv1alpha1.ControlPlane{} }

// Objects implements contracttest.Environment.
func (env *environment) Objects(namespace string) ([]client.Object, *extensionsv1alpha1.ControlPlane, error) {
	f := shootFixture{subject: env.subject, namespace: namespace}
	existing, err := f.objects()
	if err != nil {
		return nil, nil, err
	}
	object, err := f.controlPlane()
	if err != nil {
		return nil, nil, err
	}
	env.inspector = &inspector{
		client: env.server.Client, namespace: namespace, subject: env.subject, expected: env.expected, existing: secretNames(existing),
		identity: &identity{}, manager: newResourceManager(env.server, namespace, contracttest.NewObjectTracker()),
	}
	return append(existing, f.upstreamObjects()...), object, nil
}

// Program implements contracttest.Environment. What is there before the first life of the process has been acted upon by then.
func (env *environment) Program(mgr manager.Manager, _ contracttest.Transport) error {
	var err error
	env.processOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), inspectionTimeout)
		defer cancel()
		err = env.inspector.processExisting(ctx)
	})
	if err != nil {
		return err
	}
	return program(env.subject, mgr)
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

// OnWrite implements contracttest.WriteObserver.
func (env *environment) OnWrite(call contracttest.Call) { env.inspector.manager.OnWrite(call) }

// LoseSeed implements contracttest.SeedLossEnvironment: gardenlet brings nothing to the other seed but Secrets that are to be persisted, and the
// other resource manager knows nothing of what the one before has made.
func (env *environment) LoseSeed(ctx context.Context) error {
	lost := env.inspector
	resources, secrets, err := lost.list(ctx)
	if err != nil {
		return err
	}
	for i := range resources {
		if err := loseResource(ctx, env.server.Client, &resources[i]); err != nil {
			return err
		}
	}
	for i := range secrets {
		secret := &secrets[i]
		if secret.Labels[secretsmanager.LabelKeyPersist] == secretsmanager.LabelValueTrue || slices.Contains(lost.existing, secret.Name) {
			continue
		}
		if err := env.server.Client.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("losing Secret %s: %w", secret.Name, err)
		}
	}
	env.inspector = lost.inOtherSeed(env.server, lost.namespace)
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

// Inspect implements contracttest.Environment.
func (env *environment) Inspect(ready bool) []string {
	ctx, cancel := context.WithTimeout(context.Background(), inspectionTimeout)
	defer cancel()
	if ready {
		return env.inspector.checkReady(ctx)
	}
	return env.inspector.checkGone(ctx)
}

// Close implements contracttest.Environment.
func (env *environment) Close() error { return nil }
