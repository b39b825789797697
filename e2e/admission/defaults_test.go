package admission

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// testDefaults checks the defaults of new shoots.
func testDefaults(t *testing.T, env *environment) {
	calico := func(fields map[string]any) map[string]any {
		fields["apiVersion"], fields["kind"] = calicoGroup, "NetworkConfig"
		return fields
	}
	off := map[string]any{"enabled": false, "createPodRoutes": true}
	for sentence, tt := range map[string]struct {
		change change
		want   map[string]any
	}{
		"a shoot that says nothing":        {all(), calico(map[string]any{"overlay": off})},
		"a shoot that says something else": {network(`{vethMTU: "1450", typha: {enabled: false}}`), calico(map[string]any{"vethMTU": "1450", "typha": map[string]any{"enabled": false}, "overlay": off})},
		"dual stack": {
			all(dualStack(), infrastructure(`{networks: {ipv6: {subnetPoolID: `+aUUID+`}}}`)), calico(map[string]any{"overlay": off}),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := env.dryRunCreate(t, tt.change)
			assert.Empty(t, cmp.Diff(tt.want, config(t, shoot.Spec.Networking.ProviderConfig)))
		})
	}
	for sentence, text := range map[string]string{
		"an overlay": `{"kind":"NetworkConfig","overlay":{"enabled":true},"apiVersion":"` + calicoGroup + `"}`,
		"no overlay, ways known to the cloud": `{"overlay":{"createPodRoutes":false,"enabled":false},"vethMTU":"0",` +
			`"apiVersion":"` + calicoGroup + `","kind":"NetworkConfig"}`,
	} {
		t.Run(sentence+" is left as it was written", func(t *testing.T) {
			assert.Equal(t, text, string(env.dryRunCreate(t, networkRaw(text)).Spec.Networking.ProviderConfig.Raw))
		})
	}
	t.Run("others get nothing", func(t *testing.T) { env.assertNothingElse(t) })
	t.Run("node-local DNS", func(t *testing.T) { testNodeLocalDNS(t, env) })
	t.Run("a shoot that was there before gets nothing", func(t *testing.T) {
		shoot := env.shoot(t, client.ObjectKey{Namespace: garden.Namespace, Name: plain})
		infrastructure(`{networks: {mtu: 1400}}`)(shoot)
		require.NoError(t, env.update(t, shoot, client.DryRunAll))
		assert.Nil(t, shoot.Spec.Networking.ProviderConfig)
	})
	t.Run("a manifest that does not know of it takes nothing away", func(t *testing.T) {
		shoot := newShoot("applied")
		env.store(t, shoot)
		shoot.Spec.Networking.ProviderConfig = nil
		require.NoError(t, env.update(t, shoot, client.DryRunAll))
		assert.Empty(t, cmp.Diff(calico(map[string]any{"overlay": off}), config(t, shoot.Spec.Networking.ProviderConfig)))
	})
}

// dryRunCreate returns a new shoot as it would be stored.
func (env *environment) dryRunCreate(t *testing.T, change change) *gardencorev1beta1.Shoot {
	t.Helper()
	shoot := newShoot("new")
	change(shoot)
	require.NoError(t, env.Client.Create(t.Context(), shoot, client.DryRunAll))
	return shoot
}

func (env *environment) assertNothingElse(t *testing.T) {
	t.Helper()
	assert.Nil(t, env.dryRunCreate(t, onAzure()).Spec.Networking.ProviderConfig, "another infrastructure")
	assert.Nil(t, env.dryRunCreate(t, workerless()).Spec.Networking.ProviderConfig, "no workers")
	cilium := env.dryRunCreate(t, otherNetwork(`{"whatever":true}`))
	assert.Equal(t, `{"whatever":true}`, string(cilium.Spec.Networking.ProviderConfig.Raw), "another network")
	shoot := env.dryRunCreate(t, all())
	assert.Equal(t, newShoot("new").Spec.Provider.InfrastructureConfig, shoot.Spec.Provider.InfrastructureConfig)
	assert.Equal(t, newShoot("new").Spec.Provider.ControlPlaneConfig, shoot.Spec.Provider.ControlPlaneConfig)
	assert.Nil(t, shoot.Spec.Provider.Workers[0].ProviderConfig)
}

func nodeLocalDNS(dns *gardencorev1beta1.NodeLocalDNS) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{NodeLocalDNS: dns}
	}
}

// testNodeLocalDNS checks that TCP is only used on request.
func testNodeLocalDNS(t *testing.T, env *environment) {
	dns := env.dryRunCreate(t, nodeLocalDNS(&gardencorev1beta1.NodeLocalDNS{Enabled: true})).Spec.SystemComponents.NodeLocalDNS
	require.NotNil(t, dns.ForceTCPToUpstreamDNS)
	assert.False(t, *dns.ForceTCPToUpstreamDNS)
	dns = env.dryRunCreate(t, nodeLocalDNS(&gardencorev1beta1.NodeLocalDNS{Enabled: true, ForceTCPToUpstreamDNS: new(true)})).Spec.SystemComponents.NodeLocalDNS
	assert.True(t, *dns.ForceTCPToUpstreamDNS)
}

// testNoDefaults uses a binary with disabled defaults.
func testNoDefaults(t *testing.T, env *environment) {
	assert.Nil(t, env.dryRunCreate(t, all()).Spec.Networking.ProviderConfig)
	dns := env.dryRunCreate(t, nodeLocalDNS(&gardencorev1beta1.NodeLocalDNS{Enabled: true})).Spec.SystemComponents.NodeLocalDNS
	assert.Nil(t, dns.ForceTCPToUpstreamDNS)
}
