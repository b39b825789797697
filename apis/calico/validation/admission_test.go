package validation_test

import (
	"net/netip"
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
		"a backend that the overlay switch outranks": {`"overlay":{"enabled":false},"backend":"bird"`, anywhere(), nil},
		"a mode that the overlay switch outranks":    {`"overlay":{"enabled":true},"ipv4":{"mode":"Never"}`, anywhere(), nil},
		"a mode in the deprecated field":             {`"overlay":{"enabled":true},"ipip":"Never"`, anywhere(), nil},
		"a backend that knows no way for the pool": {
			`"backend":"vxlan","ipv4":{"pool":"ipip"}`, anywhere(), []string{"c.backend", "would be bird: nobody else makes routes for IP-in-IP"},
		},
		"that backend where nothing is wrapped":           {`"backend":"vxlan","ipv4":{"pool":"ipip","mode":"Never"}`, anywhere(), nil},
		"pod routes with the overlay, which does without": {`"overlay":{"enabled":true,"createPodRoutes":true}`, anywhere(), nil},
		"source NAT to DNS servers with the overlay, which brings it": {
			`"overlay":{"enabled":true},"snatToUpstreamDNS":{"enabled":true}`, anywhere(), nil,
		},
		"source NAT to DNS servers where packets go as they are without a switch": {
			`"backend":"none","snatToUpstreamDNS":{"enabled":true}`, anywhere(),
			[]string{"c.snatToUpstreamDNS.enabled", "would be false: it counts only where overlay.enabled is false"},
		},
		"the overlay where nothing passes": {
			`"overlay":{"enabled":true}`, v1alpha1.DefaultingContext{}, []string{"c.overlay.enabled", "infrastructure does not let"},
		},
		"the overlay by IP-in-IP where only VXLAN passes": {
			`"overlay":{"enabled":true},"ipv4":{"pool":"ipip"}`,
			v1alpha1.DefaultingContext{VXLAN: true},
			[]string{"c.ipv4.pool", "would be vxlan"},
		},
		"the overlay where only VXLAN passes, which is no wish for anything else": {`"overlay":{"enabled":true}`, v1alpha1.DefaultingContext{VXLAN: true}, nil},
		"IP-in-IP where it does not pass": {
			`"backend":"bird","ipv4":{"mode":"Always"}`,
			v1alpha1.DefaultingContext{VXLAN: true},
			[]string{"c.backend", "would be none: the infrastructure does not let", "c.ipv4.mode", "would be Never"},
		},
		"the overlay by VXLAN where only VXLAN passes": {
			`"overlay":{"enabled":true},"vxlan":{"enabled":true}`, v1alpha1.DefaultingContext{VXLAN: true}, nil,
		},
		"IP-in-IP for IPv6": {
			`"ipv6":{"pool":"ipip"}`, anywhere(both), []string{"c.ipv6.pool", "would be vxlan: IP-in-IP carries IPv4 alone: write that, or remove the field"},
		},
		"the overlay with IPv6": {
			`"overlay":{"enabled":true}`, anywhere(both), []string{"c.overlay.enabled", "IPv6 are not wrapped: set it to false"},
		},
		"no overlay with IPv6": {`"overlay":{"enabled":false}`, anywhere(both), nil},
		"the overlay by VXLAN with IPv6": {
			`"overlay":{"enabled":true},"vxlan":{"enabled":true}`, anywhere(both),
			[]string{"c.vxlan.enabled", "no pool is one of VXLAN", "c.overlay.enabled", "set it to false"},
		},
		"an overlay by a VXLAN pool with IPv6": {
			`"overlay":{"enabled":true},"ipv4":{"pool":"vxlan"}`, anywhere(both),
			[]string{"c.ipv4.pool", "would be ipip: VXLAN needs calico-ipam, which does not serve shoots with IPv6", "c.overlay.enabled", "set it to false"},
		},
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
		})
	}
}

func TestWishesThatAreNotFulfilledAndDoNoHarm(t *testing.T) {
	known := anywhere(families{ipv4, ipv6})
	known.NodeRanges = []netip.Prefix{netip.MustParsePrefix("10.250.0.0/16"), netip.MustParsePrefix("2001:db8::/64")}
	for sentence, test := range map[string]struct {
		config  string
		context v1alpha1.DefaultingContext
		want    []string
	}{
		"nothing":                {``, known, nil},
		"what nodes would do":    {`"ipv4":{"autoDetectionMethod":"cidr=10.250.0.0/16"}`, known, nil},
		"where nothing is known": {`"ipv4":{"autoDetectionMethod":"interface=eth0"}`, anywhere(), nil},
		"what is refused":        {`"vxlan":{"enabled":true},"ipam":{"type":"host-local"}`, anywhere(), nil},
		"a backend that the overlay switch outranks": {
			`"overlay":{"enabled":false},"backend":"bird"`, anywhere(), []string{"c.backend is none instead of bird: overlay.enabled is false"},
		},
		"a mode that it outranks": {
			`"overlay":{"enabled":true},"ipv4":{"mode":"Never"}`, anywhere(), []string{"c.ipv4.mode is Always instead of Never: overlay.enabled is true"},
		},
		"a mode in the deprecated field": {
			`"overlay":{"enabled":false},"ipip":"Always"`, anywhere(), []string{"c.ipip is Never instead of Always: overlay.enabled is false"},
		},
		"what nobody wrote either": {`"overlay":{"enabled":true}`, v1alpha1.DefaultingContext{VXLAN: true}, nil},
		"a way to find addresses": {
			`"ipv4":{"autoDetectionMethod":"interface=eth0"}`, known,
			[]string{"c.ipv4.autoDetectionMethod is cidr=10.250.0.0/16 instead of interface=eth0: the ranges of the nodes are known"},
		},
		"one in the deprecated field": {
			`"ipAutodetectionMethod":"first-found"`, known,
			[]string{"c.ipAutodetectionMethod is cidr=10.250.0.0/16 instead of first-found: the ranges of the nodes are known"},
		},
		"one for IPv6": {
			`"ipv6":{"autoDetectionMethod":"first-found"}`, known,
			[]string{"c.ipv6.autoDetectionMethod is cidr=2001:db8::/64 instead of first-found: the ranges of the nodes are known"},
		},
		"what counts without the overlay alone": {
			`"overlay":{"enabled":true,"createPodRoutes":true},"snatToUpstreamDNS":{"enabled":true}`, anywhere(),
			[]string{
				"c.overlay.createPodRoutes is false instead of true: overlay.enabled is true",
				"c.snatToUpstreamDNS.enabled is false instead of true: it counts only where overlay.enabled is false",
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, test.want, validation.WarningsOf(decode(t, test.config), test.context, field.NewPath("c")))
		})
	}
}
