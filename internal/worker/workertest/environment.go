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

// inspectTimeout bounds requests without a context.
const inspectTimeout = time.Minute

// environment is one cloud and its shoot, with a machine-controller-manager that acts before the process continues.
type environment struct {
	server    *contracttest.APIServer
	subject   Subject
	expected  *expectation
	cloud     Cloud
	gardener  gardener
	inspector *inspector
	// timeout is how long a scenario waits for one operation.
	timeout time.Duration
	// saved are the machines that gardenlet saved when the seed was lost, and stayed those before.
	saved                  *runtime.RawExtension
	serversBeforeMigration map[string]string
}

var (
	_ contracttest.Environment[*extensionsv1alpha1.Worker] = (*environment)(nil)
	_ contracttest.WriteObserver                           = (*environment)(nil)
	_ contracttest.SeedLossEnvironment                     = (*environment)(nil)
	_ contracttest.SavedStateEnvironment                   = (*environment)(nil)
)

func newEnvironment(server *contracttest.APIServer, subject Subject, expected *expectation) (*environment, error) {
	cloud, err := subject.NewCloud(shootIdentity())
	if err != nil {
		return nil, fmt.Errorf("creating a cloud: %w", err)
	}
	return &environment{
		server: server, subject: subject, expected: expected, cloud: cloud, gardener: gardener{subject: subject, inputs: cloud.Inputs()},
	}, nil
}

// Objects implements contracttest.Environment.
func (env *environment) Objects(namespace string) ([]client.Object, *extensionsv1alpha1.Worker, error) {
	others, err := env.cloud.Resources()
	if err != nil {
		return nil, nil, fmt.Errorf("listing the resources of the new cloud: %w", err)
	}
	servers := NewServers()
	env.inspector = &inspector{
		client: env.server.Client, namespace: namespace, servers: servers, manager: NewManager(env.server, namespace, servers),
		cloud: env.cloud, others: others,
	}
	before, err := env.gardener.prerequisites(namespace, 1)
	if err != nil {
		return nil, nil, err
	}
	object, err := env.gardener.worker(namespace)
	return before, object, err
}

// Program implements contracttest.Environment.
func (env *environment) Program(mgr manager.Manager, cloud contracttest.Transport) error {
	return addController(env.subject, env.cloud, mgr, cloud)
}

// OnWrite implements contracttest.WriteObserver.
func (env *environment) OnWrite(call contracttest.Call) { env.inspector.manager.OnWrite(call) }

// LoseSeed implements contracttest.SeedLossEnvironment: gardenlet has saved the machines and stopped machine-controller-manager, which in
// the next seed waits for the machines to be restored.
func (env *environment) LoseSeed(ctx context.Context) error {
	i := env.inspector
	var err error
	if env.saved, err = saveMachines(ctx, i.client, i.namespace); err != nil {
		return err
	}
	env.serversBeforeMigration = i.servers.All()
	if err := scaleManager(ctx, i.client, i.namespace, 0); err != nil {
		return err
	}
	return deleteMachineObjects(ctx, i.client, i.namespace)
}

// State implements contracttest.SavedStateEnvironment.
func (env *environment) State() (*runtime.RawExtension, error) { return env.saved, nil }

// Inspect implements contracttest.Environment.
func (env *environment) Inspect(ready bool) []string {
	ctx, cancel := context.WithTimeout(context.Background(), inspectTimeout)
	defer cancel()
	if !ready {
		return env.inspector.checkDeleted(ctx)
	}
	violations := env.inspector.checkReady(ctx)
	h, _ := env.inspector.read(ctx)
	if h != nil {
		violations = append(violations, env.expected.differences(h)...)
	}
	for id, name := range env.serversBeforeMigration {
		if env.inspector.servers.All()[id] != name {
			violations = append(violations, fmt.Sprintf("machine %s was replaced in the migration", name))
		}
	}
	return violations
}

// Close implements contracttest.Environment.
func (env *environment) Close() error { return env.cloud.Close() }
