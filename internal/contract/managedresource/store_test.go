package managedresource

import (
	"context"
	"os"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

var apiServer contracttest.Shared

func TestMain(m *testing.M) { os.Exit(apiServer.Run(m)) }

// A deletion during the first application makes the report of the applied objects fail, and then the objects to delete are unknown.
func TestRemove_WhileObjectsAreBeingApplied(t *testing.T) {
	server := apiServer.Get(t)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	reads := make(chan struct{}, 1000)
	counting := interceptor.NewClient(server.Client, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			reads <- struct{}{}
			return c.Get(ctx, key, object, options...)
		},
	})
	manager := contracttest.NewResourceManager(server, namespace, contracttest.NewObjectTracker())
	store := Store{Client: counting, Namespace: namespace, Labels: map[string]string{"role": "test"}}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "settings"}}
	require.NoError(t, store.Apply(t.Context(), Resource{Name: "plugin", Objects: []client.Object{settings}}))
	for len(reads) > 0 {
		<-reads
	}

	removed := make(chan error, 1)
	manager.BeforeReport = func(string) {
		manager.BeforeReport = nil
		go func() { removed <- store.Remove(t.Context(), "plugin") }()
		for range 2 { // It has processed the first response when it requests again.
			<-reads
		}
	}
	require.NoError(t, manager.Reconcile(t.Context(), "plugin"))
	for len(removed) == 0 {
		require.NoError(t, manager.Reconcile(t.Context(), "plugin"))
	}
	require.NoError(t, <-removed)
	assert.Equal(t, []string{"created ConfigMap settings", "deleted ConfigMap settings"}, manager.Shoot().History())
	assert.Empty(t, manager.Violations())
}

func TestApplyFailureReason(t *testing.T) {
	const progressing, no = gardencorev1beta1.ConditionProgressing, gardencorev1beta1.ConditionFalse
	condition := func(status gardencorev1beta1.ConditionStatus, reason string) *resourcesv1alpha1.ManagedResource {
		resource := contracttest.ManagedResource("r", contracttest.ManagedResourceState{
			Kind: resourcesv1alpha1.ResourcesApplied, Status: status, Reason: reason, Message: "Told.",
		})
		resource.Generation = 2
		return resource
	}
	const notApplied = "gardener-resource-manager has not applied r yet (Told.)"
	for sentence, tt := range map[string]struct {
		resource *resourcesv1alpha1.ManagedResource
		want     string
	}{
		"nobody has begun":                         {resource: &resourcesv1alpha1.ManagedResource{}},
		"nobody has seen a change":                 {resource: condition(gardencorev1beta1.ConditionTrue, resourcesv1alpha1.ConditionApplySucceeded)},
		"objects are being applied":                {resource: condition(progressing, resourcesv1alpha1.ConditionApplyProgressing)},
		"an earlier object is not gone":            {resource: condition(progressing, resourcesv1alpha1.ConditionDeletionPending)},
		"an object is refused":                     {resource: condition(no, resourcesv1alpha1.ConditionApplyFailed), want: notApplied},
		"an object was refused, and is tried anew": {resource: condition(progressing, resourcesv1alpha1.ConditionApplyFailed), want: notApplied},
		"an earlier object cannot be deleted":      {resource: condition(no, resourcesv1alpha1.ConditionDeletionFailed), want: notApplied},
		"an object cannot be decoded":              {resource: condition(no, resourcesv1alpha1.ConditionDecodingFailed), want: notApplied},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, tt.want, ApplyFailureReason(tt.resource)) })
	}
}

func TestIsBeingApplied(t *testing.T) {
	const applied, progressing = resourcesv1alpha1.ResourcesApplied, gardencorev1beta1.ConditionProgressing
	condition := func(status gardencorev1beta1.ConditionStatus, reason string) *resourcesv1alpha1.ManagedResource {
		return contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: applied, Status: status, Reason: reason})
	}
	kept := condition(progressing, resourcesv1alpha1.ConditionApplyProgressing)
	kept.Spec.KeepObjects = new(true)
	deleted := condition(progressing, resourcesv1alpha1.ConditionApplyProgressing)
	deleted.DeletionTimestamp = new(metav1.Now())
	for sentence, tt := range map[string]struct {
		resource *resourcesv1alpha1.ManagedResource
		want     bool
	}{
		"yes while objects are applied for the first time": {condition(progressing, resourcesv1alpha1.ConditionApplyProgressing), true},
		"yes while a failed application is repeated":       {condition(progressing, resourcesv1alpha1.ConditionApplyFailed), true},
		"no when nobody has begun":                         {&resourcesv1alpha1.ManagedResource{}, false},
		"no when all is applied":                           {condition(gardencorev1beta1.ConditionTrue, resourcesv1alpha1.ConditionApplySucceeded), false},
		"no between two attempts that fail":                {condition(gardencorev1beta1.ConditionFalse, resourcesv1alpha1.ConditionApplyFailed), false},
		"no while an earlier object is not gone":           {condition(progressing, resourcesv1alpha1.ConditionDeletionPending), false},
		"no where objects stay":                            {kept, false},
		"no when its deletion is under way":                {deleted, false},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, tt.want, isBeingApplied(tt.resource)) })
	}
}

func TestReplace(t *testing.T) {
	server := apiServer.Get(t)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	store := Store{Client: server.Client, Namespace: namespace, Labels: map[string]string{"role": "test"}}
	wanted := func(value string) Resource {
		return Resource{Name: "plugin", Annotations: map[string]string{"value": value}, Objects: []client.Object{&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "settings"}, Data: map[string]string{"value": value},
		}}}
	}
	require.NoError(t, store.Apply(t.Context(), wanted("a")))
	first, err := store.Get(t.Context(), "plugin")
	require.NoError(t, err)

	require.NoError(t, store.Replace(t.Context(), first, wanted("b")))
	content, _, err := store.Content(t.Context(), "plugin")
	require.NoError(t, err)
	require.Len(t, content, 1)
	assert.Equal(t, map[string]any{"value": "b"}, content[0].Object["data"])
	second, err := store.Get(t.Context(), "plugin")
	require.NoError(t, err)
	assert.Equal(t, "b", second.Annotations["value"])
	old := &corev1.Secret{}
	err = server.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: first.Spec.SecretRefs[0].Name}, old)
	assert.True(t, apierrors.IsNotFound(err), "the Secret with the content before: %v", err)

	assert.True(t, apierrors.IsConflict(store.Replace(t.Context(), first, wanted("c"))), "somebody else has changed it")
	require.NoError(t, store.Replace(t.Context(), second, wanted("b")))
	require.NoError(t, server.Client.Delete(t.Context(), second.DeepCopy()))
	assert.True(t, apierrors.IsNotFound(store.Replace(t.Context(), second, wanted("d"))), "it does not create what somebody else has deleted")
}
