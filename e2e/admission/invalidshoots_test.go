package admission

import (
	"fmt"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// plain is the name of an equally old shoot without an error.
const plain = "plain"

// invalidShoot is a shoot that was stored with an error, before validation was installed.
type invalidShoot struct {
	invalidate change
	// repair corrects the error, if possible.
	repair change
}

func invalidShoots() map[string]invalidShoot {
	unencrypted := worker(func(worker *gardencorev1beta1.Worker) { worker.Volume.Encrypted = nil })
	return map[string]invalidShoot{
		"nodes are where they must not be":           {infrastructure(`{networks: {workers: 10.251.0.0/16}}`), nil},
		"a floating pool that nobody offers":         {infrastructure(`{floatingPoolName: elsewhere}`), nil},
		"an infrastructure that cannot be read":      {infrastructureRaw(`"public"`), nil},
		"an MTU that is none":                        {infrastructure(`{networks: {mtu: 1}}`), infrastructure(`{networks: {mtu: null}}`)},
		"a field of control planes that there isn't": {controlPlane(`{unheardOf: true}`), controlPlane(`{unheardOf: null}`)},
		"load balancers that nobody offers":          {controlPlane(`{loadBalancerProvider: f5}`), controlPlane(`{loadBalancerProvider: amphora}`)},
		"no control plane at all": {
			func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Provider.ControlPlaneConfig = nil }, controlPlane(`{loadBalancerProvider: amphora}`),
		},
		"an encrypted volume":                {worker(func(worker *gardencorev1beta1.Worker) { worker.Volume.Encrypted = new(true) }), unencrypted},
		"a field of pools that there is not": {pool(`{unheardOf: true}`), pool(`{unheardOf: null}`)},
		"a policy that nobody offers":        {pool(`{serverGroup: {policy: anti-affinity}}`), pool(`{serverGroup: null}`)},
		"an overlay without a backend":       {network(`{overlay: {enabled: true}, backend: none}`), network(`{backend: null}`)},
		"a field of networks that isn't":     {network(`{unheardOf: true}`), network(`{unheardOf: null}`)},
		"nobody routes Services":             {kubeProxy(false), kubeProxy(true)},
		"all at once": {
			all(infrastructure(`{networks: {workers: 10.251.0.0/16}}`), controlPlane(`{unheardOf: true}`), pool(`{unheardOf: true}`), network(`{unheardOf: true}`)), nil,
		},
	}
}

// storeInvalidShoots creates them before the binary is installed, and returns their names by their errors.
func storeInvalidShoots(t *testing.T, env *environment) map[string]string {
	t.Helper()
	_, err := env.AddSeed(t.Context(), "seed", garden.SeedOptions{})
	require.NoError(t, err)
	for _, object := range append(oldObjects(), newShoot(plain), outdatedAWSShoot()) {
		env.store(t, object)
	}
	names := map[string]string{}
	for sentence, invalid := range invalidShoots() {
		names[sentence] = numbered("violator", len(names)+1)
		shoot := newShoot(names[sentence])
		invalid.invalidate(shoot)
		env.store(t, shoot)
	}
	return names
}

// testInvalidShoots makes the changes that Gardener makes to any shoot, and then adds further errors as a user.
func testInvalidShoots(t *testing.T, env *environment, names map[string]string) {
	for sentence, invalid := range invalidShoots() {
		t.Run(sentence, func(t *testing.T) {
			key := client.ObjectKey{Namespace: garden.Namespace, Name: names[sentence]}
			env.assertNewErrorRefused(t, key)
			for _, action := range gardenerActions() {
				env.change(t, key, action.name, action.change)
			}
			env.assertNewErrorRefused(t, key)
			if invalid.repair != nil {
				env.change(t, key, "is repaired", invalid.repair)
			}
			env.bindFailAndDelete(t, key)
		})
	}
}

func (env *environment) shoot(t *testing.T, key client.ObjectKey) *gardencorev1beta1.Shoot {
	t.Helper()
	shoot := &gardencorev1beta1.Shoot{}
	require.NoError(t, env.Client.Get(t.Context(), key, shoot))
	return shoot
}

func (env *environment) change(t *testing.T, key client.ObjectKey, name string, change change) {
	t.Helper()
	shoot := env.shoot(t, key)
	change(shoot)
	assert.NoError(t, env.update(t, shoot), name)
}

// assertNewErrorRefused adds an error, which must be the only one that is reported.
func (env *environment) assertNewErrorRefused(t *testing.T, key client.ObjectKey) {
	t.Helper()
	shoot := env.shoot(t, key)
	secondPool(pool(`{additionalSecurityGroups: [""]}`))(shoot)
	assertResult(t, env.update(t, shoot, client.DryRunAll), []expectedCause{
		{"spec.provider.workers[1].providerConfig.additionalSecurityGroups[0]", "give the name of a security group"},
	})
}

// gardenerAction is a change by Gardener.
type gardenerAction struct {
	name   string
	change change
}

func gardenerActions() []gardenerAction {
	annotate := func(key, value string) change {
		return func(shoot *gardencorev1beta1.Shoot) { metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, key, value) }
	}
	return []gardenerAction{
		{"maintenance: Kubernetes", func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Kubernetes.Version = garden.KubernetesVersion }},
		{"maintenance: machine images", worker(func(worker *gardencorev1beta1.Worker) { worker.Machine.Image.Version = new(newerImage) })},
		{"maintenance: whatever else", annotate("maintenance.gardener.cloud/done", "true")},
		{"hibernation", func(shoot *gardencorev1beta1.Shoot) {
			shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
		}},
		{"an end to it", func(shoot *gardencorev1beta1.Shoot) {
			shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(false)}
		}},
		{"an operation", annotate(v1beta1constants.GardenerOperation, v1beta1constants.GardenerOperationReconcile)},
		{"labels", func(shoot *gardencorev1beta1.Shoot) {
			metav1.SetMetaDataLabel(&shoot.ObjectMeta, "shoot.gardener.cloud/status", "healthy")
		}},
		{"a finalizer", func(shoot *gardencorev1beta1.Shoot) {
			shoot.Finalizers = append(shoot.Finalizers, "gardener.cloud/reference-protection")
		}},
	}
}

// bindFailAndDelete does what the scheduler and gardenlet do during a shoot's life.
func (env *environment) bindFailAndDelete(t *testing.T, key client.ObjectKey) {
	t.Helper()
	shoot := env.shoot(t, key)
	shoot.Spec.SeedName = new("seed")
	require.NoError(t, env.Client.SubResource("binding").Update(t.Context(), shoot), "is bound to a seed")

	shoot = env.shoot(t, key)
	before := shoot.DeepCopy()
	shoot.Status.SeedName, shoot.Status.TechnicalID, shoot.Status.UID = new("seed"), "shoot--dev--"+key.Name, shoot.UID
	shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeReconcile, State: gardencorev1beta1.LastOperationStateError,
		Description: "cannot be fulfilled", LastUpdateTime: metav1.Now(),
	}
	require.NoError(t, env.Client.Status().Patch(t.Context(), shoot, client.MergeFrom(before)), "has a status")
	require.NoError(t, env.DeleteShoot(t.Context(), key.Name), "is deleted")
	err := env.Client.Get(t.Context(), key, shoot)
	if err == nil { // whoever protects references still does
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"finalizers":null}}`))
		require.NoError(t, client.IgnoreNotFound(env.Client.Patch(t.Context(), shoot, patch)))
		err = env.Client.Get(t.Context(), key, shoot)
	}
	assert.NoError(t, client.IgnoreNotFound(err))
	assert.Error(t, err, "is gone")
}
