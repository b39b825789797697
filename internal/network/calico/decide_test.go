package calico

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/network"
)

func modes(ipip, vxlan string) *encapsulation { return &encapsulation{IPIP: ipip, VXLAN: vxlan} }

// The usual forms of a shoot's network.
func byIPIP() form {
	return form{IPAM: "host-local", Backend: "bird", IPIP: true, IPv4: modes("Always", "Never"), Typha: true, NodesUseTypha: true}
}

func byVXLAN() form {
	return form{IPAM: "calico-ipam", Backend: "vxlan", VXLAN: true, IPv4: modes("Never", "Always"), Typha: true, NodesUseTypha: true}
}

func byCloud() form {
	return form{IPAM: "host-local", Backend: "none", IPv4: modes("Never", "Never"), Typha: true, NodesUseTypha: true, UpstreamDNS: true}
}

func byBird() form {
	native := byCloud()
	native.Backend = "bird"
	return native
}

func noUpstreamDNS(f *form) { f.UpstreamDNS = false }

func modified(f form, change func(*form)) form {
	change(&f)
	return f
}

func TestDecide_Form(t *testing.T) {
	for sentence, test := range map[string]struct {
		infrastructure, config string
		variations             []variation
		want                   form
	}{
		"IP-in-IP is the default":                                       {want: byIPIP()},
		"the enabled overlay uses IP-in-IP":                             {config: "overlay: {enabled: true}", want: byIPIP()},
		"VXLAN does not use BIRD":                                       {config: "{overlay: {enabled: true}, vxlan: {enabled: true}}", want: byVXLAN()},
		"without the overlay the cloud routes":                          {config: "overlay: {enabled: false}", want: byCloud()},
		"createPodRoutes uses BIRD":                                     {config: "overlay: {enabled: false, createPodRoutes: true}", want: byBird()},
		"on OpenStack BIRD routes by default":                           {infrastructure: "openstack", config: "overlay: {enabled: false}", want: byBird()},
		"createPodRoutes false leaves routes to the cloud on OpenStack": {infrastructure: "openstack", config: "overlay: {enabled: false, createPodRoutes: false}", want: byCloud()},
		"an empty overlay block disables the overlay":                   {config: "overlay: {}", want: byCloud()},
		"Azure does not transport IP-in-IP":                             {infrastructure: "azure", want: modified(byCloud(), noUpstreamDNS)},
		"the overlay on Azure uses VXLAN":                               {infrastructure: "azure", config: "overlay: {enabled: true}", want: byVXLAN()},
		"the local infrastructure uses IP-in-IP":                        {infrastructure: "local", want: byIPIP()},
		"backend none uses no tunnel":                                   {config: "backend: none", want: modified(byCloud(), noUpstreamDNS)},
		"overlay.enabled takes precedence over the backend":             {config: "{backend: none, overlay: {enabled: true}}", want: byIPIP()},
		"mode Never without overlay.enabled uses BIRD":                  {config: "ipv4: {mode: Never}", want: modified(byBird(), noUpstreamDNS)},
		"mode Off is an alias of Never":                                 {config: "ipv4: {mode: \"Off\"}", want: modified(byBird(), noUpstreamDNS)},
		"the deprecated ipip field sets the mode":                       {config: "ipip: Never", want: modified(byBird(), noUpstreamDNS)},
		"CrossSubnet uses BIRD and a tunnel": {
			config: "ipv4: {mode: CrossSubnet}",
			want:   modified(byIPIP(), func(f *form) { f.IPv4 = modes("CrossSubnet", "Never") }),
		},
		"a VXLAN pool uses calico-ipam": {
			config: "ipv4: {pool: vxlan}",
			want:   modified(byVXLAN(), func(f *form) { f.Backend = "bird" }),
		},
		"VXLAN replaces host-local, which has no addresses for tunnels": {
			config: "{overlay: {enabled: true}, vxlan: {enabled: true}, ipam: {type: host-local}}", want: byVXLAN(),
		},
		"calico-ipam works with IP-in-IP": {
			config: "ipam: {type: calico-ipam}",
			want:   modified(byIPIP(), func(f *form) { f.IPAM = "calico-ipam" }),
		},
		"calico-ipam is kept once it is deployed": {
			variations: []variation{withDeployed(t, byVXLAN())},
			want:       modified(byIPIP(), func(f *form) { f.IPAM = "calico-ipam" }),
		},
		"backend vxlan becomes bird for IP-in-IP": {config: "{backend: vxlan, ipv4: {pool: ipip}}", want: byIPIP()},
		"IPv6 uses no tunnel": {
			variations: []variation{withFamilies(ipv6)},
			want:       modified(byCloud(), func(f *form) { f.IPv4, f.IPv6, f.UpstreamDNS = nil, modes("Never", "Never"), false }),
		},
		"dual stack uses no tunnel": {
			variations: []variation{withFamilies(ipv4, ipv6)},
			want:       modified(byCloud(), func(f *form) { f.IPv6, f.UpstreamDNS = modes("Never", "Never"), false }),
		},
		"the order of the families does not matter": {
			config: "overlay: {enabled: false, createPodRoutes: true}", variations: []variation{withFamilies(ipv6, ipv4)},
			want: modified(byBird(), func(f *form) { f.IPv6 = modes("Never", "Never") }),
		},
		"VXLAN for two families becomes IP-in-IP, since calico-ipam serves one": {
			config: "{overlay: {enabled: true}, vxlan: {enabled: true}}", variations: []variation{withFamilies(ipv4, ipv6)},
			want: modified(byIPIP(), func(f *form) { f.IPv6 = modes("Never", "Never") }),
		},
		"a family is deployed once the nodes are ready for it": {
			variations: []variation{func(shoot *network.Shoot) {
				shoot.Network.Spec.IPFamilies = append(shoot.Network.Spec.IPFamilies, ipv6)
			}},
			want: byIPIP(),
		},
		"without Typha nodes do not use it": {
			config: "typha: {enabled: false}",
			want:   modified(byIPIP(), func(f *form) { f.Typha, f.NodesUseTypha = false, false }),
		},
		"Calico uses nftables if kube-proxy does": {
			variations: []variation{withProxyMode(gardencorev1beta1.ProxyModeNFTables)},
			want:       modified(byIPIP(), func(f *form) { f.NFTables = true }),
		},
		"a disabled kube-proxy does not select nftables": {
			config:     "ebpfDataplane: {enabled: true}",
			variations: []variation{withProxyMode(gardencorev1beta1.ProxyModeNFTables), withoutKubeProxy},
			want:       modified(byIPIP(), func(f *form) { f.BPF = true }),
		},
		"IPVS changes nothing": {variations: []variation{withProxyMode(gardencorev1beta1.ProxyModeIPVS)}, want: byIPIP()},
		"eBPF works beside kube-proxy": {
			config: "ebpfDataplane: {enabled: true}",
			want:   modified(byIPIP(), func(f *form) { f.BPF = true }),
		},
		"WireGuard encrypts traffic": {config: "wireguardEncryption: true", want: modified(byIPIP(), func(f *form) { f.WireGuard = true })},
	} {
		t.Run(sentence, func(t *testing.T) {
			decided, err := decide(shootOn(t, test.infrastructure, test.config, test.variations...))
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(test.want, decided.settings.form))
			assert.Equal(t, decided.settings.form.Backend, string(*decided.settings.config.Backend), "configuration and form agree")
			assert.Equal(t, decided.settings.form.IPAM, decided.settings.config.IPAM.Type)
		})
	}
}

