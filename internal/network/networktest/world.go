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

// lookTimeout bounds what the world does without a context.
const lookTimeout = time.Minute

// world is one shoot with its namespace in a seed, where nodes catch up at once. Where it is lost with its seed, it becomes
// another configuration in the next one: what comes after that goes through all stages of the change.
type world struct {
	server  *contracttest.APIServer
	subject Subject
	way     Change
	learned *learned

	driver    *watched
	gardener  gardener
	object    *extensionsv1alpha1.Network
	inspector *inspector
	moved     bool
}

var (
	_ contracttest.World[*extensionsv1alpha1.Network] = (*world)(nil)
	_ contracttest.Inhabited                          = (*world)(nil)
	_ contracttest.Losable                            = (*world)(nil)
)

// Objects implements contracttest.World.
func (w *world) Objects(namespace string) ([]client.Object, *extensionsv1alpha1.Network, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	shoot, err := newShoot(ctx, w.server, true, true)
	if err != nil {
		return nil, nil, err
	}
	record := contracttest.NewRecord()
	record.Mirror = shoot.mirror
	w.gardener = gardener{networkType: w.subject.Type, namespace: namespace, shootAddress: shoot.server.URL}
	w.inspector = &inspector{
		client: w.server.Client, networkType: w.subject.Type, namespace: namespace, shoot: shoot,
		manager: contracttest.NewResourceManager(w.server, namespace, record), given: []string{v1beta1constants.SecretNameGardenerInternal},
	}
	configured, err := w.gardener.shoot(w.subject.configuration(w.way.From))
	if err != nil {
		return nil, nil, err
	}
	before, err := w.gardener.objects(configured)
	w.object = w.gardener.network(configured)
	return before, w.object, errors.Join(err, shoot.route(ctx, true, firstNode, secondNode))
}

// Program implements contracttest.World.
func (w *world) Program(mgr manager.Manager, _ contracttest.Transport) error {
	return program(w.subject, w.driver, mgr)
}

// Bystander implements contracttest.Inhabited.
func (w *world) Bystander(call contracttest.Call) { w.inspector.manager.Bystander(call) }

// Lose implements contracttest.Losable: the other resource manager knows nothing of what the one before has made, and the user
// has another configuration in mind.
func (w *world) Lose(ctx context.Context) error {
	lost := w.inspector
	resources, secrets, err := lost.list(ctx)
	if err != nil {
		return err
	}
	for i := range resources {
		resource := &resources[i]
		patch := client.MergeFrom(resource.DeepCopy())
		resource.Finalizers = nil
		if err := w.server.Client.Patch(ctx, resource, patch); err != nil {
			return fmt.Errorf("losing ManagedResource %s: %w", resource.Name, err)
		}
		if err := w.server.Client.Delete(ctx, resource); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("losing ManagedResource %s: %w", resource.Name, err)
		}
	}
	for i := range secrets {
		if slices.Contains(lost.given, secrets[i].Name) {
			continue
		}
		if err := w.server.Client.Delete(ctx, &secrets[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("losing Secret %s: %w", secrets[i].Name, err)
		}
	}
	next := *lost
	next.manager = contracttest.NewResourceManager(w.server, lost.namespace, lost.manager.Shoot())
	w.inspector, w.moved = &next, true
	return w.become(ctx, w.subject.configuration(w.way.To))
}

// become changes the shoot's configuration.
func (w *world) become(ctx context.Context, configuration Configuration) error {
	configured, err := w.gardener.shoot(configuration)
	if err != nil {
		return err
	}
	wanted, err := w.gardener.cluster(configured)
	if err != nil {
		return err
	}
	cluster := &extensionsv1alpha1.Cluster{}
	if err := w.server.Client.Get(ctx, client.ObjectKey{Name: w.gardener.namespace}, cluster); err != nil {
		return err
	}
	cluster.Spec = wanted.Spec
	return w.server.Client.Update(ctx, cluster)
}

// Inspect implements contracttest.World.
func (w *world) Inspect(ready bool) []string {
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	violations := w.driver.Complaints()
	// The next time that somebody asks for the object is in the other seed.
	if configured, err := w.gardener.shoot(w.subject.configuration(w.way.To)); err == nil {
		w.object.Spec = w.gardener.network(configured).Spec
	}
	if !ready {
		return append(violations, w.inspector.gone(ctx)...)
	}
	violations = append(violations, w.inspector.ready(ctx)...)
	got, state, err := w.inspector.read(ctx)
	if err != nil {
		return append(violations, err.Error())
	}
	if state.Stage != nil {
		violations = append(violations, fmt.Sprintf("it is still in stage %q, although all nodes have caught up", state.Stage.Name))
	}
	return append(violations, w.learned.differences(w.moved, got)...)
}

// Close implements contracttest.World.
func (w *world) Close() error {
	if w.inspector != nil {
		w.inspector.shoot.server.Close()
	}
	return nil
}

// learned is what shoots consist of before and after they have moved, as it was in the first run, in which nothing went wrong.
type learned struct {
	mutex sync.Mutex
	first map[bool]*content
}

func (l *learned) differences(moved bool, got *content) []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.first[moved] == nil {
		l.first[moved] = got
	}
	return got.differences(l.first[moved])
}
