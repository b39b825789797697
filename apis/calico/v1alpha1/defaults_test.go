package v1alpha1_test

import (
	"net/netip"
	"reflect"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

const (
	ipv4 = gardencorev1beta1.IPFamilyIPv4
	ipv6 = gardencorev1beta1.IPFamilyIPv6
)

func families(list ...gardencorev1beta1.IPFamily) []gardencorev1beta1.IPFamily { return list }

// unrestrictedContext is an infrastructure that forbids nothing; azure lets no IP-in-IP through; nowhere neither that nor VXLAN.
func unrestrictedContext(list ...gardencorev1beta1.IPFamily) v1alpha1.DefaultingContext {
	return v1alpha1.DefaultingContext{IPFamilies: list, IPIP: true, VXLAN: true, VPA: true}
}

func azureContext() v1alpha1.DefaultingContext {
	return v1alpha1.DefaultingContext{VXLAN: true, VPA: true}
}

func noEncapsulationContext() v1alpha1.DefaultingContext {
	return v1alpha1.DefaultingContext{VPA: true}
}

func with(context v1alpha1.DefaultingContext, change func(*v1alpha1.DefaultingContext)) v1alpha1.DefaultingContext {
	change(&context)
	return context
}

func config(t *testing.T, fields string) *v1alpha1.NetworkConfig {
	t.Helper()
	config, err := v1alpha1.DecodeNetworkConfig(&runtime.RawExtension{Raw: []byte(`{` + fields + `}`)})
	require.NoError(t, err)
	return config
}

// routing is what nodes have to agree upon.
type routing struct {
	overlay  string // "", "on" or "off"
	backend  v1alpha1.Backend
	pool     v1alpha1.Pool     // of IPv4
	mode     v1alpha1.PoolMode // of IPv4
	modeIPv6 v1alpha1.PoolMode
	ipam     string
	routes   bool // createPodRoutes
	dns      bool // snatToUpstreamDNS
}

func routingOf(config *v1alpha1.NetworkConfig) routing {
	result := routing{backend: *config.Backend, ipam: config.IPAM.Type, dns: config.SnatToUpstreamDNS.Enabled}
	if config.IPv4 != nil {
		result.pool, result.mode = *config.IPv4.Pool, *config.IPv4.Mode
	}
	if config.IPv6 != nil {
		result.modeIPv6 = *config.IPv6.Mode
	}
	if overlay := config.Overlay; overlay != nil {
		result.overlay, result.routes = "off", *overlay.CreatePodRoutes
		if overlay.Enabled {
			result.overlay = "on"
		}
	}
	return result
}

func TestDefault_Routing(t *testing.T) {
	const (
		on, off    = `"overlay":{"enabled":true}`, `"overlay":{"enabled":false}`
		host, ipam = v1alpha1.IPAMHostLocal, v1alpha1.IPAMCalico
	)
	yes, no := true, false
	for sentence, test := range map[string]struct {
		config     string
		context    v1alpha1.DefaultingContext
		want       routing
		overridden []string
	}{
		"nothing said, IPv4: IP-in-IP and bird": {
			``, unrestrictedContext(ipv4), routing{backend: "bird", pool: "ipip", mode: "Always", ipam: host}, nil,
		},
		"no families are IPv4": {
			``, unrestrictedContext(), routing{backend: "bird", pool: "ipip", mode: "Always", ipam: host}, nil,
		},
		"nothing said, IPv6: native": {
			``, unrestrictedContext(ipv6), routing{backend: "none", modeIPv6: "Never", ipam: host}, nil,
		},
		"nothing said, both: native": {
			``, unrestrictedContext(ipv4, ipv6), routing{backend: "none", pool: "ipip", mode: "Never", modeIPv6: "Never", ipam: host}, nil,
		},
		"nothing said where IP-in-IP does not pass: native": {
			``, azureContext(), routing{backend: "none", pool: "ipip", mode: "Never", ipam: host}, nil,
		},
		"the overlay on": {
			on, unrestrictedContext(), routing{overlay: "on", backend: "bird", pool: "ipip", mode: "Always", ipam: host}, nil,
		},
		"the overlay on with VXLAN": {
			on + `,"vxlan":{"enabled":true}`, unrestrictedContext(),
			routing{overlay: "on", backend: "vxlan", pool: "vxlan", mode: "Always", ipam: ipam},
			nil,
		},
		"the overlay on with a VXLAN pool": {
			on + `,"ipv4":{"pool":"vxlan"}`, unrestrictedContext(),
			routing{overlay: "on", backend: "vxlan", pool: "vxlan", mode: "Always", ipam: ipam},
			nil,
		},
		"the overlay on outranks backend and mode": {
			on + `,"backend":"none","ipv4":{"mode":"CrossSubnet"}`, unrestrictedContext(),
			routing{overlay: "on", backend: "bird", pool: "ipip", mode: "Always", ipam: host},
			[]string{
				"backend is bird instead of none: overlay.enabled is true",
				"ipv4.mode is Always instead of CrossSubnet: overlay.enabled is true",
			},
		},
		"the overlay on with VXLAN outranks the pool": {
			on + `,"vxlan":{"enabled":true},"ipv4":{"pool":"ipip"}`, unrestrictedContext(),
			routing{overlay: "on", backend: "vxlan", pool: "vxlan", mode: "Always", ipam: ipam},
			[]string{"ipv4.pool is vxlan instead of ipip: vxlan.enabled is true"},
		},
		"the overlay on where only VXLAN passes": {
			on, azureContext(),
			routing{overlay: "on", backend: "vxlan", pool: "vxlan", mode: "Always", ipam: ipam},
			[]string{"ipv4.pool is vxlan instead of ipip: the infrastructure does not let packets that are wrapped so through"},
		},
		"the overlay on where nothing passes": {
			on, noEncapsulationContext(),
			routing{overlay: "off", backend: "none", pool: "ipip", mode: "Never", ipam: host, dns: true},
			[]string{"overlay.enabled is false instead of true: the infrastructure does not let packets that are wrapped so through"},
		},
		"the overlay on has no use for pod routes and source NAT": {
			`"overlay":{"enabled":true,"createPodRoutes":true},"snatToUpstreamDNS":{"enabled":true}`, unrestrictedContext(),
			routing{overlay: "on", backend: "bird", pool: "ipip", mode: "Always", ipam: host},
			[]string{
				"overlay.createPodRoutes is false instead of true: overlay.enabled is true",
				"snatToUpstreamDNS.enabled is false instead of true: it counts only where overlay.enabled is false",
			},
		},
		"the overlay off": {
			off, unrestrictedContext(), routing{overlay: "off", backend: "none", pool: "ipip", mode: "Never", ipam: host, dns: true}, nil,
		},
		"the overlay off in dual stack": {
			off, unrestrictedContext(ipv4, ipv6),
			routing{overlay: "off", backend: "none", pool: "ipip", mode: "Never", modeIPv6: "Never", ipam: host, dns: true},
			nil,
		},
		"an overlay block that says nothing says off": {
			`"overlay":{}`, unrestrictedContext(), routing{overlay: "off", backend: "none", pool: "ipip", mode: "Never", ipam: host, dns: true}, nil,
		},
		"the overlay off with pod routes": {
			`"overlay":{"enabled":false,"createPodRoutes":true}`, unrestrictedContext(),
			routing{overlay: "off", backend: "bird", pool: "ipip", mode: "Never", ipam: host, routes: true, dns: true},
			nil,
		},
		"the overlay off where the infrastructure leaves routes to the network": {
			off, with(unrestrictedContext(), func(c *v1alpha1.DefaultingContext) { c.PodRoutesByPlugin = true }),
			routing{overlay: "off", backend: "bird", pool: "ipip", mode: "Never", ipam: host, routes: true, dns: true},
			nil,
		},
		"which outranks the backend, too": {
			off + `,"backend":"none"`, with(unrestrictedContext(), func(c *v1alpha1.DefaultingContext) { c.PodRoutesByPlugin = true }),
			routing{overlay: "off", backend: "bird", pool: "ipip", mode: "Never", ipam: host, routes: true, dns: true},
			[]string{"backend is bird instead of none: overlay.enabled is false, and nodes make routes on this infrastructure " +
				"unless overlay.createPodRoutes is false"},
		},
		"pod routes outrank the backend": {
			`"overlay":{"enabled":false,"createPodRoutes":true},"backend":"none"`, unrestrictedContext(),
			routing{overlay: "off", backend: "bird", pool: "ipip", mode: "Never", ipam: host, routes: true, dns: true},
			[]string{"backend is bird instead of none: overlay.enabled is false and overlay.createPodRoutes true"},
		},
		"a user can do without pod routes there": {
			`"overlay":{"enabled":false,"createPodRoutes":false}`, with(unrestrictedContext(), func(c *v1alpha1.DefaultingContext) { c.PodRoutesByPlugin = true }),
			routing{overlay: "off", backend: "none", pool: "ipip", mode: "Never", ipam: host, dns: true},
			nil,
		},
		"the overlay off outranks backend and mode, and Off is Never": {
			off + `,"backend":"bird","ipv4":{"mode":"Off"},"snatToUpstreamDNS":{"enabled":false}`, unrestrictedContext(),
			routing{overlay: "off", backend: "none", pool: "ipip", mode: "Never", ipam: host},
			[]string{"backend is none instead of bird: overlay.enabled is false"},
		},
		"VXLAN with the overlay off keeps its addresses": {
			off + `,"vxlan":{"enabled":true}`, unrestrictedContext(),
			routing{overlay: "off", backend: "none", pool: "vxlan", mode: "Never", ipam: ipam, dns: true},
			nil,
		},
		"without a switch what the user says stands": {
			`"backend":"bird","ipv4":{"pool":"ipip","mode":"CrossSubnet"},"ipam":{"type":"calico-ipam"}`, unrestrictedContext(),
			routing{backend: "bird", pool: "ipip", mode: "CrossSubnet", ipam: ipam},
			nil,
		},
		"a mode of Never without a switch keeps bird": {
			`"ipv4":{"mode":"Never"}`, unrestrictedContext(), routing{backend: "bird", pool: "ipip", mode: "Never", ipam: host}, nil,
		},
		"the deprecated mode counts": {
			`"ipip":"CrossSubnet"`, unrestrictedContext(), routing{backend: "bird", pool: "ipip", mode: "CrossSubnet", ipam: host}, nil,
		},
		"and gives way to the new one": {
			`"ipip":"CrossSubnet","ipv4":{"mode":"Never"}`, unrestrictedContext(), routing{backend: "bird", pool: "ipip", mode: "Never", ipam: host}, nil,
		},
		"a backend of none wraps nothing": {
			`"backend":"none","ipv4":{"mode":"Always"}`, unrestrictedContext(),
			routing{backend: "none", pool: "ipip", mode: "Never", ipam: host},
			[]string{"ipv4.mode is Never instead of Always: backend is none"},
		},
		"a backend of vxlan has VXLAN pools": {
			`"backend":"vxlan"`, unrestrictedContext(), routing{backend: "vxlan", pool: "vxlan", mode: "Always", ipam: ipam}, nil,
		},
		"a VXLAN pool outranks host-local": {
			`"ipv4":{"pool":"vxlan"},"ipam":{"type":"host-local"}`, unrestrictedContext(),
			routing{backend: "bird", pool: "vxlan", mode: "Always", ipam: ipam},
			[]string{"ipam.type is calico-ipam instead of host-local: host-local has no addresses for the tunnels of VXLAN"},
		},
		"a VXLAN pool that wraps nothing does not": {
			`"ipv4":{"pool":"vxlan","mode":"Never"},"ipam":{"type":"host-local"}`, unrestrictedContext(),
			routing{backend: "bird", pool: "vxlan", mode: "Never", ipam: host},
			nil,
		},
		"VXLAN that the user wants between subnets only": {
			`"vxlan":{"enabled":true},"ipv4":{"mode":"CrossSubnet"}`, unrestrictedContext(),
			routing{backend: "bird", pool: "vxlan", mode: "Always", ipam: ipam},
			[]string{"ipv4.mode is Always instead of CrossSubnet: VXLAN pools know Always and Never"},
		},
		"VXLAN passes where IP-in-IP does not": {
			`"vxlan":{"enabled":true}`, azureContext(), routing{backend: "vxlan", pool: "vxlan", mode: "Always", ipam: ipam}, nil,
		},
		"IP-in-IP where it does not pass": {
			`"backend":"bird","ipv4":{"pool":"ipip","mode":"Always"}`, azureContext(),
			routing{backend: "none", pool: "ipip", mode: "Never", ipam: host},
			[]string{
				"backend is none instead of bird: the infrastructure does not let packets that are wrapped so through",
				"ipv4.mode is Never instead of Always: the infrastructure does not let packets that are wrapped so through",
			},
		},
		"IP-in-IP is bird's": {
			`"backend":"vxlan","ipv4":{"pool":"ipip","mode":"CrossSubnet"}`, unrestrictedContext(),
			routing{backend: "bird", pool: "ipip", mode: "CrossSubnet", ipam: host},
			[]string{"backend is bird instead of vxlan: nobody else makes routes for IP-in-IP"},
		},
		"unless it wraps nothing": {
			`"backend":"vxlan","ipv4":{"pool":"ipip","mode":"Never"}`, unrestrictedContext(),
			routing{backend: "vxlan", pool: "ipip", mode: "Never", ipam: host},
			nil,
		},
		"the overlay on by VXLAN, which two families cannot have": {
			on + `,"vxlan":{"enabled":true}`, unrestrictedContext(ipv4, ipv6),
			routing{overlay: "on", backend: "bird", pool: "ipip", mode: "Always", modeIPv6: "Never", ipam: host},
			[]string{
				"ipv4.pool is ipip instead of vxlan: VXLAN needs calico-ipam, which does not serve shoots with IPv6",
				"vxlan.enabled is false instead of true: no pool is one of VXLAN",
			},
		},
		"the same where nothing else passes": {
			on, with(azureContext(), func(c *v1alpha1.DefaultingContext) { c.IPFamilies = families(ipv4, ipv6) }),
			routing{overlay: "off", backend: "none", pool: "ipip", mode: "Never", modeIPv6: "Never", ipam: host, dns: true},
			[]string{"overlay.enabled is false instead of true: VXLAN needs calico-ipam, which does not serve shoots with IPv6"},
		},
		"wrapping with IPv6": {
			`"ipv4":{"mode":"Always"},"ipv6":{"mode":"Always"},"vxlan":{"enabled":false}`, unrestrictedContext(ipv6, ipv4),
			routing{backend: "none", pool: "ipip", mode: "Never", modeIPv6: "Never", ipam: host},
			[]string{
				"ipv4.mode is Never instead of Always: packets of shoots with IPv6 are not wrapped",
				"ipv6.mode is Never instead of Always: packets of shoots with IPv6 are not wrapped",
			},
		},
		"calico-ipam stays once it is deployed": {
			off, with(unrestrictedContext(), func(c *v1alpha1.DefaultingContext) { c.DeployedIPAM = ipam }),
			routing{overlay: "off", backend: "none", pool: "ipip", mode: "Never", ipam: ipam, dns: true},
			nil,
		},
		"unless the user says otherwise": {
			`"ipam":{"type":"host-local"}`, with(unrestrictedContext(), func(c *v1alpha1.DefaultingContext) { c.DeployedIPAM = ipam }),
			routing{backend: "bird", pool: "ipip", mode: "Always", ipam: host},
			nil,
		},
		"the infrastructure's default for the overlay": {
			``, with(unrestrictedContext(), func(c *v1alpha1.DefaultingContext) { c.DefaultOverlay = &no }),
			routing{overlay: "off", backend: "none", pool: "ipip", mode: "Never", ipam: host, dns: true},
			nil,
		},
		"that default gives way to whatever is said about wrapping": {
			`"ipv4":{"mode":"CrossSubnet"}`, with(unrestrictedContext(), func(c *v1alpha1.DefaultingContext) { c.DefaultOverlay = &no }),
			routing{backend: "bird", pool: "ipip", mode: "CrossSubnet", ipam: host},
			nil,
		},
		"a pool of IP-in-IP for IPv6, which upstream accepts": {
			`"ipv6":{"pool":"ipip"}`, unrestrictedContext(ipv4, ipv6),
			routing{backend: "none", pool: "ipip", mode: "Never", modeIPv6: "Never", ipam: host},
			[]string{"ipv6.pool is vxlan instead of ipip: IP-in-IP carries IPv4 alone"},
		},
		"that default is not for IPv6": {
			``, with(unrestrictedContext(ipv4, ipv6), func(c *v1alpha1.DefaultingContext) { c.DefaultOverlay = &yes }),
			routing{backend: "none", pool: "ipip", mode: "Never", modeIPv6: "Never", ipam: host},
			nil,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			given := config(t, test.config)
			before := given.DeepCopy()

			effective, overridden := given.Default(test.context)
			require.Equal(t, test.want, routingOf(effective))
			require.Equal(t, test.overridden, overridden)
			require.Empty(t, cmp.Diff(before, given), "what the user gave is not touched")

			again, overridden := effective.Default(test.context)
			require.Empty(t, cmp.Diff(effective, again), "defaulting twice changes nothing")
			require.Empty(t, overridden)
		})
	}
}

