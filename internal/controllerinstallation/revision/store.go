package revision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// List returns the revisions of a deployment, the newest first.
func (s Store) List(ctx context.Context, deployment string) ([]Info, error) {
	all, err := s.list(ctx, deployment)
	if err != nil {
		return nil, err
	}
	infos := make([]Info, 0, len(all))
	for _, k := range all {
		infos = append(infos, k.Info)
	}
	return infos, nil
}

func (s Store) list(ctx context.Context, deployment string) ([]*storedRevision, error) {
	objects := &metav1.PartialObjectMetadataList{}
	objects.SetGroupVersionKind(kind().GroupVersion().WithKind("ControllerRevisionList"))
	if err := s.Client.List(ctx, objects, client.InNamespace(namespace), client.MatchingLabels{labelDeployment: deployment}); err != nil {
		return nil, fmt.Errorf("listing the revisions of ControllerDeployment %s: %w", deployment, err)
	}
	var all []*storedRevision
	for i := range objects.Items {
		object := &objects.Items[i]
		if object.DeletionTimestamp != nil {
			continue
		}
		k, err := read(deployment, object)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b *storedRevision) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// get fails with NotFound (apierrors) if there is no such revision.
func (s Store) get(ctx context.Context, deployment, name string) (*storedRevision, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind())
	if !isName(name) {
		return nil, apierrors.NewNotFound(appsv1.Resource("controllerrevisions"), name)
	}
	if err := s.Client.Get(ctx, keyOf(deployment, name), object); err != nil {
		return nil, err
	}
	return read(deployment, object)
}

// Content returns the content of a revision. It fails with NotFound (apierrors) if there is no such revision.
func (s Store) Content(ctx context.Context, deployment, name string) (*Content, error) {
	object := &appsv1.ControllerRevision{}
	if !isName(name) {
		return nil, fmt.Errorf("reading revision %q of ControllerDeployment %s: %w", name, deployment,
			apierrors.NewNotFound(appsv1.Resource("controllerrevisions"), name))
	}
	if err := s.Client.Get(ctx, keyOf(deployment, name), object); err != nil {
		return nil, fmt.Errorf("reading revision %s of ControllerDeployment %s: %w", name, deployment, err)
	}
	k, err := read(deployment, &metav1.PartialObjectMetadata{ObjectMeta: object.ObjectMeta})
	if err != nil {
		return nil, err
	}
	content, err := decode(object.Data.Raw)
	if err != nil {
		return nil, unexpectedContent(object, err)
	}
	is, err := content.Name()
	if err != nil {
		return nil, unexpectedContent(object, err)
	}
	if is != name {
		return nil, unexpectedContent(object, fmt.Errorf("it is that of revision %s", is))
	}
	content.Source, content.Origin = k.Source, k.Origin
	return content, nil
}

func unexpectedContent(object *appsv1.ControllerRevision, err error) error {
	return fmt.Errorf("the content of ControllerRevision %s/%s is not what the operator has kept there: %w: delete it: the newest is recorded anew, and who has an older one gets the last good one",
		object.Namespace, object.Name, err)
}

