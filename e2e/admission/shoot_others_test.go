package admission

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// testOthers are shoots of which validation reads only a part, or nothing.
func testOthers(t *testing.T, env *environment) {
	env.validateNewShoots(t, map[string]shootCase{
		"older credentials tell the domain, too": {
			func(shoot *gardencorev1beta1.Shoot) {
				shoot.Spec.CredentialsBindingName, shoot.Spec.SecretBindingName = nil, new("robot")
				shoot.Spec.Kubernetes.Version = lastWithSecretBindings
				infrastructure(`{floatingPoolName: partners}`)(shoot)
			},
			[]expectedCause{{inInfrastructure + ".floatingPoolName", "choose one of"}},
		},
		"a shoot that begins in hibernation is validated": {
			all(func(shoot *gardencorev1beta1.Shoot) {
				shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
			}, pool(`{x: 1}`)),
			[]expectedCause{{inPoolConfig, "correct the name"}},
		},
		"a shoot without workers needs neither infrastructure nor network": {workerless(), nil},
		"another network plugin is not validated": {
			all(otherNetwork(`{"apiVersion":"cilium.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkConfig","whatever":true}`)), nil,
		},
		"but the infrastructure under it is": {
			all(otherNetwork(`{}`), infrastructure(`{networks: {mtu: 1}}`)), []expectedCause{{inInfrastructure + ".networks.mtu", "choose a number"}},
		},
		"another provider is not validated":       {all(onAzure(), network(`{overlay: {enabled: false}}`)), nil},
		"but the network over it is":              {all(onAzure(), network(`{vethMTU: large}`)), []expectedCause{{inNetwork + ".vethMTU", "write a number"}}},
		"a profile that its project has extended": {extended(), nil},
		"an extended profile allows no more pools": {
			all(extended(), infrastructure(`{floatingPoolName: elsewhere}`)), []expectedCause{{inInfrastructure + ".floatingPoolName", "choose one of"}},
		},
	})
}

func workerless() change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.CredentialsBindingName, shoot.Spec.Networking = nil, &gardencorev1beta1.Networking{Services: new("100.64.0.0/13")}
		shoot.Spec.Provider = gardencorev1beta1.Provider{Type: "openstack"}
	}
}

func otherNetwork(config string) change {
	return networking(func(networking *gardencorev1beta1.Networking) {
		networking.Type, networking.ProviderConfig = new("cilium"), &runtime.RawExtension{Raw: []byte(config)}
	})
}

// extended refers to the NamespacedCloudProfile of testNamespacedCloudProfiles.
func extended() change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{
			Kind: v1beta1constants.CloudProfileReferenceKindNamespacedCloudProfile, Name: "extended",
		}
	}
}

// updateCase is a Shoot that was created, and is then changed.
type updateCase struct {
	before, change change
	wantCauses     []expectedCause
}

// testUpdates changes shoots that were created with validation.
func testUpdates(t *testing.T, env *environment) {
	for name, cases := range map[string]map[string]updateCase{
		"Immutable": immutables(), "Changeable": changeables(), "Pools": poolUpdates(), "Networks": networkUpdates(),
	} {
		t.Run(name, func(t *testing.T) {
			for sentence, tt := range cases {
				t.Run(sentence, func(t *testing.T) { env.validateUpdate(t, tt) })
			}
		})
	}
}

func (env *environment) validateUpdate(t *testing.T, tt updateCase) {
	t.Helper()
	env.stored++
	shoot := newShoot(numbered("stored", env.stored))
	if tt.before != nil {
		tt.before(shoot)
	}
	env.store(t, shoot)
	tt.change(shoot)
	assertResult(t, env.update(t, shoot, client.DryRunAll), tt.wantCauses)
}

// testConfigurations checks the binary's webhook configurations: they are owned by its namespace in the garden.
func testConfigurations(t *testing.T, env *environment) {
	for _, configuration := range env.configurations(t) {
		assert.Len(t, configuration.GetOwnerReferences(), 1, configuration.GetName())
		for _, reference := range configuration.GetOwnerReferences() {
			assert.Equal(t, "Namespace", reference.Kind)
			assert.Equal(t, owner, reference.Name)
		}
	}
}
