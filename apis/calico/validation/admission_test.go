package validation_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/calico/validation"
)

func unrestrictedContext(list ...families) v1alpha1.DefaultingContext {
	context := v1alpha1.DefaultingContext{IPIP: true, VXLAN: true, VPA: true}
	for _, families := range list {
		context.IPFamilies = families
	}
	return context
}

func TestValidateNewNetworkConfig(t *testing.T) {
	both := families{ipv4, ipv6}
	for sentence, test := range map[string]struct {
		config  string
		context v1alpha1.DefaultingContext
		want    []string
	}{
		"nothing": {``, unrestrictedContext(), nil},
		"what the overlay switch and the rest say alike": {
			`"overlay":{"enabled":true},"backend":"vxlan","vxlan":{"enabled":true},"ipv4":{"pool":"vxlan","mode":"Always"},"ipam":{"type":"calico-ipam"}`,
			unrestrictedContext(), nil,
		},
		"VXLAN with host-local": {
			`"vxlan":{"enabled":true},"ipam":{"type":"host-local"}`, unrestrictedContext(),
			[]string{"c.ipam.type", "would be calico-ipam: host-local has no addresses for the tunnels of VXLAN: write that, or remove the field"},
		},
		"a VXLAN pool with host-local": {
			`"ipv4":{"pool":"vxlan"},"ipam":{"type":"host-local"}`, unrestrictedContext(), []string{"c.ipam.type", "would be calico-ipam"},
		},
		"a backend that the overlay switch outranks": {`"overlay":{"enabled":false},"backend":"bird"`, unrestrictedContext(), nil},
		"a mode that the overlay switch outranks":    {`"overlay":{"enabled":true},"ipv4":{"mode":"Never"}`, unrestrictedContext(), nil},
		"a mode in the deprecated field":             {`"overlay":{"enabled":true},"ipip":"Never"`, unrestrictedContext(), nil},
		"a backend that knows no way for the pool": {
			`"backend":"vxlan","ipv4":{"pool":"ipip"}`, unrestrictedContext(), []string{"c.backend", "would be bird: nobody else makes routes for IP-in-IP"},
		},
		"that backend where nothing is wrapped":           {`"backend":"vxlan","ipv4":{"pool":"ipip","mode":"Never"}`, unrestrictedContext(), nil},
		"pod routes with the overlay, which does without": {`"overlay":{"enabled":true,"createPodRoutes":true}`, unrestrictedContext(), nil},
		"source NAT to DNS servers with the overlay, which brings it": {
			`"overlay":{"enabled":true},"snatToUpstreamDNS":{"enabled":true}`, unrestrictedContext(), nil,
		},
		"source NAT to DNS servers where packets go as they are without a switch": {
			`"backend":"none","snatToUpstreamDNS":{"enabled":true}`, unrestrictedContext(),
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
			`"ipv6":{"pool":"ipip"}`, unrestrictedContext(both), []string{"c.ipv6.pool", "would be vxlan: IP-in-IP carries IPv4 alone: write that, or remove the field"},
		},
		"the overlay with IPv6": {
			`"overlay":{"enabled":true}`, unrestrictedContext(both), []string{"c.overlay.enabled", "IPv6 are not wrapped: set it to false"},
		},
		"no overlay with IPv6": {`"overlay":{"enabled":false}`, unrestrictedContext(both), nil},
		"the overlay by VXLAN with IPv6": {
			`"overlay":{"enabled":true},"vxlan":{"enabled":true}`, unrestrictedContext(both),
			[]string{"c.vxlan.enabled", "no pool is one of VXLAN", "c.overlay.enabled", "set it to false"},
		},
		"an overlay by a VXLAN pool with IPv6": {
			`"overlay":{"enabled":true},"ipv4":{"pool":"vxlan"}`, unrestrictedContext(both),
			[]string{"c.ipv4.pool", "would be ipip: VXLAN needs calico-ipam, which does not serve shoots with IPv6", "c.overlay.enabled", "set it to false"},
		},
		"VXLAN with IPv6": {
			`"vxlan":{"enabled":true}`, unrestrictedContext(both), []string{"c.vxlan.enabled", "remove the field"},
		},
		"wrapping with IPv6": {
			`"ipv4":{"mode":"Always"},"ipv6":{"mode":"Always"}`, unrestrictedContext(both),
			[]string{"c.ipv4.mode", "would be Never", "c.ipv6.mode", "would be Never"},
		},
		"vpa without": {
			`"autoScaling":{"mode":"vpa"}`, v1alpha1.DefaultingContext{IPIP: true}, []string{"c.autoScaling.mode", "no vertical pod autoscaler"},
		},
		"an IPv6 range for IPv4 addresses": {
			`"ipv4":{"autoDetectionMethod":"cidr=10.0.0.0/8,2001:db8::/32"}`, unrestrictedContext(),
			[]string{"c.ipv4.autoDetectionMethod", "2001:db8::/32 is of the other IP family"},
		},
		"an IPv4 range for IPv6 addresses": {
			`"ipv6":{"autoDetectionMethod":"cidr=10.0.0.0/8"}`, unrestrictedContext(both), []string{"c.ipv6.autoDetectionMethod", "10.0.0.0/8"},
		},
		"the deprecated method without IPv4": {
			`"ipAutodetectionMethod":"first-found"`, unrestrictedContext(families{ipv6}), []string{"c.ipAutodetectionMethod", "use ipv6.autoDetectionMethod"},
		},
		"a range of another family": {
			`"ipam":{"cidr":"2001:db8::/32"}`, unrestrictedContext(), []string{"c.ipam.cidr", "the shoot has no IPv6"},
		},
		"a range not in canonical form": {
			`"ipam":{"cidr":"100.96.0.1/11"}`, unrestrictedContext(), []string{"c.ipam.cidr", "write 100.96.0.0/11"},
		},
		"a range":              {`"ipam":{"cidr":"100.96.0.0/11"}`, unrestrictedContext(), nil},
		"the range of the pod": {`"ipam":{"cidr":"usepodcidr"}`, unrestrictedContext(), nil},
		"an MTU":               {`"vethMTU":"1450"`, unrestrictedContext(both), nil},
		"an MTU of nothing":    {`"vethMTU":"0"`, unrestrictedContext(), nil},
		"a small MTU":          {`"vethMTU":"575"`, unrestrictedContext(), []string{"c.vethMTU", "between 576 and 9216"}},
		"too small for IPv6":   {`"vethMTU":"1279"`, unrestrictedContext(both), []string{"c.vethMTU", "between 1280 and 9216"}},
		"a large MTU":          {`"vethMTU":"9217"`, unrestrictedContext(), []string{"c.vethMTU", "between 576 and 9216"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			config := decode(t, test.config)
			require.Empty(t, validation.ValidateNetworkConfig(config, test.context.IPFamilies, field.NewPath("c")), "the controller lives with it")

			errs := validation.ValidateNewNetworkConfig(config, test.context, field.NewPath("c"))
			requireErrors(t, test.want, errs)
		})
	}
}

