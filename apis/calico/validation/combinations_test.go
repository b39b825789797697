package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/calico/validation"
)

// TestDefault_AllRoutingCombinations tests all combinations, on all infrastructures, for effective configurations with
// which pods could not reach each other, or which are not final.
func TestDefault_AllRoutingCombinations(t *testing.T) {
	choices := [][]string{
		{``, `"overlay":{"enabled":true}`, `"overlay":{"enabled":false}`, `"overlay":{"enabled":true,"createPodRoutes":true}`, `"overlay":{"enabled":false,"createPodRoutes":true}`},
		{``, `"backend":"bird"`, `"backend":"vxlan"`, `"backend":"none"`},
		{
			``, `"ipip":"CrossSubnet"`, `"ipv4":{"mode":"Always"}`, `"ipv4":{"mode":"Off"}`, `"ipv4":{"mode":"CrossSubnet"}`, `"ipv4":{"pool":"vxlan"}`,
			`"ipv4":{"pool":"ipip"}`, `"ipv4":{"pool":"vxlan","mode":"Never"}`, `"ipv4":{"pool":"vxlan","mode":"Always"}`, `"ipv4":{"pool":"ipip","mode":"CrossSubnet"}`,
		},
		{``, `"vxlan":{"enabled":true}`, `"vxlan":{"enabled":false}`},
		{``, `"ipam":{"type":"host-local"}`, `"ipam":{"type":"calico-ipam"}`},
	}
	tried := 0
	for _, fields := range combinations(choices) {
		config := decode(t, fields)
		for bits := range 256 {
			if bits&(1<<5) != 0 || bits&(3<<6) == 1<<6 {
				continue // an autoscaler, or a default for the overlay that is not given, changes nothing
			}
			context := contextOf(byte(bits))
			if len(validation.ValidateNetworkConfig(config, context.IPFamilies, field.NewPath("c"))) > 0 {
				continue
			}
			effective, _ := config.Default(context)
			if problem := inconsistency(effective, context); problem != "" {
				t.Fatalf("%s: {%s} in %+v", problem, fields, context)
			}
			if twice, overridden := effective.Default(context); len(overridden) > 0 || !cmp.Equal(effective, twice) {
				t.Fatalf("not final: {%s} in %+v: %v", fields, context, overridden)
			}
			require.Empty(t, validation.ValidateNetworkConfig(effective, context.IPFamilies, field.NewPath("c")))
			tried++
		}
	}
	require.Greater(t, tried, 50_000)
}

func combinations(choices [][]string) []string {
	result := []string{""}
	for _, choice := range choices {
		var longer []string
		for _, start := range result {
			for _, value := range choice {
				longer = append(longer, strings.Trim(start+","+value, ","))
			}
		}
		result = longer
	}
	return result
}

// inconsistency returns what is wrong with an effective configuration.
func inconsistency(config *v1alpha1.NetworkConfig, context v1alpha1.DefaultingContext) string {
	if config.IPv6 != nil && config.IPv6.Mode.Encapsulates() {
		return "IPv6 packets are wrapped"
	}
	if problem := overlayInconsistency(config); problem != "" {
		return problem
	}
	if config.IPv4 == nil || !config.IPv4.Mode.Encapsulates() {
		return ""
	}
	vxlan := *config.IPv4.Pool == v1alpha1.PoolVXLAN
	allowed := map[bool]bool{false: context.IPIP, true: context.VXLAN}
	switch {
	case *config.Backend == v1alpha1.BackendNone:
		return "packets are wrapped without a backend"
	case !allowed[vxlan]:
		return "packets are wrapped that do not pass"
	case vxlan && config.IPAM.Type != v1alpha1.IPAMCalico:
		return "VXLAN tunnels without addresses"
	case !vxlan && *config.Backend != v1alpha1.BackendBird:
		return "IP-in-IP without routes"
	}
	return ""
}

// overlayInconsistency returns what contradicts the overlay setting.
func overlayInconsistency(config *v1alpha1.NetworkConfig) string {
	overlay := config.Overlay
	if overlay == nil {
		return ""
	}
	none := *config.Backend == v1alpha1.BackendNone
	switch {
	case overlay.Enabled && none:
		return "an overlay without a backend"
	case !overlay.Enabled && none == *overlay.CreatePodRoutes:
		return "the backend says something else than createPodRoutes"
	case config.IPv4 != nil && overlay.Enabled != config.IPv4.Mode.Encapsulates():
		return "the overlay switch says something else than the mode"
	}
	return ""
}