func TestDefault_OtherFields(t *testing.T) {
	nodes := []netip.Prefix{netip.MustParsePrefix("10.250.0.0/16"), netip.MustParsePrefix("2001:db8::/64"), netip.MustParsePrefix("10.180.0.0/16")}
	both := with(unrestrictedContext(ipv4, ipv6), func(c *v1alpha1.DefaultingContext) { c.NodeRanges = nodes })
	for sentence, test := range map[string]struct {
		config  string
		context v1alpha1.DefaultingContext
		want    string // a JSON document that the effective configuration contains
	}{
		"nodes find their addresses in the node ranges of the family": {
			``, both, `{"ipv4":{"autoDetectionMethod":"cidr=10.250.0.0/16,10.180.0.0/16"},"ipv6":{"autoDetectionMethod":"cidr=2001:db8::/64"}}`,
		},
		"without node ranges they take the first": {
			``, unrestrictedContext(ipv4, ipv6), `{"ipv4":{"autoDetectionMethod":"first-found"},"ipv6":{"autoDetectionMethod":"first-found"}}`,
		},
		"which outrank a user's own method, as in upstream": {
			`"ipv4":{"autoDetectionMethod":"interface=eth1"}`, both, `{"ipv4":{"autoDetectionMethod":"cidr=10.250.0.0/16,10.180.0.0/16"}}`,
		},
		"a user's own method counts where no node ranges are known": {
			`"ipv4":{"autoDetectionMethod":"interface=eth1"}`, unrestrictedContext(ipv4), `{"ipv4":{"autoDetectionMethod":"interface=eth1"}}`,
		},
		"so does one in the deprecated field, which moves": {
			`"ipAutodetectionMethod":"interface=eth1","ipv4":{"autoDetectionMethod":""}`, unrestrictedContext(ipv4), `{"ipv4":{"autoDetectionMethod":"interface=eth1"}}`,
		},
		"WireGuard needs source NAT of IPv6": {
			`"wireguardEncryption":true`, both, `{"ipv6":{"sourceNATEnabled":true}}`,
		},
		"unless the user says otherwise": {
			`"wireguardEncryption":true,"ipv6":{"sourceNATEnabled":false}`, both, `{"ipv6":{"sourceNATEnabled":false}}`,
		},
		"autoscaling by vpa": {
			`"autoScaling":{"mode":"vpa"}`, both, `{"autoScaling":{"mode":"vpa"}}`,
		},
		"autoscaling by vpa in a shoot without": {
			`"autoScaling":{"mode":"vpa"}`, v1alpha1.DefaultingContext{}, `{"autoScaling":{"mode":"cluster-proportional"}}`,
		},
		"resources without a mode": {
			`"autoScaling":{"resources":{"node":{"cpu":"100m"}}}`, both,
			`{"autoScaling":{"mode":"cluster-proportional","resources":{"node":{"cpu":"100m"}}}}`,
		},
		"everything else": {
			``, both, `{"ipam":{"type":"host-local","cidr":"usePodCIDR"},"typha":{"enabled":true},"vethMTU":"0","ebpfDataplane":{"enabled":false},
				"vxlan":{"enabled":false},"birdExporter":{"enabled":false},"multus":{"enabled":false,"installCNIPlugins":false},
				"serviceLoopPrevention":"Drop","kubeAPIServerEndpoints":{"enabled":false,"name":"gardener-kube-apiserver"}}`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			effective, _ := config(t, test.config).Default(test.context)
			encoded, err := v1alpha1.Encode(effective)
			require.NoError(t, err)
			requireContains(t, fields(t, []byte(test.want)), fields(t, encoded.Raw), "")
		})
	}
}

