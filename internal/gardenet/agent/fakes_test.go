package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// fakeClient is a Client of a fake API server, which can be away.
type fakeClient struct {
	*fake.Clientset

	mutex sync.Mutex
	// closed are resources whose lists do not answer until their channel is closed.
	closed map[Resource]chan struct{}
	// away is true while nothing can be read or written.
	away bool
	// lists counts lists by resource.
	lists    map[Resource]int
	patches  []string
	watchers []watch.Interface
}

var (
	_ Client = (*fakeClient)(nil)

	errAway = errors.New("connection refused")
)

func newFakeClient(objects ...runtime.Object) *fakeClient {
	return &fakeClient{Clientset: fake.NewClientset(objects...), closed: map[Resource]chan struct{}{}, lists: map[Resource]int{}}
}

// ListerWatcher implements Client.
func (c *fakeClient) ListerWatcher(resource Resource) cache.ListerWatcher {
	lists := map[Resource]func(context.Context, metav1.ListOptions) (runtime.Object, error){
		Nodes: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return c.CoreV1().Nodes().List(ctx, o)
		},
		Pods: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return c.CoreV1().Pods("").List(ctx, o)
		},
		Namespaces: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return c.CoreV1().Namespaces().List(ctx, o)
		},
		NetworkPolicies: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return c.NetworkingV1().NetworkPolicies("").List(ctx, o)
		},
	}
	watches := map[Resource]func(context.Context, metav1.ListOptions) (watch.Interface, error){
		Nodes: c.CoreV1().Nodes().Watch, Pods: c.CoreV1().Pods("").Watch,
		Namespaces: c.CoreV1().Namespaces().Watch, NetworkPolicies: c.NetworkingV1().NetworkPolicies("").Watch,
	}
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if err := c.answer(ctx, resource); err != nil {
				return nil, err
			}
			return lists[resource](ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if err := c.reachable(); err != nil {
				return nil, err
			}
			watcher, err := watches[resource](ctx, o)
			c.mutex.Lock()
			defer c.mutex.Unlock()
			c.watchers = append(c.watchers, watcher)
			return watcher, err
		},
	}, c.Clientset)
}

// answer waits until lists of the resource are answered.
func (c *fakeClient) answer(ctx context.Context, resource Resource) error {
	c.mutex.Lock()
	gate := c.closed[resource]
	c.lists[resource]++
	c.mutex.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return c.reachable()
}

func (c *fakeClient) reachable() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.away {
		return errAway
	}
	return nil
}

// setAway makes the API server unreachable, which ends all watches, or reachable again.
func (c *fakeClient) setAway(away bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.away = away
	for _, watcher := range c.watchers {
		watcher.Stop()
	}
	c.watchers = nil
}