func TestWarningsOf(t *testing.T) {
	known := unrestrictedContext(families{ipv4, ipv6})
	known.NodeRanges = []netip.Prefix{netip.MustParsePrefix("10.250.0.0/16"), netip.MustParsePrefix("2001:db8::/64")}
	for sentence, test := range map[string]struct {
		config  string
		context v1alpha1.DefaultingContext
		want    []string
	}{
		"nothing":                {``, known, nil},
		"what nodes would do":    {`"ipv4":{"autoDetectionMethod":"cidr=10.250.0.0/16"}`, known, nil},
		"where nothing is known": {`"ipv4":{"autoDetectionMethod":"interface=eth0"}`, unrestrictedContext(), nil},
		"what is refused":        {`"vxlan":{"enabled":true},"ipam":{"type":"host-local"}`, unrestrictedContext(), nil},
		"a backend that the overlay switch outranks": {
			`"overlay":{"enabled":false},"backend":"bird"`, unrestrictedContext(), []string{"c.backend is none instead of bird: overlay.enabled is false"},
		},
		"a mode that it outranks": {
			`"overlay":{"enabled":true},"ipv4":{"mode":"Never"}`, unrestrictedContext(), []string{"c.ipv4.mode is Always instead of Never: overlay.enabled is true"},
		},
		"a mode in the deprecated field": {
			`"overlay":{"enabled":false},"ipip":"Always"`, unrestrictedContext(), []string{"c.ipip is Never instead of Always: overlay.enabled is false"},
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
			`"overlay":{"enabled":true,"createPodRoutes":true},"snatToUpstreamDNS":{"enabled":true}`, unrestrictedContext(),
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
