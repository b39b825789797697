package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/calico/validation"
)

func anywhere(list ...families) v1alpha1.DefaultingContext {
	context := v1alpha1.DefaultingContext{IPIP: true, VXLAN: true, VPA: true}
	for _, families := range list {
		context.IPFamilies = families
	}
	return context
}

func TestWhatAdmissionRefusesInNewConfigurations(t *testing.T) {
	both := families{ipv4, ipv6}
	for sentence, test := range map[string]struct {
		config  string
		context v1alpha1.DefaultingContext
		want    []string
	}{
		"nothing": {``, anywhere(), nil},
		"what the overlay switch and the rest say alike": {
			`"overlay":{"enabled":true},"backend":"vxlan","vxlan":{"enabled":true},"ipv4":{"pool":"vxlan","mode":"Always"},"ipam":{"type":"calico-ipam"}`,
			anywhere(), nil,
		},
		"VXLAN with host-local": {
			`"vxlan":{"enabled":true},"ipam":{"type":"host-local"}`, anywhere(),
			[]string{"c.ipam.type", "would be calico-ipam: host-local has no addresses for the tunnels of VXLAN: write that, or remove the field"},
		},
		"a VXLAN pool with host-local": {
			`"ipv4":{"pool":"vxlan"},"ipam":{"type":"host-local"}`, anywhere(), []string{"c.ipam.type", "would be calico-ipam"},
		},
		"a backend that the overlay switch outranks": {
			`"overlay":{"enabled":false},"backend":"bird"`, anywhere(), []string{"c.backend", "would be none: overlay.enabled is false"},
		},
		"a mode that the overlay switch outranks": {
			`"overlay":{"enabled":true},"ipv4":{"mode":"Never"}`, anywhere(), []string{"c.ipv4.mode", "would be Always"},
		},
		"a mode in the deprecated field": {
			`"overlay":{"enabled":true},"ipip":"Never"`, anywhere(), []string{"c.ipip", "would be Always"},
		},
		"a backend that knows no way for the pool": {
			`"backend":"vxlan","ipv4":{"pool":"ipip"}`, anywhere(), []string{"c.backend", "would be bird: nobody else makes routes for IP-in-IP"},
		},
		"that backend where nothing is wrapped": {`"backend":"vxlan","ipv4":{"pool":"ipip","mode":"Never"}`, anywhere(), nil},
		"pod routes with the overlay": {
			`"overlay":{"enabled":true,"createPodRoutes":true}`, anywhere(), []string{"c.overlay.createPodRoutes", "would be false"},
		},
		"the overlay where nothing passes": {
			`"overlay":{"enabled":true}`, v1alpha1.DefaultingContext{}, []string{"c.overlay.enabled", "infrastructure does not let"},
		},
		"the overlay by IP-in-IP where only VXLAN passes": {
			`"overlay":{"enabled":true},"ipv4":{"pool":"ipip"}`,
			v1alpha1.DefaultingContext{VXLAN: true},
			[]string{"c.ipv4.pool", "would be vxlan"},
		},
		"the overlay by VXLAN where only VXLAN passes": {
			`"overlay":{"enabled":true},"vxlan":{"enabled":true}`, v1alpha1.DefaultingContext{VXLAN: true}, nil,
		},
		"the overlay with IPv6": {
			`"overlay":{"enabled":true}`, anywhere(both), []string{"c.overlay.enabled", "IPv6 are not wrapped: set it to false"},
		},
		"no overlay with IPv6": {`"overlay":{"enabled":false}`, anywhere(both), nil},
		"VXLAN with IPv6": {
			`"vxlan":{"enabled":true}`, anywhere(both), []string{"c.vxlan.enabled", "remove the field"},
		},
		"wrapping with IPv6": {
			`"ipv4":{"mode":"Always"},"ipv6":{"mode":"Always"}`, anywhere(both),
			[]string{"c.ipv4.mode", "would be Never", "c.ipv6.mode", "would be Never"},
		},
		"vpa without": {
			`"autoScaling":{"mode":"vpa"}`, v1alpha1.DefaultingContext{IPIP: true}, []string{"c.autoScaling.mode", "no vertical pod autoscaler"},
		},
		"an IPv6 range for IPv4 addresses": {
			`"ipv4":{"autoDetectionMethod":"cidr=10.0.0.0/8,2001:db8::/32"}`, anywhere(),
			[]string{"c.ipv4.autoDetectionMethod", "2001:db8::/32 is of the other IP family"},
		},
		"an IPv4 range for IPv6 addresses": {
			`"ipv6":{"autoDetectionMethod":"cidr=10.0.0.0/8"}`, anywhere(both), []string{"c.ipv6.autoDetectionMethod", "10.0.0.0/8"},
		},
		"the deprecated method without IPv4": {
			`"ipAutodetectionMethod":"first-found"`, anywhere(families{ipv6}), []string{"c.ipAutodetectionMethod", "use ipv6.autoDetectionMethod"},
		},
		"a range of another family": {
			`"ipam":{"cidr":"2001:db8::/32"}`, anywhere(), []string{"c.ipam.cidr", "the shoot has no IPv6"},
		},
		"a range not in canonical form": {
			`"ipam":{"cidr":"100.96.0.1/11"}`, anywhere(), []string{"c.ipam.cidr", "write 100.96.0.0/11"},
		},
		"a range":              {`"ipam":{"cidr":"100.96.0.0/11"}`, anywhere(), nil},
		"the range of the pod": {`"ipam":{"cidr":"usepodcidr"}`, anywhere(), nil},
		"an MTU":               {`"vethMTU":"1450"`, anywhere(both), nil},
		"an MTU of nothing":    {`"vethMTU":"0"`, anywhere(), nil},
		"a small MTU":          {`"vethMTU":"575"`, anywhere(), []string{"c.vethMTU", "between 576 and 9216"}},
		"too small for IPv6":   {`"vethMTU":"1279"`, anywhere(both), []string{"c.vethMTU", "between 1280 and 9216"}},
		"a large MTU":          {`"vethMTU":"9217"`, anywhere(), []string{"c.vethMTU", "between 576 and 9216"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			config := decode(t, test.config)
			require.Empty(t, validation.ValidateNetworkConfig(config, test.context.IPFamilies, field.NewPath("c")), "the controller lives with it")

			errs := validation.ValidateNewNetworkConfig(config, test.context, field.NewPath("c"))
			requireErrors(t, test.want, errs)
			require.Empty(t, validation.ValidateChangedNetworkConfig(config, test.context, config, test.context, field.NewPath("c")), "what is not changed is not refused")
			requireErrors(t, test.want, validation.ValidateChangedNetworkConfig(decode(t, ``), anywhere(), config, test.context, field.NewPath("c")))
		})
	}
}

