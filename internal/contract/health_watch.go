package contract

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Watch selects objects that a Check reads, in all namespaces. They are kept in memory, and a change of one starts a check of the contract's
// object in its namespace.
type Watch struct {
	// Object is an empty object of the kind.
	Object client.Object
	// Name selects the objects of one name; empty selects all.
	Name string
	// Strip removes from an object what the Check does not read. The UID, the name and the resource version stay. A change of what it removes
	// starts no check.
	Strip func(client.Object)
}

// changePause is the time between a change of a watched object and the check, so that several changes at a time start one check.
const changePause = time.Second

// newCache returns a cache with the selected objects only.
func (w Watch) newCache(mgr manager.Manager) (cache.Cache, error) {
	selected := cache.ByObject{Transform: w.transform}
	if w.Name != "" {
		selected.Field = fields.OneTermEqualSelector("metadata.name", w.Name)
	}
	watched, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		ByObject: map[client.Object]cache.ByObject{w.Object: selected}, ReaderFailOnMissingInformer: true,
	})
	if err != nil {
		return nil, fmt.Errorf("creating a cache of %T %s: %w", w.Object, w.Name, err)
	}
	return watched, mgr.Add(startedWithCaches{watched})
}

func (w Watch) transform(in any) (any, error) {
	if object, ok := in.(client.Object); ok {
		object.SetManagedFields(nil)
		w.Strip(object)
	}
	return in, nil
}

// startedWithCaches is a cache that the manager starts before all controllers.
type startedWithCaches struct{ cache.Cache }

func (c startedWithCaches) GetCache() cache.Cache { return c.Cache }

// watchedObjects reads from the caches of Watches.
type watchedObjects struct {
	scheme *runtime.Scheme
	caches map[watchKey]cache.Cache
}

// watchKey is the selection of a Watch.
type watchKey struct {
	kind schema.GroupKind
	name string
}

var _ client.Reader = watchedObjects{}

// Get implements client.Reader.
func (w watchedObjects) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	kind, err := apiutil.GVKForObject(object, w.scheme)
	if err != nil {
		return err
	}
	for _, name := range []string{key.Name, ""} {
		if watched := w.caches[watchKey{kind.GroupKind(), name}]; watched != nil {
			return watched.Get(ctx, key, object, options...)
		}
	}
	return fmt.Errorf("%s %s is not watched", kind.Kind, key.Name)
}

// List implements client.Reader.
func (w watchedObjects) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	kind, err := apiutil.GVKForObject(list, w.scheme)
	if err != nil {
		return err
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	if watched := w.caches[watchKey{kind: kind.GroupKind()}]; watched != nil {
		return watched.List(ctx, list, options...)
	}
	return fmt.Errorf("objects of kind %s are not all watched", kind.Kind)
}

// watch starts the caches of a Health's Watches, and returns the events of their objects.
func (l *healthChecker[O]) watch(mgr manager.Manager, claimed []predicate.Predicate) ([]source.Source, error) {
	caches := map[watchKey]cache.Cache{}
	var events []source.Source
	for _, w := range l.health.Watches {
		kind, err := apiutil.GVKForObject(w.Object, mgr.GetScheme())
		if err != nil {
			return nil, err
		}
		watched, err := w.newCache(mgr)
		if err != nil {
			return nil, err
		}
		caches[watchKey{kind.GroupKind(), w.Name}] = watched
		events = append(events, source.Kind(watched, w.Object, l.changeHandler(mgr.GetScheme(), claimed)))
	}
	l.watched = watchedObjects{scheme: mgr.GetScheme(), caches: caches}
	return events, nil
}

// changeHandler starts a check of the contract's objects in the namespace of a watched object that changes.
func (l *healthChecker[O]) changeHandler(scheme *runtime.Scheme, claimed []predicate.Predicate) handler.EventHandler {
	enqueue := func(ctx context.Context, changed client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		requests, err := l.objectsIn(ctx, scheme, changed.GetNamespace(), claimed)
		if err != nil {
			// A cache that knows nothing of the namespace has no object to check there.
			logf.FromContext(ctx).V(1).Info("Starting no health check for a change", "namespace", changed.GetNamespace(), "reason", err.Error())
		}
		for _, request := range requests {
			queue.AddAfter(request, min(changePause, l.interval))
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if !e.IsInInitialList {
				enqueue(ctx, e.Object, queue)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if differ(e.ObjectOld, e.ObjectNew) {
				enqueue(ctx, e.ObjectNew, queue)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, e.Object, queue)
		},
	}
}

// objectsIn returns requests for the contract's objects in a namespace: usually one.
func (l *healthChecker[O]) objectsIn(
	ctx context.Context, scheme *runtime.Scheme, namespace string, claimed []predicate.Predicate,
) ([]reconcile.Request, error) {
	kind, err := apiutil.GVKForObject(l.health.New(), scheme)
	if err != nil {
		return nil, err
	}
	empty, err := scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err != nil {
		return nil, err
	}
	list, ok := empty.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%T is no list of objects", empty)
	}
	if err := l.objects.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	isClaimed := predicate.And(claimed...)
	var requests []reconcile.Request
	err = meta.EachListItem(list, func(item runtime.Object) error {
		if object, ok := item.(client.Object); ok && isClaimed.Generic(event.GenericEvent{Object: object}) && provisioned(object) {
			requests = append(requests, requestFor(object))
		}
		return nil
	})
	return requests, err
}

// differ reports whether two versions of an object differ in more than the version.
func differ(before, after client.Object) bool {
	same, ok := before.DeepCopyObject().(client.Object)
	if !ok {
		return true
	}
	same.SetResourceVersion(after.GetResourceVersion())
	return !equality.Semantic.DeepEqual(same, after)
}