// PatchNodeStatus implements Client.
func (c *fakeClient) PatchNodeStatus(ctx context.Context, name string, patch []byte) error {
	if err := c.reachable(); err != nil {
		return err
	}
	c.mutex.Lock()
	c.patches = append(c.patches, string(patch))
	c.mutex.Unlock()
	_, err := c.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// CreateEvent implements Client.
func (c *fakeClient) CreateEvent(ctx context.Context, event *eventsv1.Event) error {
	if err := c.reachable(); err != nil {
		return err
	}
	_, err := c.EventsV1().Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
	return err
}

// fakeKernel is a node. It outlives agents.
type fakeKernel struct {
	mutex sync.Mutex
	// has is what has been applied; generation is that of the rules in it.
	has        *desired.State
	generation uint8
	// applications are when states were applied, failed ones included.
	applications []time.Time
	// calls counts all calls.
	calls int
	// fails are the errors of the next applications.
	fails []error
	// failsAfter are the errors of the next applications that have changed the rules before.
	failsAfter []error
	// duration is how long an application takes.
	duration time.Duration
	// hangs, if set, is what an application waits for, whatever its context says.
	hangs chan struct{}
	// repairs are what the next verification finds; verifications are when there was one.
	repairs       []string
	verifications []time.Time
	verifyFails   []error
	rulesFails    []error
	// interrupted is true if a context ended during an application.
	interrupted bool
}

var _ Kernel = (*fakeKernel)(nil)

// next removes and returns the first error.
func next(errs *[]error) error {
	if len(*errs) == 0 {
		return nil
	}
	err := (*errs)[0]
	*errs = (*errs)[1:]
	return err
}

// Facts implements Kernel.
func (k *fakeKernel) Facts(_ context.Context, _ desired.Node, others []desired.Node) (desired.Facts, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.calls++
	var facts desired.Facts
	for _, other := range others {
		for _, address := range other.Addresses {
			if network.Contains(address) {
				facts.OnLink = append(facts.OnLink, address)
			}
		}
	}
	return facts, nil
}

// Apply implements Kernel.
func (k *fakeKernel) Apply(ctx context.Context, state desired.State) ([]string, error) {
	k.mutex.Lock()
	k.calls++
	k.applications = append(k.applications, time.Now())
	err, after, duration, hangs := next(&k.fails), next(&k.failsAfter), k.duration, k.hangs
	k.mutex.Unlock()
	if hangs != nil {
		<-hangs
	}
	if duration > 0 {
		select {
		case <-time.After(duration):
		case <-ctx.Done():
		}
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.interrupted = k.interrupted || ctx.Err() != nil
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	changes := k.changes(state)
	k.has, k.generation = &state, generationOf(state)
	return changes, after
}

// Verify implements Kernel.
func (k *fakeKernel) Verify(context.Context, desired.State) ([]string, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.calls++
	k.verifications = append(k.verifications, time.Now())
	if err := next(&k.verifyFails); err != nil {
		return nil, err
	}
	repairs := k.repairs
	k.repairs = nil
	return repairs, nil
}

// Rules implements Kernel.
func (k *fakeKernel) Rules(context.Context) (uint8, bool, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.calls++
	return k.generation, k.has != nil, next(&k.rulesFails)
}

// network is the layer 2 network of the fake kernel.
var network = netip.MustParsePrefix("10.250.0.0/24")

// exampleState is a simple desired.Compute: routes to all nodes in the network, and a set with the addresses of all pods that a policy allows.
func exampleState(in desired.Input) (desired.State, error) {
	state := desired.State{Conflist: fmt.Sprint(in.Node.PodRanges), Unreachable: map[string]string{}}
	for _, other := range in.Others {
		for i, address := range other.Addresses {
			if i >= len(other.PodRanges) {
				continue
			}
			if !slices.Contains(in.Facts.OnLink, address) {
				state.Unreachable[other.Name] = "behind a gateway"
				continue
			}
			state.Routes = append(state.Routes, desired.Route{To: other.PodRanges[i], Via: address})
		}
	}
	if in.Config.NetworkPolicy == nil {
		return state, nil
	}
	var allowed []string
	if len(in.Cluster.Policies) == 0 {
		for _, pod := range in.Cluster.Pods {
			if pod.Status.PodIP != "" {
				allowed = append(allowed, pod.Status.PodIP)
			}
		}
	}
	slices.Sort(allowed)
	state.Table = nft.Table{
		Sets:   []nft.Set{{Name: "allowed", Elements: allowed}},
		Chains: []nft.Chain{{Name: "generation", Rules: []string{fmt.Sprint(in.Generation)}}},
	}
	return state, nil
}

func generationOf(state desired.State) uint8 {
	var number uint8
	for _, chain := range state.Table.Chains {
		if chain.Name == "generation" {
			_, _ = fmt.Sscan(chain.Rules[0], &number)
		}
	}
	return number
}

// elementsOf are the elements of the set of exampleState.
func elementsOf(sets []nft.Set) map[string]bool {
	elements := map[string]bool{}
	for _, set := range sets {
		for _, element := range set.Elements {
			elements[element] = true
		}
	}
	return elements
}

// allowed returns what the kernel lets pass.
func (k *fakeKernel) allowed() []string {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.has == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(elementsOf(k.has.Table.Sets)))
}

// routes returns the ranges that the kernel has routes to.
func (k *fakeKernel) routes() []string {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	routes := []string{}
	if k.has != nil {
		for _, route := range k.has.Routes {
			routes = append(routes, route.To.String()+" via "+route.Via.String())
		}
	}
	return routes
}

// applied returns how many applications there were.
func (k *fakeKernel) applied() int {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return len(k.applications)
}

// changes describes what differs from what the node has.
func (k *fakeKernel) changes(state desired.State) []string {
	if k.has != nil && reflect.DeepEqual(*k.has, state) {
		return nil
	}
	return []string{"table"}
}
