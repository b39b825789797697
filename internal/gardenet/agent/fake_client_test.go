package agent

import (
	"context"
	"errors"
	"sync"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
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
