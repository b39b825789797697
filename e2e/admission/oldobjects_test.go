package admission

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// old is the name of objects with an older error, broken that of an undecodable CloudProfile and its users.
const old, broken = "old", "broken"

// oldObjects are objects that were stored with an error each.
func oldObjects() []client.Object {
	profile := newCloudProfile(old)
	offer(`{dnsServers: [dns.example.org], unheardOf: true}`)(profile)
	secret := newSecret(old, with(map[string]string{"domainName": ""}))
	secret.Labels = labelled("openstack")
	unreadable, having, extending := newCloudProfile(broken), newShoot(broken), newNamespacedCloudProfile(old)
	unreadable.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`"public"`)}
	onBroken()(having)
	withProfileConfig(`{keystoneURL: "https://mine.example.org"}`)(extending)
	return []client.Object{profile, unreadable, having, extending, secret, newRegistration(old, garden.Primary("gvisor", "ContainerRuntime")...)}
}

func onBroken() change {
	return func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.CloudProfile.Name = broken }
}

// testOldObjects changes them: other changes are accepted, and only new errors are refused.
func testOldObjects(t *testing.T, env *environment) {
	t.Run("CloudProfile", func(t *testing.T) {
		for sentence, tt := range map[string]profileCase{
			"a label":     {func(profile *gardencorev1beta1.CloudProfile) { profile.Labels = map[string]string{"a": "b"} }, nil},
			"another URL": {offer(`{keystoneURL: https://elsewhere.example.org/v3}`), nil},
			"a new error": {offer(`{requestTimeout: 0s}`), []expectedCause{{inProfile + ".requestTimeout", "give a duration"}}},
			"a new version of Kubernetes": {func(profile *gardencorev1beta1.CloudProfile) {
				profile.Spec.Kubernetes.Versions = append(profile.Spec.Kubernetes.Versions, gardencorev1beta1.ExpirableVersion{Version: "1.35.4"})
			}, nil},
			"repaired": {offer(`{dnsServers: [8.8.8.8], unheardOf: null}`), nil},
		} {
			t.Run(sentence, func(t *testing.T) {
				profile := &gardencorev1beta1.CloudProfile{}
				require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Name: old}, profile))
				tt.change(profile)
				assertResult(t, env.update(t, profile, client.DryRunAll), tt.wantCauses)
			})
		}
	})
	t.Run("Secret", func(t *testing.T) {
		for sentence, tt := range map[string]credentialsCase{
			"another password": {map[string]string{"domainName": "", "password": "changed"}, nil},
			"a new error":      {map[string]string{"domainName": "", "insecure": "maybe"}, []expectedCause{{"data[insecure]", "must be true or false"}}},
			"repaired":         {nil, nil},
		} {
			t.Run(sentence, func(t *testing.T) {
				secret := &corev1.Secret{}
				require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Namespace: garden.Namespace, Name: old}, secret))
				secret.Data, secret.StringData = nil, with(tt.differs)
				assertResult(t, env.update(t, secret, client.DryRunAll), tt.wantCauses)
			})
		}
	})
	t.Run("NamespacedCloudProfile", func(t *testing.T) { testOldNamespacedCloudProfile(t, env) })
	t.Run("a CloudProfile that nobody can read", func(t *testing.T) {
		env.validateNewShoots(t, map[string]shootCase{
			"whoever chooses it is told": {onBroken(), []expectedCause{{"spec.cloudProfile.name", "choose another, or ask its admin"}}},
		})
		shoot := env.shoot(t, client.ObjectKey{Namespace: garden.Namespace, Name: broken})
		worker(func(worker *gardencorev1beta1.Worker) { worker.Maximum = 5 })(shoot)
		assert.NoError(t, env.update(t, shoot, client.DryRunAll), "whoever has it lives on")
		pool(`{x: 1}`)(shoot)
		assertResult(t, env.update(t, shoot, client.DryRunAll), []expectedCause{{inPoolConfig, "correct the name"}})
	})
	t.Run("ControllerRegistration", func(t *testing.T) {
		registration := func() *gardencorev1beta1.ControllerRegistration {
			registration := &gardencorev1beta1.ControllerRegistration{}
			require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Name: old}, registration))
			return registration
		}
		changed := registration()
		changed.Spec.Resources = append(changed.Spec.Resources, garden.Primary("lonely", "Extension")...)
		assert.NoError(t, env.update(t, changed, client.DryRunAll))
		changed = registration()
		changed.Spec.Resources = append(changed.Spec.Resources, garden.Primary("openstack", "Worker")...)
		assertResult(t, env.update(t, changed, client.DryRunAll), []expectedCause{{"spec.resources[1]", "clouds"}})
		changed = registration()
		changed.Spec.Resources = nil
		assert.NoError(t, env.update(t, changed, client.DryRunAll), "repaired")
	})
}

// testOldNamespacedCloudProfile has one with a forbidden field, which does not prevent gardener-controller-manager's writes of its status.
func testOldNamespacedCloudProfile(t *testing.T, env *environment) {
	read := func() *gardencorev1beta1.NamespacedCloudProfile {
		profile := newNamespacedCloudProfile(old)
		require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(profile), profile))
		return profile
	}
	profile := read()
	profile.Labels = map[string]string{"a": "b"}
	assert.NoError(t, env.update(t, profile, client.DryRunAll))
	profile = read()
	withProfileConfig(`{serverGroupPolicies: [affinity]}`)(profile)
	assertResult(t, env.update(t, profile, client.DryRunAll), []expectedCause{{inProfile + ".serverGroupPolicies", "remove"}})
	profile = read()
	withProfileConfig(`{keystoneURL: null}`)(profile)
	assert.NoError(t, env.update(t, profile, client.DryRunAll), "repaired")

	profile = read()
	profile.Status.CloudProfileSpec = newCloudProfile("").Spec
	profile.Status.ObservedGeneration = profile.Generation
	require.NoError(t, env.Client.Status().Update(t.Context(), profile, client.DryRunAll))
	assert.Empty(t, cmp.Diff(config(t, newCloudProfile("").Spec.ProviderConfig), config(t, profile.Status.CloudProfileSpec.ProviderConfig)))
}
