package registration

import (
	"encoding/json"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	"github.com/stretchr/testify/require"
)

// FuzzRegistration lets anything be written next to anything. Nothing panics; what does not change passes without a look; and what may be created
// shares no primary with what is there already, nor names one twice.
func FuzzRegistration(f *testing.F) {
	for _, object := range []any{
		controllerRegistration("new", "Infrastructure/a", "Network/x"), deployedRegistration("new", "Worker/b-", "Worker/b", "Worker/b+"),
		extensionOf("new", "Infrastructure/a", "Worker/c"), extensionWithAdmissionOnly("new", "Infrastructure/a"), controllerRegistration("cloud", "Infrastructure/a"),
	} {
		f.Add(encoded(f, object), encoded(f, controllerRegistration("cloud", "Infrastructure/a", "Infrastructure/b", "Worker/c")))
	}
	f.Fuzz(func(t *testing.T, object, present []byte) {
		var (
			existing  gardencorev1beta1.ControllerRegistration
			extension operatorv1alpha1.Extension
		)
		if json.Unmarshal(present, &existing) != nil || json.Unmarshal(present, &extension) != nil {
			return
		}
		for _, isExtension := range []bool{false, true} {
			garden := &fakeCluster{registrations: []gardencorev1beta1.ControllerRegistration{existing}}
			runtimeCluster := &fakeCluster{extensions: []operatorv1alpha1.Extension{extension}}
			created := callWebhook(t, garden, runtimeCluster, object, nil, isExtension)
			callWebhook(t, garden, runtimeCluster, object, present, isExtension)

			garden.requests, runtimeCluster.requests = 0, 0
			same := callWebhook(t, garden, runtimeCluster, object, object, isExtension)
			require.Equal(t, 0, garden.requests+runtimeCluster.requests)
			var requested gardencorev1beta1.ControllerRegistration
			if json.Unmarshal(object, &requested) != nil {
				continue
			}
			require.True(t, same.Allowed || isExtension, same.Result)
			if isExtension || !created.Allowed || requested.DeletionTimestamp != nil {
				continue
			}
			for key, times := range fromControllerRegistration(&requested).primaries() {
				require.Equal(t, 1, times, key)
				require.True(t, requested.Name == existing.Name || fromControllerRegistration(&existing).primaries()[key] == 0, key)
			}
		}
	})
}