func TestMessages(t *testing.T) {
	dns := func(shoot *network.Shoot) { shoot.NodeLocalDNS = true }
	for sentence, test := range map[string]struct {
		infrastructure, config string
		variations             []variation
		want                   string
	}{
		"ipam.type is overridden":                                          {config: "{overlay: {enabled: true}, ipam: {type: host-local}, vxlan: {enabled: true}}", want: "ipam.type is calico-ipam instead of host-local"},
		"a backend that cannot route is overridden":                        {config: "{backend: vxlan, ipv4: {pool: ipip}}", want: "backend is bird instead of vxlan"},
		"VXLAN for two families is overridden":                             {config: "{overlay: {enabled: true}, vxlan: {enabled: true}}", variations: []variation{withFamilies(ipv4, ipv6)}, want: "ipv4.pool is ipip instead of vxlan"},
		"DNS policies do not apply to NodeLocalDNS":                        {config: "overlay: {enabled: false}", variations: []variation{dns}, want: "NodeLocalDNS"},
		"an infrastructure without routes to pods":                         {infrastructure: "local", config: "overlay: {enabled: false}", want: `infrastructure "local" has none`},
		"no routes without overlay.enabled":                                {config: "backend: none", want: "only where overlay.enabled is false"},
		"the cloud has no routes for calico-ipam":                          {config: "{overlay: {enabled: false}, ipam: {type: calico-ipam}}", want: "ipam.type is calico-ipam"},
		"ipam.cidr has no effect for two families":                         {config: "ipam: {type: host-local, cidr: 100.96.0.0/12}", variations: []variation{withFamilies(ipv4, ipv6)}, want: "ipam.cidr has no effect"},
		"resources have no effect when they depend on the number of nodes": {config: "autoScaling: {mode: cluster-proportional, resources: {node: {cpu: 1}}}", want: "autoScaling.resources has no effect"},
		"birdExporter has no effect without BIRD":                          {config: "{overlay: {enabled: false}, birdExporter: {enabled: true}}", want: "birdExporter"},
		"CNI plugins without Multus are not installed":                     {config: "multus: {enabled: false, installCNIPlugins: true}", want: "multus.installCNIPlugins"},
		"changing to calico-ipam takes effect node by node":                {config: "ipam: {type: calico-ipam}", variations: []variation{withDeployed(t, byIPIP())}, want: "node by node"},
	} {
		t.Run(sentence, func(t *testing.T) {
			decided, err := decide(shootOn(t, test.infrastructure, test.config, test.variations...))
			require.NoError(t, err)
			assert.Contains(t, strings.Join(decided.messages, "\n"), test.want)
		})
	}
	for sentence, test := range map[string]struct {
		infrastructure, config string
		variations             []variation
	}{
		"the default shoot has none":                        {},
		"none with the overlay":                             {config: "overlay: {enabled: true}", variations: []variation{dns}},
		"none when the cloud routes":                        {config: "overlay: {enabled: false}"},
		"none with pod routes":                              {infrastructure: "openstack", config: "overlay: {enabled: false}"},
		"none with NodeLocalDNS and without SNAT":           {config: "{overlay: {enabled: false}, snatToUpstreamDNS: {enabled: false}}", variations: []variation{dns}},
		"none with a disabled kube-proxy, which has a mode": {config: "ebpfDataplane: {enabled: true}", variations: []variation{withoutKubeProxy}},
	} {
		t.Run(sentence, func(t *testing.T) {
			decided, err := decide(shootOn(t, test.infrastructure, test.config, test.variations...))
			require.NoError(t, err)
			assert.Empty(t, decided.messages)
		})
	}
}

