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

// plain is the name of a shoot that is as old, and without a mistake.
const plain = "plain"

// violator is a shoot that came to its mistake when nobody minded.
type violator struct {
	mistake change
	// repair takes it back, where that is possible at all.
	repair change
}

func violators() map[string]violator {
	unencrypted := worker(func(worker *gardencorev1beta1.Worker) { worker.Volume.Encrypted = nil })
	return map[string]violator{
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

// storeViolators makes them before anybody asks the binary, and returns their names by what is wrong with them.
func storeViolators(t *testing.T, w *world) map[string]string {
	t.Helper()
	_, err := w.AddSeed(t.Context(), "seed", garden.SeedOptions{})
	require.NoError(t, err)
	for _, object := range append(oldObjects(), newShoot(plain)) {
		w.store(t, object)
	}
	names := map[string]string{}
	for sentence, violator := range violators() {
		names[sentence] = numbered("violator", len(names)+1)
		shoot := newShoot(names[sentence])
		violator.mistake(shoot)
		w.store(t, shoot)
	}
	return names
}

// testViolators lets Gardener do with them what it does with any shoot, and their owners err again.
func testViolators(t *testing.T, w *world, names map[string]string) {
	for sentence, violator := range violators() {
		t.Run(sentence, func(t *testing.T) {
			key := client.ObjectKey{Namespace: garden.Namespace, Name: names[sentence]}
			w.judgeNewMistake(t, key)
			for _, deed := range gardenersDeeds() {
				w.change(t, key, deed.name, deed.change)
			}
			w.judgeNewMistake(t, key)
			if violator.repair != nil {
				w.change(t, key, "is repaired", violator.repair)
			}
			w.gardenlets(t, key)
		})
	}
}

func (w *world) shoot(t *testing.T, key client.ObjectKey) *gardencorev1beta1.Shoot {
	t.Helper()
	shoot := &gardencorev1beta1.Shoot{}
	require.NoError(t, w.Client.Get(t.Context(), key, shoot))
	return shoot
}

func (w *world) change(t *testing.T, key client.ObjectKey, name string, change change) {
	t.Helper()
	shoot := w.shoot(t, key)
	change(shoot)
	assert.NoError(t, w.update(t, shoot), name)
}

// judgeNewMistake adds one, which is refused for itself alone.
func (w *world) judgeNewMistake(t *testing.T, key client.ObjectKey) {
	t.Helper()
	shoot := w.shoot(t, key)
	secondPool(pool(`{additionalSecurityGroups: [""]}`))(shoot)
	assertVerdict(t, w.update(t, shoot, client.DryRunAll), []mistake{
		{"spec.provider.workers[1].providerConfig.additionalSecurityGroups[0]", "give the name of a security group"},
	})
}

// deed is what Gardener does with a shoot.
type deed struct {
	name   string
	change change
}

func gardenersDeeds() []deed {
	annotate := func(key, value string) change {
		return func(shoot *gardencorev1beta1.Shoot) { metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, key, value) }
	}
	return []deed{
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

// gardenlets does what the scheduler and gardenlet do, up to the end.
func (w *world) gardenlets(t *testing.T, key client.ObjectKey) {
	t.Helper()
	shoot := w.shoot(t, key)
	shoot.Spec.SeedName = new("seed")
	require.NoError(t, w.Client.SubResource("binding").Update(t.Context(), shoot), "is bound to a seed")

	shoot = w.shoot(t, key)
	before := shoot.DeepCopy()
	shoot.Status.SeedName, shoot.Status.TechnicalID, shoot.Status.UID = new("seed"), "shoot--dev--"+key.Name, shoot.UID
	shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeReconcile, State: gardencorev1beta1.LastOperationStateError,
		Description: "cannot be fulfilled", LastUpdateTime: metav1.Now(),
	}
	require.NoError(t, w.Client.Status().Patch(t.Context(), shoot, client.MergeFrom(before)), "has a status")
	require.NoError(t, w.DeleteShoot(t.Context(), key.Name), "is deleted")
	err := w.Client.Get(t.Context(), key, shoot)
	if err == nil { // whoever protects references still does
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"finalizers":null}}`))
		require.NoError(t, client.IgnoreNotFound(w.Client.Patch(t.Context(), shoot, patch)))
		err = w.Client.Get(t.Context(), key, shoot)
	}
	assert.NoError(t, client.IgnoreNotFound(err))
	assert.Error(t, err, "is gone")
}
