package worker

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/utils/flow"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

// concurrency bounds the concurrent requests for machines, of which there may be hundreds.
const concurrency = 20

// store reads and writes a shoot's machine objects in the seed. It reads without a cache.
type store struct {
	client    client.Client
	namespace string
}

func storeOf(rec *reconciliation) store {
	return store{client: rec.Client, namespace: rec.Object.Namespace}
}

// observe reads deployments, sets and machines, in the order of their ownership: a later kind is never older than an earlier
// one.
func (s store) observe(ctx context.Context) (machinestatus.Observed, error) {
	var deployments machinev1alpha1.MachineDeploymentList
	var sets machinev1alpha1.MachineSetList
	var machines machinev1alpha1.MachineList
	now := time.Now()
	for _, list := range []client.ObjectList{&deployments, &sets, &machines} {
		if err := s.client.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			return machinestatus.Observed{}, fmt.Errorf("listing machines: %w", err)
		}
	}
	return machinestatus.Observed{Deployments: deployments.Items, Sets: sets.Items, Machines: machines.Items, At: now}, nil
}

func (s store) classes(ctx context.Context) ([]machinev1alpha1.MachineClass, error) {
	var list machinev1alpha1.MachineClassList
	if err := s.client.List(ctx, &list, client.InNamespace(s.namespace)); err != nil {
		return nil, fmt.Errorf("listing machine classes: %w", err)
	}
	return list.Items, nil
}

// classSecrets are the Secrets of all classes in the namespace, also of other extensions' classes.
func (s store) classSecrets(ctx context.Context) ([]corev1.Secret, error) {
	var list corev1.SecretList
	purpose := client.MatchingLabels{v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass}
	if err := s.client.List(ctx, &list, client.InNamespace(s.namespace), purpose); err != nil {
		return nil, fmt.Errorf("listing secrets of machine classes: %w", err)
	}
	return list.Items, nil
}

// classWithSecret is a class and its Secret.
type classWithSecret struct {
	class  *machinev1alpha1.MachineClass
	secret *corev1.Secret
}

// createOrPatchClasses creates or updates classes, each after its Secret.
func (s store) createOrPatchClasses(ctx context.Context, wanted []classWithSecret, existing []machinev1alpha1.MachineClass) error {
	secrets, err := s.classSecrets(ctx)
	if err != nil {
		return err
	}
	return inParallel(ctx, wanted, func(ctx context.Context, w classWithSecret) error {
		if err := s.createOrPatch(ctx, find(secrets, w.secret.Name), w.secret.DeepCopy(), func(have client.Object) {
			secret, _ := have.(*corev1.Secret)
			mergeLabels(secret, w.secret.Labels)
			if !maps.EqualFunc(secret.Data, w.secret.Data, bytes.Equal) {
				secret.Data = w.secret.Data
			}
		}); err != nil {
			return err
		}
		return s.createOrPatch(ctx, find(existing, w.class.Name), w.class.DeepCopy(), func(have client.Object) {
			class, _ := have.(*machinev1alpha1.MachineClass)
			mergeLabels(class, w.class.Labels)
			class.Provider, class.ProviderSpec = w.class.Provider, w.class.ProviderSpec
			class.CredentialsSecretRef, class.SecretRef = w.class.CredentialsSecretRef, w.class.SecretRef
			class.NodeTemplate = w.class.NodeTemplate
		})
	})
}

func mergeLabels(object client.Object, wanted map[string]string) {
	labels := maps.Clone(object.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, wanted)
	object.SetLabels(labels)
}

// createOrPatch creates an object, or patches the difference if it exists. Without a difference it makes no write. It writes only what
// change sets: others write to the same objects.
func (s store) createOrPatch(ctx context.Context, existing, wanted client.Object, change func(have client.Object)) error {
	if existing == nil {
		if err := s.client.Create(ctx, wanted); err != nil {
			return fmt.Errorf("creating %T %s: %w", wanted, wanted.GetName(), err)
		}
		return nil
	}
	//nolint:forcetypeassert // a deep copy has the type of its original
	changed := existing.DeepCopyObject().(client.Object)
	change(changed)
	patch, err := client.MergeFrom(existing).Data(changed)
	if err != nil {
		return fmt.Errorf("comparing %T %s: %w", existing, existing.GetName(), err)
	}
	if string(patch) == "{}" {
		return nil
	}
	if err := s.client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("changing %T %s: %w", existing, existing.GetName(), err)
	}
	return nil
}

// remove deletes the objects that are not being deleted yet.
func (s store) remove(ctx context.Context, objects ...client.Object) error {
	objects = slices.DeleteFunc(objects, func(object client.Object) bool { return object.GetDeletionTimestamp() != nil })
	return inParallel(ctx, objects, func(ctx context.Context, object client.Object) error {
		if err := s.client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting %T %s: %w", object, object.GetName(), err)
		}
		return nil
	})
}

// labelForceDeletion makes machine-controller-manager delete a machine without draining its node, and without regard to disruption budgets.
const labelForceDeletion = "force-deletion"

// labelForForceDeletion labels machines before their deletion.
func (s store) labelForForceDeletion(ctx context.Context, machines []machinev1alpha1.Machine) error {
	return inParallel(ctx, pointers(machines), func(ctx context.Context, object client.Object) error {
		err := s.createOrPatch(ctx, object, nil, func(have client.Object) { mergeLabels(have, map[string]string{labelForceDeletion: "True"}) })
		return client.IgnoreNotFound(err)
	})
}

// inParallel calls a function for each item. All errors are returned.
func inParallel[T any](ctx context.Context, items []T, do func(context.Context, T) error) error {
	tasks := make([]flow.TaskFn, 0, len(items))
	for _, item := range items {
		tasks = append(tasks, func(ctx context.Context) error { return do(ctx, item) })
	}
	return flow.ParallelN(concurrency, tasks...)(ctx)
}

// object is satisfied by *T for each kind T.
type object[T any] interface {
	*T
	client.Object
}

// find returns the object with a name, nil if there is none.
func find[T any, P object[T]](objects []T, name string) client.Object {
	for i := range objects {
		if P(&objects[i]).GetName() == name {
			return P(&objects[i])
		}
	}
	return nil
}

func pointers[T any, P object[T]](objects []T) []client.Object {
	all := make([]client.Object, len(objects))
	for i := range objects {
		all[i] = P(&objects[i])
	}
	return all
}

// namesOf returns the names of a list of objects.
func namesOf[T any, P object[T]](objects []T) []string {
	names := make([]string, len(objects))
	for i := range objects {
		names[i] = P(&objects[i]).GetName()
	}
	return names
}
