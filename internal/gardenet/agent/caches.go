package agent

import (
	"context"
	"reflect"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// caches hold the trimmed objects of the API server. While it does not answer, they keep what they have.
type caches struct {
	nodes, pods, namespaces, policies *informer
}

// informer keeps the objects of one resource.
type informer struct {
	resource   Resource
	store      cache.Store
	controller cache.Controller
}

// newCaches returns caches that call changed after each change of something that the agent needs. Without policies, only Nodes are watched.
func newCaches(client Client, policies bool, log logr.Logger, changed func()) *caches {
	c := &caches{nodes: newInformer(client, Nodes, &corev1.Node{}, same[corev1.Node], log, changed)}
	if policies {
		c.pods = newInformer(client, Pods, &corev1.Pod{}, same[corev1.Pod], log, changed)
		c.namespaces = newInformer(client, Namespaces, &corev1.Namespace{}, same[corev1.Namespace], log, changed)
		c.policies = newInformer(client, NetworkPolicies, &networkingv1.NetworkPolicy{}, same[networkingv1.NetworkPolicy], log, changed)
	}
	return c
}

func newInformer(client Client, resource Resource, kind runtime.Object, same func(a, b any) bool, log logr.Logger, changed func()) *informer {
	log = log.WithValues("resource", string(resource))
	i := &informer{resource: resource}
	i.store, i.controller = cache.NewInformerWithOptions(cache.InformerOptions{
		Logger:        &log,
		ListerWatcher: client.ListerWatcher(resource),
		ObjectType:    kind,
		Transform:     transform,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { changed() },
			DeleteFunc: func(any) { changed() },
			UpdateFunc: func(old, current any) {
				if !same(old, current) {
					changed()
				}
			},
		},
	})
	return i
}

// same returns whether two trimmed objects differ at most in their resource version: most changes of Nodes and Pods concern what was trimmed.
func same[T any, P interface {
	*T
	metav1.Object
}](a, b any,
) bool {
	first, isFirst := a.(P)
	second, isSecond := b.(P)
	if !isFirst || !isSecond {
		return false
	}
	x, y := *first, *second
	P(&x).SetResourceVersion("")
	P(&y).SetResourceVersion("")
	return reflect.DeepEqual(x, y)
}

// all returns the informers in use.
func (c *caches) all() []*informer {
	if c.pods == nil {
		return []*informer{c.nodes}
	}
	return []*informer{c.nodes, c.pods, c.namespaces, c.policies}
}

// run fills the caches until the context ends, and returns when they are at rest.
func (c *caches) run(ctx context.Context) {
	var running sync.WaitGroup
	for _, i := range c.all() {
		running.Go(func() { i.controller.RunWithContext(ctx) })
	}
	running.Wait()
}

// missing returns the resources that have not been read yet.
func (c *caches) missing() []Resource {
	var resources []Resource
	for _, i := range c.all() {
		if !i.controller.HasSynced() {
			resources = append(resources, i.resource)
		}
	}
	return resources
}

// list returns the objects of a cache, which must not be changed.
func list[P any](i *informer) []P {
	if i == nil {
		return nil
	}
	objects := i.store.List()
	typed := make([]P, 0, len(objects))
	for _, object := range objects {
		if object, ok := object.(P); ok {
			typed = append(typed, object)
		}
	}
	return typed
}