func TestAShootThatGoesDualStackMustSwitchItsOverlayOff(t *testing.T) {
	config := decode(t, `"overlay":{"enabled":true}`)
	errs := validation.ValidateChangedNetworkConfig(config, anywhere(), config, anywhere(families{ipv4, ipv6}), field.NewPath("c"))
	requireErrors(t, []string{"c.overlay.enabled", "set it to false"}, errs)
}

func TestUpdates(t *testing.T) {
	const refused = "does not go back from calico-ipam to host-local: set it to calico-ipam"
	for sentence, test := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing":                          {``, ``, nil},
		"to calico-ipam":                   {`"ipam":{"type":"host-local"}`, `"ipam":{"type":"calico-ipam"}`, nil},
		"back from it":                     {`"ipam":{"type":"calico-ipam"}`, `"ipam":{"type":"host-local"}`, []string{"c.ipam.type", refused}},
		"back from it as VXLAN brought it": {`"vxlan":{"enabled":true}`, `"ipam":{"type":"host-local"}`, []string{"c.ipam.type", refused}},
		"back from it as a VXLAN pool brought it": {`"ipv4":{"pool":"vxlan"}`, `"ipam":{"type":"host-local"}`, []string{"c.ipam.type", refused}},
		"no longer saying it":                     {`"ipam":{"type":"calico-ipam"}`, ``, nil},
		"VXLAN off":                               {`"vxlan":{"enabled":true}`, `"vxlan":{"enabled":false}`, nil},
		"a VXLAN pool that wrapped nothing":       {`"ipv4":{"pool":"vxlan","mode":"Never"}`, `"ipam":{"type":"host-local"}`, nil},
		"the overlay on":                          {`"overlay":{"enabled":false}`, `"overlay":{"enabled":true}`, nil},
		"the overlay off and everything else":     {`"overlay":{"enabled":true}`, `"overlay":{"enabled":false},"wireguardEncryption":true,"typha":{"enabled":false},"vethMTU":"1400"`, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			requireErrors(t, test.want, validation.ValidateNetworkConfigUpdate(decode(t, test.before), decode(t, test.after), anywhere(), field.NewPath("c")))
		})
	}
}