// Record makes the content the newest revision of a deployment and returns it. It writes nothing if the content is the newest already, with the same
// source and origin. A revision that was recorded before gets a new number and keeps its result, except that Good becomes Candidate unless it is the
// last good one: a revision that was good long ago is evaluated again. A content that is too large to be stored (with a chart of a little more than a
// MiB) is a problem.Problem (ChartTooLarge).
func (s Store) Record(ctx context.Context, deployment *gardencorev1.ControllerDeployment, content *Content) (*Info, error) {
	name, err := content.Name()
	if err != nil {
		return nil, err
	}
	data, err := encode(content)
	if err != nil {
		return nil, err
	}
	isRace := func(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }
	var info *Info
	err = retry.OnError(retry.DefaultBackoff, isRace, func() error {
		info, err = s.record(ctx, deployment, Info{Name: name, Source: content.Source, Origin: content.Origin}, data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("recording revision %s of ControllerDeployment %s: %w", name, deployment.Name, err)
	}
	return info, nil
}

func (s Store) record(ctx context.Context, deployment *gardencorev1.ControllerDeployment, want Info, data []byte) (*Info, error) {
	all, err := s.list(ctx, deployment.Name)
	if err != nil {
		return nil, err
	}
	want.Number, want.Result, want.Since = 1, Candidate, now()
	if len(all) > 0 {
		want.Number = all[0].Number + 1
	}
	at := slices.IndexFunc(all, func(k *storedRevision) bool { return k.Name == want.Name })
	if at < 0 {
		return &want, s.create(ctx, deployment, want, data)
	}
	known := all[at]
	switch lastGood := lastGoodOf(all); {
	case at == 0:
		want.Number, want.Result, want.Reason, want.Since, want.Message = known.Number, known.Result, known.Reason, known.Since, known.Message
	case known.Result == Bad, known == lastGood:
		want.Result, want.Reason, want.Since = known.Result, known.Reason, known.Since
	}
	owner := ownerOf(deployment.Name, deployment.UID)
	return &want, s.change(ctx, known, want, &owner)
}

// create fails with AlreadyExists (apierrors) if the revision was created concurrently.
func (s Store) create(ctx context.Context, deployment *gardencorev1.ControllerDeployment, info Info, data []byte) error {
	err := s.Client.Create(ctx, newObject(deployment, info, data))
	switch {
	case apierrors.IsRequestEntityTooLargeError(err):
		return tooLarge(len(data))
	case !apierrors.IsAlreadyExists(err):
		return err
	}
	// An object that cannot be decoded, or is being deleted, was not created concurrently, and List does not return it.
	switch k, unreadable := s.get(ctx, deployment.Name, info.Name); {
	case unreadable != nil && !apierrors.IsNotFound(unreadable):
		return unreadable
	case unreadable == nil && k.object.DeletionTimestamp != nil:
		return fmt.Errorf("ControllerRevision %s/%s is still being deleted", k.object.Namespace, k.object.Name)
	default:
		return err
	}
}

// change fails with Conflict (apierrors) if the object has changed since it was read.
func (s Store) change(ctx context.Context, k *storedRevision, want Info, owner *metav1.OwnerReference) error {
	patch, err := k.mergePatch(want, owner)
	if err != nil || patch == nil {
		return err
	}
	return s.Client.Patch(ctx, k.object, client.RawPatch(types.MergePatchType, patch))
}

// SetResult writes the result of an evaluation and its reason to a revision. It fails with Conflict (apierrors) if the revision was evaluated or
// recorded anew since it was read. It writes nothing if the revision has that result already.
func (s Store) SetResult(ctx context.Context, deployment string, decided Info, result Result, reason string) error {
	if !result.isValid() {
		return fmt.Errorf("there is no result %q", result)
	}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		k, err := s.get(ctx, deployment, decided.Name)
		if err != nil || k.Result == result {
			return err
		}
		if k.Result != decided.Result || k.Number != decided.Number || !k.Since.Equal(decided.Since) {
			return apierrors.NewConflict(appsv1.Resource("controllerrevisions"), k.object.Name, errors.New("it has been evaluated or recorded since"))
		}
		want := k.Info
		want.Result, want.Reason, want.Since = result, truncate.Text(reason, maxReason), now()
		return s.change(ctx, k, want, nil)
	})
	if err != nil {
		return fmt.Errorf("evaluating revision %s of ControllerDeployment %s: %w", decided.Name, deployment, err)
	}
	return nil
}

// SetMessage replaces the message of a revision.
func (s Store) SetMessage(ctx context.Context, deployment, name, message string) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		k, err := s.get(ctx, deployment, name)
		if err != nil {
			return err
		}
		want := k.Info
		want.Message = truncate.Text(message, maxReason)
		return s.change(ctx, k, want, nil)
	})
	if err != nil {
		return fmt.Errorf("writing a message at revision %s of ControllerDeployment %s: %w", name, deployment, err)
	}
	return nil
}

// Prune removes the oldest revisions of a deployment beyond limit. It neither removes nor counts those to keep, the newest, and the last good one.
func (s Store) Prune(ctx context.Context, deployment string, keep []string, limit int) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		all, err := s.list(ctx, deployment)
		if err != nil || len(all) == 0 {
			return err
		}
		newest, lastGood := all[0], lastGoodOf(all)
		others := slices.DeleteFunc(all, func(k *storedRevision) bool { return k == newest || k == lastGood || slices.Contains(keep, k.Name) })
		for _, k := range others[min(max(limit, 0), len(others)):] {
			if err := s.remove(ctx, k); err != nil {
				return fmt.Errorf("removing revision %s of ControllerDeployment %s: %w", k.Name, deployment, err)
			}
		}
		return nil
	})
}

// remove keeps a revision that was recorded or evaluated again since it was read.
func (s Store) remove(ctx context.Context, k *storedRevision) error {
	as := metav1.Preconditions{UID: &k.object.UID, ResourceVersion: &k.object.ResourceVersion}
	return client.IgnoreNotFound(s.Client.Delete(ctx, k.object, client.Preconditions(as)))
}

// lastGoodOf returns nil if there is none. The revisions have the order of list.
func lastGoodOf(all []*storedRevision) *storedRevision {
	for _, k := range all {
		if k.Result == Good {
			return k
		}
	}
	return nil
}

// now has the precision in which times are stored.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
