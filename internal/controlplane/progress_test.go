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

func TestErrorsSayWhatToDo(t *testing.T) {
	invalid := func(*controlplane.Shoot) field.ErrorList {
		return field.ErrorList{field.Invalid(field.NewPath("barn", "color"), "blue", "must be red")}
	}
	for sentence, tc := range map[string]struct {
		driver  driver
		prepare func(*testing.T, *controlplanetest.Stage)
		message string
	}{
		"an invalid configuration names the field and the remedy": {
			driver:  driver{validate: invalid},
			message: `the configuration cannot be fulfilled: barn.color: Invalid value: "blue": must be red`,
		},
		"missing credentials are named": {
			prepare: func(t *testing.T, s *controlplanetest.Stage) {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "cloudprovider"}}
				require.NoError(t, s.Client.Delete(t.Context(), secret))
			},
			message: "with the cloud credentials does not exist; restore it, the control plane cannot reach the cloud without",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t, &tc.driver).Start()
			if tc.prepare != nil {
				tc.prepare(t, s)
			}
			s.Deploy(v1beta1constants.GardenerOperationReconcile)
			object := s.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
				return unless(o.Status.LastError != nil, "no error yet")
			})
			assert.Contains(t, object.Status.LastError.Description, tc.message)
			assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorConfigurationProblem}, object.Status.LastError.Codes)
			assert.Empty(t, s.Leftovers(), "nothing is made before it is known that it makes sense")
		})
	}
}

func TestWaitingSaysWhatFor(t *testing.T) {
	s := newStage(t, &driver{}).Start()
	s.Manager.Refuse("ClusterRole", keeper, `clusterroles "`+keeper+`" is forbidden`)
	s.Deploy(v1beta1constants.GardenerOperationReconcile)
	const forbidden = `deploying components in the shoot (gardener-resource-manager has not applied extension-controlplane-shoot yet ` +
		`(Could not apply all new resources: error during apply of object "ClusterRole barn-manager": clusterroles "barn-manager" is forbidden))`
	object := s.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		// Other tasks may be at work for a moment more, and are told of beside this one.
		return unless(o.Status.LastOperation != nil && o.Status.LastOperation.Description == forbidden, fmt.Sprintf("%+v", o.Status.LastOperation))
	})
	assert.Equal(t, gardencorev1beta1.LastOperationStateProcessing, object.Status.LastOperation.State)
	assert.Nil(t, object.Status.LastError)
	s.Manager.Refuse("ClusterRole", keeper, "")
	require.NoError(t, s.Manager.ServeAll(t.Context()))
	s.Ready()

	s.Manager.Hold("StorageClass", "default", `StorageClass "default" is used by PersistentVolume "pv"`)
	require.NoError(t, s.Destroy(t.Context()))
	s.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		const want = `deleting storage classes (ManagedResource extension-controlplane-storageclasses is not gone yet ` +
			`(StorageClass "default" is used by PersistentVolume "pv"))`
		return unless(o.Status.LastOperation.Description == want, o.Status.LastOperation.Description)
	})
	assert.NotNil(t, s.Manager.Seed().Get("Deployment", "barn-csi"), "who could give the volume back is still there")
	s.Manager.Hold("StorageClass", "default", "")
	require.NoError(t, s.Manager.ServeAll(t.Context()))
	s.Gone()
}

// unless returns an error with the given text unless the condition holds.
func unless(condition bool, text string) error {
	if condition {
		return nil
	}
	return errors.New(text)
}
