package contracttest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Key identifies an object in a cluster.
type Key struct{ Kind, Namespace, Name string }

// String returns for example "Deployment csi-driver-controller".
func (k Key) String() string { return k.Kind + " " + k.Name }

// keyOf returns the object's key.
func keyOf(object *unstructured.Unstructured) Key {
	return Key{Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
}

func keyOfReference(ref resourcesv1alpha1.ObjectReference) Key {
	return Key{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
}

// ObjectTracker tracks the objects that ManagedResources have created in one cluster, with their history: a shoot outlives its seed, and
// tests check whether an object is still the same.
type ObjectTracker struct {
	// OnChange, if not nil, is called for every object that is created or changed, and with false for those that are
	// deleted.
	OnChange func(object *unstructured.Unstructured, there bool)

	mutex   sync.Mutex
	objects map[Key]*unstructured.Unstructured
	history []string
}

// NewObjectTracker returns the tracker of an empty cluster.
func NewObjectTracker() *ObjectTracker {
	return &ObjectTracker{objects: map[Key]*unstructured.Unstructured{}}
}

// Get returns a copy of an object, nil if there is none.
func (r *ObjectTracker) Get(kind, name string) *unstructured.Unstructured {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for key, object := range r.objects {
		if key.Kind == kind && key.Name == name {
			return object.DeepCopy()
		}
	}
	return nil
}

// Find returns a copy of the object with a key, nil if there is none.
func (r *ObjectTracker) Find(key Key) *unstructured.Unstructured {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if object := r.objects[key]; object != nil {
		return object.DeepCopy()
	}
	return nil
}

// Keys returns the keys of all objects, in a stable order.
func (r *ObjectTracker) Keys() []Key {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.SortedFunc(maps.Keys(r.objects), func(a, b Key) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// OfKind returns copies of all objects of a kind.
func (r *ObjectTracker) OfKind(kind string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, key := range r.Keys() {
		if key.Kind == kind {
			found = append(found, r.Find(key))
		}
	}
	return found
}

// History returns the changes, oldest first: "created Deployment one", "changed Deployment one", "deleted Deployment one".
func (r *ObjectTracker) History() []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.history)
}

// ClearHistory clears the history, and keeps the objects.
func (r *ObjectTracker) ClearHistory() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.history = nil
}

// apply creates or changes an object. known are the annotations that the ManagedResource has set before: those that are
// not wanted any more are removed, those of others stay. An object that is to be ignored is only created.
func (r *ObjectTracker) apply(wanted *unstructured.Unstructured, known map[string]string) {
	if r.change(wanted, known) {
		r.notify(wanted, true)
	}
}

func (r *ObjectTracker) notify(object *unstructured.Unstructured, exists bool) {
	if r.OnChange != nil {
		r.OnChange(object.DeepCopy(), exists)
	}
}

func (r *ObjectTracker) change(wanted *unstructured.Unstructured, known map[string]string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	key := keyOf(wanted)
	found := r.objects[key]
	if found == nil {
		r.objects[key] = wanted.DeepCopy()
		r.history = append(r.history, "created "+key.String())
		return true
	}
	if isTrue(wanted.GetAnnotations(), resourcesv1alpha1.Ignore) {
		return false
	}
	next := wanted.DeepCopy()
	annotations := maps.Clone(found.GetAnnotations())
	maps.DeleteFunc(annotations, func(name, _ string) bool { _, was := known[name]; return was })
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, wanted.GetAnnotations())
	if len(annotations) > 0 {
		next.SetAnnotations(annotations)
	}
	if equality.Semantic.DeepEqual(found, next) {
		return false
	}
	r.objects[key] = next
	r.history = append(r.history, "changed "+key.String())
	return true
}

// deleteUnlessKept deletes an object, unless its annotation says to keep it.
func (r *ObjectTracker) deleteUnlessKept(key Key) {
	if deleted := r.remove(key); deleted != nil {
		r.notify(deleted, false)
	}
}

func (r *ObjectTracker) remove(key Key) *unstructured.Unstructured {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	found := r.objects[key]
	if found == nil || isTrue(found.GetAnnotations(), resourcesv1alpha1.KeepObject) {
		return nil
	}
	delete(r.objects, key)
	r.history = append(r.history, "deleted "+key.String())
	return found
}

// Deletions returns the deletions of the history.
func (r *ObjectTracker) Deletions() []string {
	return slices.DeleteFunc(r.History(), func(sentence string) bool { return !strings.HasPrefix(sentence, "deleted ") })
}

func isTrue(annotations map[string]string, name string) bool { return annotations[name] == "true" }