func requireContains(t *testing.T, want, got map[string]any, path string) {
	t.Helper()
	for name, value := range want {
		inner, isObject := value.(map[string]any)
		if !isObject {
			require.Equal(t, value, got[name], path+name)
			continue
		}
		gotInner, ok := got[name].(map[string]any)
		require.True(t, ok, path+name)
		requireContains(t, inner, gotInner, path+name+".")
	}
}

func TestDefault_AllFieldsSet(t *testing.T) {
	// Default's comment names these.
	except := map[string]bool{
		".Overlay": true, ".IPIP": true, ".IPAutoDetectionMethod": true, ".AutoScaling.Resources": true, ".KubeAPIServerEndpoints.Labels": true,
	}
	var none *v1alpha1.NetworkConfig
	effective, _ := none.Default(unrestrictedContext(ipv4, ipv6))
	require.Equal(t, "NetworkConfig", effective.Kind)
	require.Equal(t, v1alpha1.GroupVersion().String(), effective.APIVersion)
	requireFilled(t, reflect.ValueOf(effective).Elem(), "", except)

	for _, family := range families(ipv4, ipv6) {
		effective, _ := none.Default(unrestrictedContext(family))
		require.Equal(t, family == ipv4, effective.IPv4 != nil)
		require.Equal(t, family == ipv6, effective.IPv6 != nil)
	}
}

func requireFilled(t *testing.T, value reflect.Value, path string, except map[string]bool) {
	t.Helper()
	for fieldType, field := range value.Fields() {
		name := path + "." + fieldType.Name
		if field.Kind() == reflect.Pointer || field.Kind() == reflect.Map {
			require.Equal(t, except[name], field.IsNil(), name)
		}
		if field.Kind() == reflect.Pointer && !field.IsNil() && field.Elem().Kind() == reflect.Struct {
			requireFilled(t, field.Elem(), name, except)
		}
	}
}