func TestCapabilities(t *testing.T) {
	for sentence, test := range map[string]struct {
		config     string
		want       network.Capabilities
		variations []variation
	}{
		"without eBPF Calico does not implement Services, and the error names the settings": {
			"", network.Capabilities{ServiceRouting: "set spec.networking.providerConfig.ebpfDataplane.enabled to true", IPv6: true, DualStack: true}, nil,
		},
		"with eBPF Calico implements Services": {"ebpfDataplane: {enabled: true}", network.Capabilities{
			RoutesServices: true,
			ServiceRouting: "set spec.networking.providerConfig.ebpfDataplane.enabled to true", IPv6: true, DualStack: true,
		}, nil},
		"without kube-proxy Calico needs the host name of the kube-apiserver": {"ebpfDataplane: {enabled: true}", network.Capabilities{
			RoutesServices: true, NeedsAPIServerHost: true,
			ServiceRouting: "set spec.networking.providerConfig.ebpfDataplane.enabled to true", IPv6: true, DualStack: true,
		}, []variation{withoutKubeProxy}},
		"an invalid configuration has no capabilities": {"unknown: 1", network.Capabilities{}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, New().Capabilities(shootOn(t, "aws", test.config, test.variations...)))
		})
	}
}

func TestValidate(t *testing.T) {
	for sentence, test := range map[string]struct {
		config     string
		variations []variation
		want       string
	}{
		"the default shoot is valid":                                 {},
		"an unknown field is refused":                                {config: "overlayed: true", want: "overlayed"},
		"an unknown value is refused":                                {config: "backend: bgp", want: "spec.networking.providerConfig.backend"},
		"a family without a range is refused":                        {variations: []variation{func(s *network.Shoot) { s.Families = append(s.Families, ipv6) }}, want: "spec.networking.pods: Required value"},
		"a shoot without ranges is refused":                          {variations: []variation{func(s *network.Shoot) { s.PodRanges = nil }}, want: "spec.networking.pods: Required value"},
		"an invalid range of pods is refused":                        {variations: []variation{func(s *network.Shoot) { s.PodRanges = []string{"100.96.0.0"} }}, want: "spec.networking.pods"},
		"an invalid range of nodes is refused":                       {variations: []variation{withNodeRanges("all")}, want: "spec.networking.nodes"},
		"unknown ranges of nodes are accepted":                       {variations: []variation{withNodeRanges()}},
		"settings of a future family are accepted":                   {config: "ipv6: {sourceNATEnabled: true}", variations: []variation{func(s *network.Shoot) { s.Network.Spec.IPFamilies = append(s.Network.Spec.IPFamilies, ipv6) }}},
		"a setting without effect is accepted":                       {config: "{overlay: {enabled: true}, backend: none}"},
		"eBPF with an unknown address of the API server is accepted": {config: "ebpfDataplane: {enabled: true}", variations: []variation{withoutKubeProxy, func(s *network.Shoot) { s.APIServerHost = "" }}},
	} {
		t.Run(sentence, func(t *testing.T) {
			errs := New().Validate(shootOn(t, "aws", test.config, test.variations...))
			if test.want == "" {
				assert.Empty(t, errs)
				return
			}
			require.NotEmpty(t, errs)
			assert.Contains(t, errs.ToAggregate().Error(), test.want)
		})
	}
}

func TestSetAPIServerHost(t *testing.T) {
	withoutHost := func(shoot *network.Shoot) { shoot.APIServerHost = "" }
	decided, err := decide(shootOn(t, "aws", "ebpfDataplane: {enabled: true}", withoutKubeProxy))
	require.NoError(t, err)
	assert.Equal(t, "api.one.dev.example.org", decided.settings.apiServerHost)

	_, err = New().Render(shootOn(t, "aws", "ebpfDataplane: {enabled: true}", withoutKubeProxy, withoutHost))
	require.ErrorContains(t, err, "status.advertisedAddresses")
	assert.Equal(t, cloud.Unavailable, cloud.KindOf(err), "another try may help, an edit would not")

	decided, err = decide(shootOn(t, "aws", "ebpfDataplane: {enabled: true}", withoutHost))
	require.NoError(t, err, "kube-proxy shows the way")
	assert.Empty(t, decided.settings.apiServerHost)
}
