package validation_test

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/calico/validation"
)

// FuzzConfig feeds the decoder with anything. What it accepts survives another round, is validated and defaulted without a
// panic, and defaulting what is in force changes nothing.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(`null`), byte(0))
	f.Add([]byte(`{"overlay":{},"vxlan":{"enabled":true},"ipv4":{"pool":"vxlan","mode":"Off"},"ipam":{"type":"host-local","cidr":"1.2.3.4/8"}}`), byte(3))
	f.Add([]byte(`{"ipip":"Never","ipAutodetectionMethod":"cidr=,","vethMTU":"-0","autoScaling":{"resources":{"node":{"cpu":"-1"}}}}`), byte(12))
	f.Add([]byte(`{"backend":"vxlan","ipv6":{"autoDetectionMethod":"interface=(","mode":"Always"},"kubeAPIServerEndpoints":{"labels":{"":""}}}`), byte(31))
	f.Add([]byte(`{"overlay":{"enabled":true,"createPodRoutes":true},"snatToUpstreamDNS":{"enabled":true},"ipv4":{"pool":"geneve"}}`), byte(60))
	f.Add([]byte(`{"ipv4":{"autoDetectionMethod":"skip-interface=`+strings.Repeat(`[^a]{1000},`, 3000)+`"}}`), byte(0))
	f.Add([]byte(`{"autoScaling":{"resources":{"typha":{"memory":1e2147483647}}}}`), byte(0))

	f.Fuzz(func(t *testing.T, data []byte, bits byte) {
		config, err := v1alpha1.DecodeNetworkConfig(&runtime.RawExtension{Raw: data})
		if err != nil {
			require.Nil(t, config)
			return
		}
		encoded, err := v1alpha1.Encode(config)
		require.NoError(t, err)
		second, err := v1alpha1.DecodeNetworkConfig(encoded)
		require.NoError(t, err)
		again, err := v1alpha1.Encode(second)
		require.NoError(t, err)
		require.Equal(t, string(encoded.Raw), string(again.Raw))

		context := contextOf(bits)
		path := field.NewPath("providerConfig")
		refused := validation.ValidateNetworkConfig(config, context.IPFamilies, path)
		asWritten := validation.ValidateNewNetworkConfig(config, context, path)
		warnings := validation.WarningsOf(config, context, path)

		effective, overrides := config.Default(context)
		if len(overrides) > 0 && configuresRouting(config) && context.DefaultOverlay == nil {
			require.NotZero(t, len(refused)+len(asWritten)+len(warnings), "nobody is told: %v", overrides)
		}
		twice, overridden := effective.Default(context)
		require.Empty(t, overridden)
		require.Empty(t, cmp.Diff(effective, twice))
		if len(refused) == 0 {
			require.Empty(t, validation.ValidateNetworkConfig(effective, context.IPFamilies, path), "what is in force is valid")
		}
	})
}

// configuresRouting reports whether the user said more than that there is to be an overlay, which is then made as it goes.
func configuresRouting(config *v1alpha1.NetworkConfig) bool {
	return config.Overlay == nil || config.SetsEncapsulation() || config.IPAM != nil || config.SnatToUpstreamDNS != nil
}

// contextOf makes a context from the bits of a byte.
func contextOf(bits byte) v1alpha1.DefaultingContext {
	bit := func(position int) bool { return bits>>position&1 == 1 }
	families := [][]gardencorev1beta1.IPFamily{nil, {ipv4}, {ipv6}, {ipv6, ipv4}}[bits&3]
	context := v1alpha1.DefaultingContext{IPFamilies: families, IPIP: bit(2), VXLAN: bit(3), PodRoutesByPlugin: bit(4), VPA: bit(5)}
	if overlay := bit(6); bit(7) {
		context.DefaultOverlay = &overlay
	}
	return context
}
