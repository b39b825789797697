package networktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// inspectTimeout bounds calls of the environment that have no context.
const inspectTimeout = time.Minute

// environment is one shoot with its namespace in a seed, whose nodes roll out at once. When the seed is lost, the shoot gets another configuration in
// the next one, so that all stages of the change follow.
type environment struct {
	server   *contracttest.APIServer
	subject  Subject
	change   Change
	baseline *baseline

	driver    *checkedDriver
	fixture   shootFixture
	object    *extensionsv1alpha1.Network
	inspector *inspector
	moved     bool
}

var (
	_ contracttest.Environment[*extensionsv1alpha1.Network] = (*environment)(nil)
	_ contracttest.WriteObserver                            = (*environment)(nil)
	_ contracttest.SeedLossEnvironment                      = (*environment)(nil)
)

// Objects implements contracttest.Environment.
func (env *environment) Objects(namespace string) ([]client.Object, *extensionsv1alpha1.Network, error) {
	ctx, cancel := context.WithTimeout(context.Background(), inspectTimeout)
	defer cancel()
	shoot, err := newShoot(ctx, env.server, true, true)
	if err != nil {
		return nil, nil, err
	}
	record := contracttest.NewObjectTracker()
	record.OnChange = shoot.mirror
	env.fixture = shootFixture{networkType: env.subject.Type, namespace: namespace, shootAddress: shoot.server.URL}
	env.inspector = &inspector{
		client: env.server.Client, networkType: env.subject.Type, namespace: namespace, shoot: shoot,
		manager: contracttest.NewResourceManager(env.server, namespace, record), given: []string{v1beta1constants.SecretNameGardenerInternal},
	}
	configured, err := env.fixture.shoot(env.subject.configuration(env.change.From))
	if err != nil {
		return nil, nil, err
	}
	before, err := env.fixture.objects(configured)
	env.object = env.fixture.network(configured)
	return before, env.object, errors.Join(err, shoot.setRoutes(ctx, true, firstNode, secondNode))
}

// Program implements contracttest.Environment.
func (env *environment) Program(mgr manager.Manager, _ contracttest.Transport) error {
	return program(env.subject, env.driver, mgr)
}

// OnWrite implements contracttest.WriteObserver.
func (env *environment) OnWrite(call contracttest.Call) { env.inspector.manager.OnWrite(call) }

// LoseSeed implements contracttest.SeedLossEnvironment: the other resource manager does not know the objects of the previous one, and the user has
// changed the configuration.
func (env *environment) LoseSeed(ctx context.Context) error {
	lost := env.inspector
	resources, secrets, err := lost.list(ctx)
	if err != nil {
		return err
	}
	for i := range resources {
		resource := &resources[i]
		patch := client.MergeFrom(resource.DeepCopy())
		resource.Finalizers = nil
		if err := env.server.Client.Patch(ctx, resource, patch); err != nil {
			return fmt.Errorf("losing ManagedResource %s: %w", resource.Name, err)
		}
		if err := env.server.Client.Delete(ctx, resource); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("losing ManagedResource %s: %w", resource.Name, err)
		}
	}
	for i := range secrets {
		if slices.Contains(lost.given, secrets[i].Name) {
			continue
		}
		if err := env.server.Client.Delete(ctx, &secrets[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("losing Secret %s: %w", secrets[i].Name, err)
		}
	}
	next := *lost
	next.manager = contracttest.NewResourceManager(env.server, lost.namespace, lost.manager.Shoot())
	env.inspector, env.moved = &next, true
	return env.configure(ctx, env.subject.configuration(env.change.To))
}

// configure changes the shoot's configuration.
func (env *environment) configure(ctx context.Context, configuration Configuration) error {
	configured, err := env.fixture.shoot(configuration)
	if err != nil {
		return err
	}
	wanted, err := env.fixture.cluster(configured)
	if err != nil {
		return err
	}
	cluster := &extensionsv1alpha1.Cluster{}
	if err := env.server.Client.Get(ctx, client.ObjectKey{Name: env.fixture.namespace}, cluster); err != nil {
		return err
	}
	cluster.Spec = wanted.Spec
	return env.server.Client.Update(ctx, cluster)
}

// Inspect implements contracttest.Environment.
func (env *environment) Inspect(ready bool) []string {
	ctx, cancel := context.WithTimeout(context.Background(), inspectTimeout)
	defer cancel()
	violations := env.driver.Violations()
	// The next reconciliation is in the other seed.
	if configured, err := env.fixture.shoot(env.subject.configuration(env.change.To)); err == nil {
		env.object.Spec = env.fixture.network(configured).Spec
	}
	if !ready {
		return append(violations, env.inspector.checkGone(ctx)...)
	}
	violations = append(violations, env.inspector.checkReady(ctx)...)
	got, state, err := env.inspector.read(ctx)
	if err != nil {
		return append(violations, err.Error())
	}
	if state.Stage != nil {
		violations = append(violations, fmt.Sprintf("it is still in stage %q, although all nodes have caught up", state.Stage.Name))
	}
	return append(violations, env.baseline.differences(env.moved, got)...)
}

// Close implements contracttest.Environment.
func (env *environment) Close() error {
	if env.inspector != nil {
		env.inspector.shoot.server.Close()
	}
	return nil
}

// baseline is the content of shoots before and after they have moved, as in the first run, which had no failures.
type baseline struct {
	mutex    sync.Mutex
	contents map[bool]*content
}

func (l *baseline) differences(moved bool, got *content) []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.contents[moved] == nil {
		l.contents[moved] = got
	}
	return got.differences(l.contents[moved])
}
