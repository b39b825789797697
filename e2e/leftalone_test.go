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
)

// testLeftAlone shows objects to the controller that are none of its business, now or ever: when it starts, and by a
// change while it runs. That nothing happens is seen when another object, ordered later, is fulfilled: the controller has
// then had both events of the others, and no worker was short.
func (l *landscape) testLeftAlone(t *testing.T) {
	w := l.newWorld(t)
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
	w.startController()
	for _, c := range cases {
		c.arrive(w)
	}
	w.fulfil(w.shoot("left-alone-fence-1"))
	w.stopController()
	for _, c := range cases {
		c.remember(w)
	}

	w.startController()
	for _, c := range cases {
		c.change(w)
	}
	w.fulfil(w.shoot("left-alone-fence-2"))
	w.stopController()
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) { c.check(t, w) })
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

func (c *leftAlone) arrive(w *world) {
	c.shoot = openstack.NewShoot("left-alone-"+c.name, w.cloud, openstack.DefaultAccount())
	if c.prepare != nil {
		c.prepare(c.shoot)
	}
	w.prepare(c.shoot)
	if c.fulfilled {
		w.fulfil(c.shoot)
		return
	}
	object := w.gardenlet.Object(c.shoot)
	if c.arrange != nil {
		c.arrange(object)
	}
	require.NoError(w.t, w.seed.Client.Create(w.t.Context(), object))
}

func (c *leftAlone) remember(w *world) {
	c.writes = len(w.writes(c.shoot))
	c.status = w.get(c.shoot).Status
	if !c.fulfilled {
		assert.Zero(w.t, c.writes, c.name)
	}
}

// change touches the spec and the annotations as gardenlet may, but orders nothing.
func (c *leftAlone) change(w *world) {
	object := w.get(c.shoot)
	patch := client.MergeFrom(object.DeepCopy())
	object.Spec.SSHPublicKey = []byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAnotherKeyThatNobodyAskedToUseYet000000000000 other@example.org")
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, "example.org/touched", "true")
	require.NoError(w.t, w.seed.Client.Patch(w.t.Context(), object, patch))
}

func (c *leftAlone) check(t *testing.T, w *world) {
	assert.Empty(t, w.writes(c.shoot)[c.writes:])
	object := w.get(c.shoot)
	assert.Equal(t, c.status, object.Status)
	if !c.fulfilled {
		assert.Empty(t, object.Finalizers)
		assert.Equal(t, extensionsv1alpha1.InfrastructureStatus{}, object.Status)
	}
}
