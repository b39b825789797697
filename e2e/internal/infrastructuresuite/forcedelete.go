package infrastructuresuite

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/rig"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// testForceDelete deletes a shoot whose cloud cannot be reached any more: in vain, and then by force. What that leaves in
// the cloud bears the shoot's mark: an object that has lost its state finds all of it again.
func testForceDelete(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	w.StartController()
	shoot := w.Fulfilled("force-delete")
	w.Cloud.SetHook(func(wire.Event) wire.Verdict { return wire.Cut })

	w.OrderDeletion(shoot)
	object := w.WaitForError(shoot)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeDelete, object.Status.LastOperation.Type)
	assert.NotEmpty(t, object.Finalizers, "what cannot be deleted is not forgotten")

	shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	w.Update(shoot)
	w.Destroy(shoot)
	assertOneOfEach(w)

	w.Cloud.SetHook(nil)
	shoot.Annotations = nil
	w.Update(shoot)
	w.StopController() // which would take an object without a status for a new one
	plantObject(w, shoot, nil)
	w.StartController()
	w.Destroy(shoot)
	assertEmpty(w)
}
