package e2e

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/rig"
)

// testLeftAlone shows objects to the controller that are none of its business, now or ever: when it starts, and by a
// change while it runs. That nothing happens is seen when another object, ordered later, is fulfilled: the controller has
// then had both events of the others, and no worker was short.
func testLeftAlone(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	cases := map[string]*leftAlone{
		"an object that waits for its state": {name: "wait-for-state", arrange: func(object *extensionsv1alpha1.Infrastructure) {
			object.Annotations = map[string]string{v1beta1constants.GardenerOperation: v1beta1constants.GardenerOperationWaitForState}
		}},
		"a changed spec that nobody ordered": {name: "no-order", fulfilled: true},
		"a shoot that has failed": {name: "failed", prepare: func(shoot *gardenlet.Shoot) {
			shoot.LastOperationState = gardencorev1beta1.LastOperationStateFailed
		}},
		"an object of the class seed": {name: "class-seed", arrange: func(object *extensionsv1alpha1.Infrastructure) {
			object.Spec.Class = new(extensionsv1alpha1.ExtensionClassSeed)
		}},
		"an object of another type": {name: "other-type", prepare: func(shoot *gardenlet.Shoot) { shoot.ProviderType = "local" }},
	}
	w.StartController()
	for _, c := range cases {
		c.arrive(w)
	}
	first := w.Fulfilled("left-alone-fence-1")
	w.StopController()
	for _, c := range cases {
		c.remember(w)
	}

	w.StartController()
	for _, c := range cases {
		c.change(w)
	}
	second := w.Fulfilled("left-alone-fence-2")
	w.StopController()
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) { c.check(t, w) })
	}
	w.StartController()
	for _, shoot := range []*gardenlet.Shoot{first, second, cases["a changed spec that nobody ordered"].shoot} {
		w.Destroy(shoot)
	}
}

// leftAlone is an Infrastructure that the controller must not touch.
type leftAlone struct {
	name string
	// prepare changes the shoot, arrange the object.
	prepare func(*gardenlet.Shoot)
	arrange func(*extensionsv1alpha1.Infrastructure)
	// fulfilled objects were ordered and fulfilled before.
	fulfilled bool

	shoot  *gardenlet.Shoot
	writes int
	status extensionsv1alpha1.InfrastructureStatus
}

func (c *leftAlone) arrive(w *rig.World) {
	c.shoot = openstack.NewShoot("left-alone-"+c.name, w.Cloud, w.Account)
	if c.prepare != nil {
		c.prepare(c.shoot)
	}
	w.Prepare(c.shoot)
	if c.fulfilled {
		w.Fulfil(c.shoot)
		return
	}
	object := w.Gardenlet.Object(c.shoot)
	if c.arrange != nil {
		c.arrange(object)
	}
	require.NoError(w.T, w.Seed.Client.Create(w.T.Context(), object))
}

func (c *leftAlone) remember(w *rig.World) {
	c.writes = len(w.Writes(c.shoot))
	c.status = w.Get(c.shoot).Status
	if !c.fulfilled {
		assert.Zero(w.T, c.writes, c.name)
	}
}

// change touches the spec and the annotations as gardenlet may, but orders nothing.
func (c *leftAlone) change(w *rig.World) {
	object := w.Get(c.shoot)
	patch := client.MergeFrom(object.DeepCopy())
	object.Spec.SSHPublicKey = []byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAnotherKeyThatNobodyAskedToUseYet000000000000 other@example.org")
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, "example.org/touched", "true")
	require.NoError(w.T, w.Seed.Client.Patch(w.T.Context(), object, patch))
}

func (c *leftAlone) check(t *testing.T, w *rig.World) {
	assert.Empty(t, w.Writes(c.shoot)[c.writes:])
	object := w.Get(c.shoot)
	assert.Equal(t, c.status, object.Status)
	if !c.fulfilled {
		assert.Empty(t, object.Finalizers)
		assert.Equal(t, extensionsv1alpha1.InfrastructureStatus{}, object.Status)
	}
}
