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
		extensionOf("new", "Infrastructure/a", "Worker/c"), onlyAdmission("new", "Infrastructure/a"), controllerRegistration("cloud", "Infrastructure/a"),
	} {
		f.Add(encoded(f, object), encoded(f, controllerRegistration("cloud", "Infrastructure/a", "Infrastructure/b", "Worker/c")))
	}
	f.Fuzz(func(t *testing.T, object, present []byte) {
		var (
			theirs    gardencorev1beta1.ControllerRegistration
			extension operatorv1alpha1.Extension
		)
		if json.Unmarshal(present, &theirs) != nil || json.Unmarshal(present, &extension) != nil {
			return
		}
		for _, isExtension := range []bool{false, true} {
			garden := &cluster{registrations: []gardencorev1beta1.ControllerRegistration{theirs}}
			runtimeCluster := &cluster{extensions: []operatorv1alpha1.Extension{extension}}
			created := ask(t, garden, runtimeCluster, object, nil, isExtension)
			ask(t, garden, runtimeCluster, object, present, isExtension)

			garden.looks, runtimeCluster.looks = 0, 0
			same := ask(t, garden, runtimeCluster, object, object, isExtension)
			require.Equal(t, 0, garden.looks+runtimeCluster.looks)
			var ours gardencorev1beta1.ControllerRegistration
			if json.Unmarshal(object, &ours) != nil {
				continue
			}
			require.True(t, same.Allowed || isExtension, same.Result)
			if isExtension || !created.Allowed || ours.DeletionTimestamp != nil {
				continue
			}
			for what, times := range registered(&ours).serves() {
				require.Equal(t, 1, times, what)
				require.True(t, ours.Name == theirs.Name || registered(&theirs).serves()[what] == 0, what)
			}
		}
	})
}
