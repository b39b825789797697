package contracttest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
)

// Gardenlet requests operations on one extension object as gardenlet does, and evaluates the result by Gardener's own
// health check. It makes no second request.
type Gardenlet[O contract.Object] struct {
	client client.WithWatch
	key    client.ObjectKey
	new    func() O
}

// NewGardenlet returns a Gardenlet for the object with the key. The constructor returns an empty object.
func NewGardenlet[O contract.Object](server *APIServer, key client.ObjectKey, constructor func() O) *Gardenlet[O] {
	return &Gardenlet[O]{client: server.Client, key: key, new: constructor}
}

// Deploy creates the object with a request in it.
func (g *Gardenlet[O]) Deploy(ctx context.Context, object O, operation string) error {
	object.SetNamespace(g.key.Namespace)
	object.SetName(g.key.Name)
	annotate(object, operationAnnotations(operation))
	if err := g.client.Create(ctx, object); err != nil {
		return fmt.Errorf("creating %s: %w", g.key, err)
	}
	return nil
}

// Request requests an operation: both annotations in one patch.
func (g *Gardenlet[O]) Request(ctx context.Context, operation string) error {
	return g.annotate(ctx, operationAnnotations(operation))
}

// Destroy confirms the deletion and deletes the object.
func (g *Gardenlet[O]) Destroy(ctx context.Context) error {
	confirmation := map[string]string{
		v1beta1constants.ConfirmationDeletion: "true",
		v1beta1constants.GardenerTimestamp:    timestamp(),
	}
	if err := g.annotate(ctx, confirmation); err != nil {
		return err
	}
	if err := g.client.Delete(ctx, g.empty()); err != nil {
		return fmt.Errorf("deleting %s: %w", g.key, err)
	}
	return nil
}

// ForceRemove removes the object with its finalizer, as the loss of its seed does, and returns it.
func (g *Gardenlet[O]) ForceRemove(ctx context.Context) (O, error) {
	object, err := g.Get(ctx)
	if err != nil {
		return object, err
	}
	lost := clone(object)
	object.SetFinalizers(nil)
	if err := g.client.Patch(ctx, object, client.MergeFrom(lost)); err != nil {
		return lost, fmt.Errorf("removing the finalizers of %s: %w", g.key, err)
	}
	if err := g.client.Delete(ctx, object); err != nil {
		return lost, fmt.Errorf("deleting %s: %w", g.key, err)
	}
	return lost, nil
}

// Get reads the object.
func (g *Gardenlet[O]) Get(ctx context.Context) (O, error) {
	object := g.new()
	if err := g.client.Get(ctx, g.key, object); err != nil {
		return object, fmt.Errorf("reading %s: %w", g.key, err)
	}
	return object, nil
}

// PatchStatus changes the object's status, as gardenlet does before a restore.
func (g *Gardenlet[O]) PatchStatus(ctx context.Context, change func(O)) error {
	object, err := g.Get(ctx)
	if err != nil {
		return err
	}
	patch := client.MergeFrom(clone(object))
	change(object)
	if err := g.client.Status().Patch(ctx, object, patch); err != nil {
		return fmt.Errorf("patching status of %s: %w", g.key, err)
	}
	return nil
}

// Backdate moves the last operation and the timestamp of the last request into the past. Gardener compares the two by whole
// seconds: only a request in a later second than the last operation differs from a completed one.
// It must not be called while a process reconciles the object.
func (g *Gardenlet[O]) Backdate(ctx context.Context, by time.Duration) error {
	object, err := g.Get(ctx)
	if err != nil {
		return err
	}
	old := object.GetExtensionStatus().GetLastOperation().LastUpdateTime.Add(-by)
	// In this order, so that the object never appears to have an uncompleted request.
	if err := g.annotate(ctx, map[string]string{v1beta1constants.GardenerTimestamp: old.UTC().Format(time.RFC3339Nano)}); err != nil {
		return err
	}
	return g.PatchStatus(ctx, func(object O) {
		operation := object.GetExtensionStatus().GetLastOperation()
		operation.LastUpdateTime = metav1.NewTime(old)
		object.GetExtensionStatus().SetLastOperation(operation)
	})
}

