package observer

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// The cache may hold only what is needed to select objects.
func TestReadObservable(t *testing.T) {
	object := func(state gardencorev1beta1.LastOperationState, region string) *extensionsv1alpha1.Infrastructure {
		return &extensionsv1alpha1.Infrastructure{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "one"},
			Spec:       extensionsv1alpha1.InfrastructureSpec{Region: region},
			Status: extensionsv1alpha1.InfrastructureStatus{DefaultStatus: extensionsv1alpha1.DefaultStatus{
				LastOperation: &gardencorev1beta1.LastOperation{Type: gardencorev1beta1.LastOperationTypeReconcile, State: state},
			}},
		}
	}
	const succeeded, processing = gardencorev1beta1.LastOperationStateSucceeded, gardencorev1beta1.LastOperationStateProcessing
	for sentence, test := range map[string]struct {
		cached, stored *extensionsv1alpha1.Infrastructure
		reason         string
	}{
		"the object is complete although the cache strips it": {cached: object(succeeded, ""), stored: object(succeeded, "north")},
		"the primary began after the cache was updated": {
			cached: object(succeeded, ""), stored: object(processing, "north"), reason: "the primary controller works on the object",
		},
		"the cache alone decides to wait": {cached: object(processing, ""), reason: "the primary controller works on the object"},
	} {
		t.Run(sentence, func(t *testing.T) {
			scheme := runtime.NewScheme()
			require.NoError(t, extensionsv1alpha1.AddToScheme(scheme))
			readerOf := func(object *extensionsv1alpha1.Infrastructure) client.Reader {
				builder := fake.NewClientBuilder().WithScheme(scheme)
				if object != nil {
					builder = builder.WithObjects(object)
				}
				return builder.Build()
			}
			c := &observerController[*extensionsv1alpha1.Infrastructure]{
				observer: Observer[*extensionsv1alpha1.Infrastructure]{New: func() *extensionsv1alpha1.Infrastructure { return &extensionsv1alpha1.Infrastructure{} }},
				objects:  readerOf(test.cached), reader: readerOf(test.stored),
			}
			found, reason, err := c.readObservable(t.Context(), client.ObjectKeyFromObject(test.cached))
			require.NoError(t, err)
			assert.Equal(t, test.reason, reason)
			if reason == "" {
				assert.Equal(t, "north", found.Spec.Region)
			}
		})
	}
}
