package calico

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
)

// FuzzShoot asks both webhooks about shoots with any configuration, old and new. They answer, an unchanged shoot is never refused, and
// defaults touch nothing but the overlay, and once.
func FuzzShoot(f *testing.F) {
	f.Add([]byte(`null`), []byte(``), byte(0), byte(0))
	f.Add([]byte(`{"overlay":{},"vxlan":{"enabled":true}}`), []byte(`{"overlay":null}`), byte(1), byte(3))
	f.Add([]byte(`{"overlay":{"enabled":false},"ipam":{"type":"calico-ipam"}}`), []byte(`{"ipam":{"type":"host-local"}}`), byte(2), byte(9))
	f.Add([]byte(`{"overlays":{},"overlay":{"enabled":true}}`), []byte(`{"backend":"none","overlays":{}}`), byte(3), byte(20))
	f.Add([]byte(`{"ipip":"CrossSubnet","ipv4":{"pool":"vxlan"},"overlay":{"enabled":true}}`), []byte(`{"vethMTU":"9","autoScaling":{}}`), byte(1), byte(47))
	f.Add([]byte(`{"ipv4":{"autoDetectionMethod":"interface=`+strings.Repeat(`[^a]{1000},`, 3000)+`"}}`), []byte(``), byte(0), byte(0))
	f.Add([]byte(`{"autoScaling":{"mode":"static","resources":{"node":{"cpu":"1e-2147483640"}}}}`), []byte(``), byte(0), byte(0))
	f.Add([]byte(`{"kubeAPIServerEndpoints":{"labels":{"a":"`+strings.Repeat(`a`, 1<<16)+`"}}}`), []byte(`{}`), byte(0), byte(0))
	options := Options{OverlayOff: []string{"openstack", "local"}, PodRoutes: []string{"openstack", "aws"}}
	f.Fuzz(func(t *testing.T, before, after []byte, infrastructure, bits byte) {
		if len(before) > 0 && !json.Valid(before) || len(after) > 0 && !json.Valid(after) {
			return // no API server lets that come
		}
		old, shoot := fuzzedShoot(before, infrastructure, bits), fuzzedShoot(after, infrastructure, bits>>3)
		for _, each := range []struct{ shoot, old *gardencorev1beta1.Shoot }{{shoot, nil}, {shoot, old}, {old, shoot}} {
			changed := each.shoot.DeepCopy()
			require.NoError(t, options.setDefaults(changed, each.old))
			requireOnlyOverlayChanged(t, each.shoot, changed)
			if each.old == nil {
				again := changed.DeepCopy()
				require.NoError(t, options.setDefaults(again, each.old))
				require.Equal(t, changed, again)
			}
			require.True(t, callWebhook(t, options, defaultsWebhook, each.shoot, each.old).Allowed)

			response := callWebhook(t, options, validatingWebhook, changed, each.old)
			require.True(t, response.Allowed || response.Result.Code == http.StatusUnprocessableEntity, response.Result)
			if !response.Allowed {
				require.NotEmpty(t, response.Result.Details.Causes)
			}
			unchanged := callWebhook(t, options, validatingWebhook, changed, changed)
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

// requireOnlyOverlayChanged wants nothing to be different in the second shoot but an overlay that is there, or has pod routes.
func requireOnlyOverlayChanged(t *testing.T, before, after *gardencorev1beta1.Shoot) {
	t.Helper()
	oldMembers, newMembers := membersOf(before), membersOf(after)
	for _, name := range slices.Sorted(maps.Keys(newMembers)) {
		switch {
		case name == "overlay", oldMembers == nil && (name == "kind" || name == "apiVersion"):
		default:
			require.JSONEq(t, string(oldMembers[name]), string(newMembers[name]), name)
		}
	}
	for name := range oldMembers {
		require.Contains(t, newMembers, name)
	}
	oldOverlay := strings.TrimSpace(string(oldMembers["overlay"]))
	if oldOverlay == "" || oldOverlay == "null" || oldOverlay == strings.TrimSpace(string(newMembers["overlay"])) {
		return
	}
	var block, filled map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(oldMembers["overlay"], &block))
	require.NoError(t, json.Unmarshal(newMembers["overlay"], &filled))
	require.Equal(t, "true", string(filled["createPodRoutes"]))
	delete(block, "createPodRoutes")
	delete(filled, "createPodRoutes")
	require.Len(t, filled, len(block))
}

func membersOf(shoot *gardencorev1beta1.Shoot) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if config := shoot.Spec.Networking.ProviderConfig; config != nil && json.Unmarshal(config.Raw, &members) != nil {
		return map[string]json.RawMessage{} // no object, which stays as it is
	}
	return members
}