// WaitReady waits until gardenlet considers the object ready.
func (g *Gardenlet[O]) WaitReady(ctx context.Context) (O, error) {
	return g.WaitFor(ctx, func(object O) error { return health.CheckExtensionObject(object) })
}

// WaitGone waits until the object does not exist any more.
func (g *Gardenlet[O]) WaitGone(ctx context.Context) error {
	_, err := g.WaitFor(ctx, func(O) error { return errors.New("it still exists") })
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// WaitFor watches the object until check returns nil, and returns that object. It fails with NotFound if
// the object is deleted, and with check's last error when the context ends.
func (g *Gardenlet[O]) WaitFor(ctx context.Context, check func(O) error) (O, error) {
	for {
		object, err := g.watch(ctx, check)
		switch {
		case errors.Is(err, errWatchEnded):
			continue
		case err != nil && ctx.Err() != nil:
			return object, fmt.Errorf("waiting for %s: %w", g.key, err)
		default:
			return object, err
		}
	}
}

var errWatchEnded = errors.New("the watch ended")

// watch opens the watch before it reads the object, so that no change in between is missed.
func (g *Gardenlet[O]) watch(ctx context.Context, check func(O) error) (O, error) {
	list, err := contract.NewList(g.client.Scheme(), g.new())
	if err != nil {
		return g.new(), err
	}
	watcher, err := g.client.Watch(ctx, list, client.InNamespace(g.key.Namespace), client.MatchingFields{"metadata.name": g.key.Name})
	if err != nil {
		return g.new(), fmt.Errorf("watching %s: %w", g.key, err)
	}
	defer watcher.Stop()
	object, err := g.Get(ctx)
	if err != nil {
		return object, err
	}
	for {
		unmet := check(object)
		if unmet == nil {
			return object, nil
		}
		select {
		case <-ctx.Done():
			return object, unmet
		case event, open := <-watcher.ResultChan():
			if !open && ctx.Err() != nil {
				return object, unmet
			}
			if !open {
				return object, errWatchEnded
			}
			if event.Type == watch.Deleted {
				return object, apierrors.NewNotFound(extensionsv1alpha1.Resource("objects"), g.key.Name)
			}
			if next, ok := event.Object.(O); ok && !isOlder(next, object) {
				object = next
			}
		}
	}
}

// isOlder reports whether an event is older than what was read after the watch had been opened.
func isOlder(event, read client.Object) bool {
	order, err := resourceversion.CompareResourceVersion(event.GetResourceVersion(), read.GetResourceVersion())
	return err == nil && order < 0
}

func (g *Gardenlet[O]) annotate(ctx context.Context, annotations map[string]string) error {
	object, err := g.Get(ctx)
	if err != nil {
		return err
	}
	patch := client.MergeFrom(clone(object))
	annotate(object, annotations)
	if err := g.client.Patch(ctx, object, patch); err != nil {
		return fmt.Errorf("annotating %s: %w", g.key, err)
	}
	return nil
}

func (g *Gardenlet[O]) empty() O {
	object := g.new()
	object.SetNamespace(g.key.Namespace)
	object.SetName(g.key.Name)
	return object
}

func clone[O client.Object](object O) O {
	copied, _ := object.DeepCopyObject().(O) // a deep copy has the type of its original
	return copied
}

func annotate(object client.Object, annotations map[string]string) {
	all := maps.Clone(object.GetAnnotations())
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, annotations)
	object.SetAnnotations(all)
}

func operationAnnotations(operation string) map[string]string {
	return map[string]string{v1beta1constants.GardenerOperation: operation, v1beta1constants.GardenerTimestamp: timestamp()}
}

func timestamp() string { return time.Now().UTC().Format(time.RFC3339Nano) }
