package gardenet

import (
	"encoding/json"
	"net/http"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
)

// FuzzShoot asks both webhooks about shoots with any configuration, old and new. They answer, an unchanged shoot is never refused, and defaults touch nothing but
// the overlay, and once.
func FuzzShoot(f *testing.F) {
	f.Add([]byte(`null`), []byte(``), byte(0), byte(0))
	f.Add([]byte(`{}`), []byte(`{`+kind+`,"overlay":null}`), byte(1), byte(3))
	f.Add([]byte(`{`+kind+`,"overlay":{"enabled":true}}`), []byte(`{`+kind+`,"overlay":{"vxlan":{"port":4790}}}`), byte(3), byte(9))
	f.Add([]byte(`{`+kind+`,"overlays":{},"overlay":{"enabled":false}}`), []byte(`{`+kind+`,"mtu":-1,"overlays":{}}`), byte(3), byte(20))
	f.Add([]byte(`{`+kind+`,"resources":{"node":{"requests":{"cpu":"1e-2147483640"}}}}`), []byte(``), byte(0), byte(0))
	f.Fuzz(func(t *testing.T, before, after []byte, infrastructure, bits byte) {
		if len(before) > 0 && !json.Valid(before) || len(after) > 0 && !json.Valid(after) {
			return // no API server lets that come
		}
		old, shoot := fuzzedShoot(before, infrastructure, bits), fuzzedShoot(after, infrastructure, bits>>3)
		for _, each := range []struct{ shoot, old *gardencorev1beta1.Shoot }{{shoot, nil}, {shoot, old}, {old, shoot}} {
			changed := each.shoot.DeepCopy()
			require.NoError(t, setDefaults(changed, each.old))
			requireOnlyOverlayChanged(t, each.shoot, changed)
			again := changed.DeepCopy()
			require.NoError(t, setDefaults(again, each.old))
			require.Equal(t, changed, again)
			require.True(t, callWebhook(t, defaultsWebhook, each.shoot, each.old).Allowed)

			response := callWebhook(t, validatingWebhook, changed, each.old)
			require.True(t, response.Allowed || response.Result.Code == http.StatusUnprocessableEntity, response.Result)
			if !response.Allowed {
				require.NotEmpty(t, response.Result.Details.Causes)
			}
			unchanged := callWebhook(t, validatingWebhook, changed, changed)
			require.True(t, unchanged.Allowed, unchanged.Result)
		}
	})
}

// fuzzedShoot makes a context from the bits of a byte.
func fuzzedShoot(config []byte, infrastructure, bits byte) *gardencorev1beta1.Shoot {
	families := [][]gardencorev1beta1.IPFamily{nil, {ipv4}, {ipv6}, {ipv4, ipv6}}[bits&3]
	shoot := shootWith(string(config), withInfrastructure([]string{"openstack", "azure", "aws", "local"}[infrastructure&3]), withFamilies(families...))
	if bits>>2&1 == 1 {
		withoutKubeProxy(shoot)
	}
	return shoot
}

// requireOnlyOverlayChanged wants nothing to be different in the second shoot but the overlay.
func requireOnlyOverlayChanged(t *testing.T, before, after *gardencorev1beta1.Shoot) {
	t.Helper()
	oldMembers, newMembers := membersOf(before), membersOf(after)
	for name, member := range newMembers {
		if name != "overlay" && (oldMembers != nil || name != "kind" && name != "apiVersion") {
			require.JSONEq(t, string(oldMembers[name]), string(member), name)
		}
	}
	for name := range oldMembers {
		require.Contains(t, newMembers, name)
	}
}

func membersOf(shoot *gardencorev1beta1.Shoot) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if config := shoot.Spec.Networking.ProviderConfig; config != nil && json.Unmarshal(config.Raw, &members) != nil {
		return map[string]json.RawMessage{} // no object, which stays as it is
	}
	return members
}
