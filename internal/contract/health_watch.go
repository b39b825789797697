package contract

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
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

const (
	// changePause is the time between a change of a watched object and the check, so that several changes at a time start one check.
	changePause = time.Second
	// unhealthyPause is changePause for an object with a condition that is not True: finding the cause makes requests.
	unhealthyPause = 10 * time.Second
)

// newCache returns a cache with the selected objects only. It makes no request before the manager starts.
func (w Watch) newCache(mgr manager.Manager, failure *watchFailure) (cache.Cache, error) {
	options := cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), ReaderFailOnMissingInformer: true,
		DefaultTransform: func(in any) (any, error) {
			failure.end()
			return w.transform(in), nil
		},
		DefaultWatchErrorHandler: func(ctx context.Context, reflector *toolscache.Reflector, err error) {
			failure.begin(err)
			toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
		},
	}
	if w.Name != "" {
		options.DefaultFieldSelector = fields.OneTermEqualSelector("metadata.name", w.Name)
	}
	watched, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("creating a cache of %T %s: %w", w.Object, w.Name, err)
	}
	return watched, mgr.Add(startedWithCaches{watched})
}

func (w Watch) transform(in any) any {
	if object, ok := in.(client.Object); ok {
		object.SetManagedFields(nil)
		w.Strip(object)
	}
	return in
}

// watchFailure is the failure of a watch that does not end by itself, e.g. because a right is missing.
type watchFailure struct {
	clock clock.PassiveClock

	mutex sync.Mutex
	err   error
	since time.Time
}

// begin records a failure unless it is one of those that a reflector recovers from: a lost connection, an outdated version.
func (f *watchFailure) begin(err error) {
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !apierrors.IsNotFound(err) {
		return
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.err == nil {
		f.since = f.clock.Now()
	}
	f.err = err
}

// end records that objects arrive.
func (f *watchFailure) end() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.err = nil
}

// check returns the failure if what is in memory may be outdated by more than unknownGrace.
func (f *watchFailure) check() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.err == nil || f.clock.Since(f.since) <= unknownGrace {
		return nil
	}
	return fmt.Errorf("watching failed: %w", f.err)
}

// startedWithCaches is a cache that the manager starts before all controllers.
type startedWithCaches struct{ cache.Cache }

func (c startedWithCaches) GetCache() cache.Cache { return c.Cache }

// watchedObjects reads from the caches of Watches.
type watchedObjects struct {
	scheme *runtime.Scheme
	caches map[watchKey]watchedCache
}

// watchedCache is the cache of a Watch.
type watchedCache struct {
	cache.Cache
	failure *watchFailure
}

// read reads unless the objects may be outdated.
func (c watchedCache) read(read func() error) error {
	if err := c.failure.check(); err != nil {
		return err
	}
	return read()
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
		if watched, found := w.caches[watchKey{kind.GroupKind(), name}]; found {
			return watched.read(func() error { return watched.Get(ctx, key, object, options...) })
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
	if watched, found := w.caches[watchKey{kind: kind.GroupKind()}]; found {
		return watched.read(func() error { return watched.List(ctx, list, options...) })
	}
	return fmt.Errorf("objects of kind %s are not all watched", kind.Kind)
}

// watch starts the caches of a Health's Watches, and returns the events of their objects.
func (l *healthChecker[O]) watch(mgr manager.Manager, claimed []predicate.Predicate) ([]source.Source, error) {
	caches := map[watchKey]watchedCache{}
	var events []source.Source
	for _, w := range l.health.Watches {
		kind, err := apiutil.GVKForObject(w.Object, mgr.GetScheme())
		if err != nil {
			return nil, err
		}
		failure := &watchFailure{clock: l.clock}
		watched, err := w.newCache(mgr, failure)
		if err != nil {
			return nil, err
		}
		caches[watchKey{kind.GroupKind(), w.Name}] = watchedCache{watched, failure}
		events = append(events, source.Kind(watched, w.Object, l.changeHandler(claimed)))
	}
	l.watched = watchedObjects{scheme: mgr.GetScheme(), caches: caches}
	return events, nil
}

// changeHandler starts a check of the contract's objects in the namespace of a watched object that changes.
func (l *healthChecker[O]) changeHandler(claimed []predicate.Predicate) handler.EventHandler {
	enqueue := func(ctx context.Context, changed client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		objects, err := l.objectsIn(ctx, changed.GetNamespace(), claimed)
		if err != nil {
			// A cache that knows nothing of the namespace has no object to check there.
			logf.FromContext(ctx).V(1).Info("Starting no health check for a change", "namespace", changed.GetNamespace(), "reason", err.Error())
		}
		for _, object := range objects {
			pause := changePause
			if !l.isHealthy(object) {
				pause = unhealthyPause
			}
			queue.AddAfter(requestFor(object), min(pause, l.interval))
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

// objectsIn returns the contract's objects in a namespace that are checked: usually one.
func (l *healthChecker[O]) objectsIn(ctx context.Context, namespace string, claimed []predicate.Predicate) ([]Object, error) {
	list, err := NewList(l.client.Scheme(), l.health.New())
	if err != nil {
		return nil, err
	}
	if err := l.objects.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	isClaimed := predicate.And(claimed...)
	var objects []Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		if object, ok := item.(Object); ok && isClaimed.Generic(event.GenericEvent{Object: object}) && isProvisioned(object) {
			objects = append(objects, object)
		}
		return nil
	})
	return objects, err
}

// isHealthy reports whether all conditions that checks write are True.
func (l *healthChecker[O]) isHealthy(object Object) bool {
	return !slices.ContainsFunc(l.health.Types, func(conditionType gardencorev1beta1.ConditionType) bool {
		condition := v1beta1helper.GetCondition(object.GetExtensionStatus().GetConditions(), conditionType)
		return condition == nil || condition.Status != gardencorev1beta1.ConditionTrue
	})
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
