package controlplane_test

import (
	"errors"
	"fmt"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
)

func TestReconcile_Errors(t *testing.T) {
	invalid := func(*controlplane.Shoot) field.ErrorList {
		return field.ErrorList{field.Invalid(field.NewPath("example", "color"), "blue", "must be red")}
	}
	for sentence, tc := range map[string]struct {
		driver  driver
		prepare func(*testing.T, *controlplanetest.Harness)
		message string
	}{
		"an invalid configuration names the field and the remedy": {
			driver:  driver{validate: invalid},
			message: `the configuration cannot be fulfilled: example.color: Invalid value: "blue": must be red`,
		},
		"missing credentials are named": {
			prepare: func(t *testing.T, h *controlplanetest.Harness) {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: "cloudprovider"}}
				require.NoError(t, h.Client.Delete(t.Context(), secret))
			},
			message: "with the cloud credentials does not exist; restore it, the control plane cannot reach the cloud without",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := newHarness(t, &tc.driver).Start()
			if tc.prepare != nil {
				tc.prepare(t, h)
			}
			h.Deploy(v1beta1constants.GardenerOperationReconcile)
			object := h.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
				return errorUnless(o.Status.LastError != nil, "no error yet")
			})
			assert.Contains(t, object.Status.LastError.Description, tc.message)
			assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorConfigurationProblem}, object.Status.LastError.Codes)
			assert.Empty(t, h.Leftovers(), "nothing is made before it is known that it makes sense")
		})
	}
}

func TestReconcile_Progress(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Manager.Reject("ClusterRole", ccmRole, `clusterroles "`+ccmRole+`" is forbidden`)
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	const forbidden = `deploying components in the shoot (gardener-resource-manager has not applied extension-controlplane-shoot yet ` +
		`(Could not apply all new resources: error during apply of object "ClusterRole ` + ccmRole + `": clusterroles "` + ccmRole + `" is forbidden))`
	object := h.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		// Other tasks may be at work for a moment more, and are told of beside this one.
		return errorUnless(o.Status.LastOperation != nil && o.Status.LastOperation.Description == forbidden, fmt.Sprintf("%+v", o.Status.LastOperation))
	})
	assert.Equal(t, gardencorev1beta1.LastOperationStateProcessing, object.Status.LastOperation.State)
	assert.Nil(t, object.Status.LastError)
	h.Manager.Reject("ClusterRole", ccmRole, "")
	require.NoError(t, h.Manager.ReconcileAll(t.Context()))
	h.Ready()

	h.Manager.BlockDeletion("StorageClass", "default", `StorageClass "default" is used by PersistentVolume "pv"`)
	require.NoError(t, h.Destroy(t.Context()))
	h.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		const want = `deleting storage classes (ManagedResource extension-controlplane-storageclasses is not gone yet ` +
			`(StorageClass "default" is used by PersistentVolume "pv"))`
		return errorUnless(o.Status.LastOperation.Description == want, o.Status.LastOperation.Description)
	})
	assert.NotNil(t, h.Manager.Seed().Get("Deployment", csiController), "who could give the volume back is still there")
	h.Manager.BlockDeletion("StorageClass", "default", "")
	require.NoError(t, h.Manager.ReconcileAll(t.Context()))
	h.Gone()
}

// errorUnless returns an error with the given text unless the condition holds.
func errorUnless(condition bool, text string) error {
	if condition {
		return nil
	}
	return errors.New(text)
}
