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
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
)

// testSkipped shows objects to the controller that are none of its business, now or ever: when it starts, and by a
// change while it runs. That nothing happens is seen when another object, ordered later, is fulfilled: the controller has
// then had both events of the others, and no worker was short.
func testSkipped(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	cases := map[string]*skippedObject{
		"an object that waits for its state": {name: "wait-for-state", mutate: func(object *extensionsv1alpha1.Infrastructure) {
			object.Annotations = map[string]string{v1beta1constants.GardenerOperation: v1beta1constants.GardenerOperationWaitForState}
		}},
		"a changed spec that nobody ordered": {name: "no-order", reconciled: true},
		"a shoot that has failed": {name: "failed", prepare: func(shoot *gardenlet.Shoot) {
			shoot.LastOperationState = gardencorev1beta1.LastOperationStateFailed
		}},
		"an object of the class seed": {name: "class-seed", mutate: func(object *extensionsv1alpha1.Infrastructure) {
			object.Spec.Class = new(extensionsv1alpha1.ExtensionClassSeed)
		}},
		"an object of another type": {name: "other-type", prepare: func(shoot *gardenlet.Shoot) { shoot.ProviderType = "local" }},
	}
	env.StartController()
	for _, c := range cases {
		c.create(env)
	}
	first := env.NewReconciledShoot("left-alone-fence-1")
	env.StopController()
	for _, c := range cases {
		c.recordState(env)
	}

	env.StartController()
	for _, c := range cases {
		c.change(env)
	}
	second := env.NewReconciledShoot("left-alone-fence-2")
	env.StopController()
	for description, c := range cases {
		t.Run(description, func(t *testing.T) { c.check(t, env) })
	}
	env.StartController()
	for _, shoot := range []*gardenlet.Shoot{first, second, cases["a changed spec that nobody ordered"].shoot} {
		env.Destroy(shoot)
	}
}

// skippedObject is an Infrastructure that the controller must not touch.
type skippedObject struct {
	name string
	// prepare changes the shoot, arrange the object.
	prepare func(*gardenlet.Shoot)
	mutate  func(*extensionsv1alpha1.Infrastructure)
	// reconciled objects were ordered and fulfilled before.
	reconciled bool

	shoot  *gardenlet.Shoot
	writes int
	status extensionsv1alpha1.InfrastructureStatus
}

func (c *skippedObject) create(env *testenv.Env) {
	c.shoot = env.Account.NewShoot("left-alone-" + c.name)
	if c.prepare != nil {
		c.prepare(c.shoot)
	}
	env.Prepare(c.shoot)
	if c.reconciled {
		env.Reconcile(c.shoot)
		return
	}
	object := env.Gardenlet.Object(c.shoot)
	if c.mutate != nil {
		c.mutate(object)
	}
	require.NoError(env.T, env.Seed.Client.Create(env.T.Context(), object))
}

func (c *skippedObject) recordState(env *testenv.Env) {
	c.writes = len(env.Writes(c.shoot))
	c.status = env.Get(c.shoot).Status
	if !c.reconciled {
		assert.Zero(env.T, c.writes, c.name)
	}
}

// change touches the spec and the annotations as gardenlet may, but orders nothing.
func (c *skippedObject) change(env *testenv.Env) {
	object := env.Get(c.shoot)
	patch := client.MergeFrom(object.DeepCopy())
	object.Spec.SSHPublicKey = []byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAnotherKeyThatNobodyAskedToUseYet000000000000 other@example.org")
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, "example.org/touched", "true")
	require.NoError(env.T, env.Seed.Client.Patch(env.T.Context(), object, patch))
}

func (c *skippedObject) check(t *testing.T, env *testenv.Env) {
	assert.Empty(t, env.Writes(c.shoot)[c.writes:])
	object := env.Get(c.shoot)
	assert.Equal(t, c.status, object.Status)
	if !c.reconciled {
		assert.Empty(t, object.Finalizers)
		assert.Equal(t, extensionsv1alpha1.InfrastructureStatus{}, object.Status)
	}
}
