package contract

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// wholeObject has everything that an object can have.
func wholeObject() *extensionsv1alpha1.Infrastructure {
	return &extensionsv1alpha1.Infrastructure{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shoot--dev--one", Name: "one", UID: "8f3b2a3c", ResourceVersion: "7", Generation: 3, Finalizers: []string{testFinalizer},
			Labels: map[string]string{"a": "b"}, OwnerReferences: []metav1.OwnerReference{{Name: "one"}},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "gardenlet"}},
			Annotations: map[string]string{
				v1beta1constants.GardenerTimestamp: "2026-01-01T10:00:00Z", "kubectl.kubernetes.io/last-applied-configuration": "{}",
			},
		},
		Spec: extensionsv1alpha1.InfrastructureSpec{
			DefaultSpec: extensionsv1alpha1.DefaultSpec{
				Type: "test", Class: new(extensionsv1alpha1.ExtensionClassShoot), ProviderConfig: &runtime.RawExtension{Raw: []byte(`{}`)},
			},
			Region: "r", SSHPublicKey: []byte("key"),
		},
		Status: extensionsv1alpha1.InfrastructureStatus{
			DefaultStatus: extensionsv1alpha1.DefaultStatus{
				ObservedGeneration: 3,
				LastOperation: &gardencorev1beta1.LastOperation{
					Type: gardencorev1beta1.LastOperationTypeReconcile, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100,
					Description: "done", LastUpdateTime: metav1.NewTime(time.Date(2026, 1, 1, 11, 0, 0, 0, time.UTC)),
				},
				Conditions: []gardencorev1beta1.Condition{{Type: "Other", Status: gardencorev1beta1.ConditionTrue, Message: "of somebody else"}},
				State:      &runtime.RawExtension{Raw: []byte(`{"a":1}`)},
				Resources:  []gardencorev1beta1.NamedResourceReference{{Name: "secret"}},
			},
			EgressCIDRs: []string{"192.0.2.1/32"},
		},
	}
}

func reduced(t *testing.T, object *extensionsv1alpha1.Infrastructure) *extensionsv1alpha1.Infrastructure {
	t.Helper()
	transform := CacheTransform(func(object *extensionsv1alpha1.Infrastructure) {
		object.Spec = extensionsv1alpha1.InfrastructureSpec{DefaultSpec: StripSpec(object.Spec.DefaultSpec)}
		object.Status = extensionsv1alpha1.InfrastructureStatus{DefaultStatus: object.Status.DefaultStatus}
		object.Status.State = nil
	})
	out, err := transform(object.DeepCopy())
	require.NoError(t, err)
	return out.(*extensionsv1alpha1.Infrastructure)
}

func TestCacheTransform_Content(t *testing.T) {
	whole := wholeObject()
	assert.Equal(t, &extensionsv1alpha1.Infrastructure{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shoot--dev--one", Name: "one", UID: "8f3b2a3c", ResourceVersion: "7", Generation: 3, Finalizers: []string{testFinalizer},
			Annotations: map[string]string{v1beta1constants.GardenerTimestamp: "2026-01-01T10:00:00Z"},
		},
		Spec: extensionsv1alpha1.InfrastructureSpec{DefaultSpec: extensionsv1alpha1.DefaultSpec{
			Type: "test", Class: new(extensionsv1alpha1.ExtensionClassShoot),
		}},
		Status: extensionsv1alpha1.InfrastructureStatus{DefaultStatus: extensionsv1alpha1.DefaultStatus{
			ObservedGeneration: 3, Conditions: whole.Status.Conditions,
			LastOperation: &gardencorev1beta1.LastOperation{
				Type: gardencorev1beta1.LastOperationTypeReconcile, State: gardencorev1beta1.LastOperationStateSucceeded,
				LastUpdateTime: whole.Status.LastOperation.LastUpdateTime,
			},
		}},
	}, reduced(t, whole))

	other := &metav1.PartialObjectMetadata{}
	out, err := CacheTransform(func(*extensionsv1alpha1.Infrastructure) {})(other)
	require.NoError(t, err)
	assert.Same(t, other, out, "other objects stay as they are")
}

// What the runtime decides from memory must be what it would decide from the whole object.
func TestCacheTransform_SameDecisions(t *testing.T) {
	for sentence, change := range map[string]func(*extensionsv1alpha1.Infrastructure){
		"an object at rest": func(*extensionsv1alpha1.Infrastructure) {},
		"a requested operation": func(o *extensionsv1alpha1.Infrastructure) {
			o.Annotations[v1beta1constants.GardenerOperation] = v1beta1constants.GardenerOperationReconcile
		},
		"a migration": func(o *extensionsv1alpha1.Infrastructure) {
			o.Annotations[v1beta1constants.GardenerOperation] = v1beta1constants.GardenerOperationMigrate
		},
		"a request that was not finished": func(o *extensionsv1alpha1.Infrastructure) {
			o.Annotations[v1beta1constants.GardenerTimestamp] = "2026-01-01T12:00:00Z"
		},
		"a new object":        func(o *extensionsv1alpha1.Infrastructure) { o.Status = extensionsv1alpha1.InfrastructureStatus{} },
		"a deletion":          func(o *extensionsv1alpha1.Infrastructure) { o.DeletionTimestamp = new(metav1.Now()) },
		"a finished deletion": func(o *extensionsv1alpha1.Infrastructure) { o.DeletionTimestamp, o.Finalizers = new(metav1.Now()), nil },
		"an error": func(o *extensionsv1alpha1.Infrastructure) {
			o.Status.LastOperation.State = gardencorev1beta1.LastOperationStateError
			o.Status.LastError = &gardencorev1beta1.LastError{Description: "no", Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraQuotaExceeded}}
		},
		"a changed spec": func(o *extensionsv1alpha1.Infrastructure) { o.Generation = 4 },
	} {
		t.Run(sentence, func(t *testing.T) {
			whole := wholeObject()
			change(whole)
			inMemory := reduced(t, whole)
			for _, ignoreOperationAnnotation := range []bool{false, true} {
				assert.Equal(t, Pending(whole, testFinalizer, ignoreOperationAnnotation), Pending(inMemory, testFinalizer, ignoreOperationAnnotation))
				assert.Equal(t, requestsOperation(wholeObject(), whole, ignoreOperationAnnotation),
					requestsOperation(reduced(t, wholeObject()), inMemory, ignoreOperationAnnotation))
			}
			assert.Equal(t, isProvisioned(whole), isProvisioned(inMemory))
			assert.Equal(t, operationsDiffer(wholeObject().Status.LastOperation, whole.Status.LastOperation),
				operationsDiffer(reduced(t, wholeObject()).Status.LastOperation, inMemory.Status.LastOperation))
		})
	}
}
