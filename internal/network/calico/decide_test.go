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

// The forms that shoots usually have.
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
		"a shoot that says nothing wraps by IP-in-IP":                {want: byIPIP()},
		"the overlay switched on wraps by IP-in-IP":                  {config: "overlay: {enabled: true}", want: byIPIP()},
		"with VXLAN it wraps by VXLAN, without BIRD":                 {config: "{overlay: {enabled: true}, vxlan: {enabled: true}}", want: byVXLAN()},
		"the overlay switched off leaves routes to the cloud":        {config: "overlay: {enabled: false}", want: byCloud()},
		"pod routes are BIRD's":                                      {config: "overlay: {enabled: false, createPodRoutes: true}", want: byBird()},
		"where the cloud leaves them to nodes BIRD makes pod routes": {infrastructure: "openstack", config: "overlay: {enabled: false}", want: byBird()},
		"unless the user does not want them there":                   {infrastructure: "openstack", config: "overlay: {enabled: false, createPodRoutes: false}", want: byCloud()},
		"an empty overlay block switches it off":                     {config: "overlay: {}", want: byCloud()},
		"Azure lets no IP-in-IP through":                             {infrastructure: "azure", want: modified(byCloud(), noUpstreamDNS)},
		"an overlay on Azure is one of VXLAN":                        {infrastructure: "azure", config: "overlay: {enabled: true}", want: byVXLAN()},
		"the local infrastructure wraps like others":                 {infrastructure: "local", want: byIPIP()},
		"backend none goes without a tunnel":                         {config: "backend: none", want: modified(byCloud(), noUpstreamDNS)},
		"the overlay switch outranks the backend":                    {config: "{backend: none, overlay: {enabled: true}}", want: byIPIP()},
		"mode Never without a switch is BIRD's":                      {config: "ipv4: {mode: Never}", want: modified(byBird(), noUpstreamDNS)},
		"mode Off is Never":                                          {config: "ipv4: {mode: \"Off\"}", want: modified(byBird(), noUpstreamDNS)},
		"the former name of the mode counts":                         {config: "ipip: Never", want: modified(byBird(), noUpstreamDNS)},
		"CrossSubnet is BIRD's, with a tunnel": {
			config: "ipv4: {mode: CrossSubnet}",
			want:   modified(byIPIP(), func(f *form) { f.IPv4 = modes("CrossSubnet", "Never") }),
		},
		"a pool of VXLAN brings calico-ipam": {
			config: "ipv4: {pool: vxlan}",
			want:   modified(byVXLAN(), func(f *form) { f.Backend = "bird" }),
		},
		"VXLAN overrules host-local, which has no addresses for its tunnels": {
			config: "{overlay: {enabled: true}, vxlan: {enabled: true}, ipam: {type: host-local}}", want: byVXLAN(),
		},
		"calico-ipam goes with IP-in-IP": {
			config: "ipam: {type: calico-ipam}",
			want:   modified(byIPIP(), func(f *form) { f.IPAM = "calico-ipam" }),
		},
		"a shoot that has calico-ipam keeps it": {
			variations: []variation{withDeployed(t, byVXLAN())},
			want:       modified(byIPIP(), func(f *form) { f.IPAM = "calico-ipam" }),
		},
		"backend vxlan gives way to BIRD for IP-in-IP": {config: "{backend: vxlan, ipv4: {pool: ipip}}", want: byIPIP()},
		"IPv6 goes without a tunnel": {
			variations: []variation{withFamilies(ipv6)},
			want:       modified(byCloud(), func(f *form) { f.IPv4, f.IPv6, f.UpstreamDNS = nil, modes("Never", "Never"), false }),
		},
		"so do both families": {
			variations: []variation{withFamilies(ipv4, ipv6)},
			want:       modified(byCloud(), func(f *form) { f.IPv6, f.UpstreamDNS = modes("Never", "Never"), false }),
		},
		"in any order": {
			config: "overlay: {enabled: false, createPodRoutes: true}", variations: []variation{withFamilies(ipv6, ipv4)},
			want: modified(byBird(), func(f *form) { f.IPv6 = modes("Never", "Never") }),
		},
		"VXLAN for two families becomes IP-in-IP, since calico-ipam serves one": {
			config: "{overlay: {enabled: true}, vxlan: {enabled: true}}", variations: []variation{withFamilies(ipv4, ipv6)},
			want: modified(byIPIP(), func(f *form) { f.IPv6 = modes("Never", "Never") }),
		},
		"a family that is to come is not deployed yet": {
			variations: []variation{func(shoot *network.Shoot) {
				shoot.Network.Spec.IPFamilies = append(shoot.Network.Spec.IPFamilies, ipv6)
			}},
			want: byIPIP(),
		},
		"without Typha nodes do not look for it": {
			config: "typha: {enabled: false}",
			want:   modified(byIPIP(), func(f *form) { f.Typha, f.NodesUseTypha = false, false }),
		},
		"nftables follow kube-proxy": {
			variations: []variation{withProxyMode(gardencorev1beta1.ProxyModeNFTables)},
			want:       modified(byIPIP(), func(f *form) { f.NFTables = true }),
		},
		"but not a kube-proxy that is disabled": {
			config:     "ebpfDataplane: {enabled: true}",
			variations: []variation{withProxyMode(gardencorev1beta1.ProxyModeNFTables), withoutKubeProxy},
			want:       modified(byIPIP(), func(f *form) { f.BPF = true }),
		},
		"IPVS needs nothing": {variations: []variation{withProxyMode(gardencorev1beta1.ProxyModeIPVS)}, want: byIPIP()},
		"eBPF goes beside kube-proxy, too": {
			config: "ebpfDataplane: {enabled: true}",
			want:   modified(byIPIP(), func(f *form) { f.BPF = true }),
		},
		"WireGuard encrypts": {config: "wireguardEncryption: true", want: modified(byIPIP(), func(f *form) { f.WireGuard = true })},
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
		"an override is told":                          {config: "{overlay: {enabled: true}, ipam: {type: host-local}, vxlan: {enabled: true}}", want: "ipam.type is calico-ipam instead of host-local"},
		"so is a backend that could not route":         {config: "{backend: vxlan, ipv4: {pool: ipip}}", want: "backend is bird instead of vxlan"},
		"so is VXLAN that two families cannot have":    {config: "{overlay: {enabled: true}, vxlan: {enabled: true}}", variations: []variation{withFamilies(ipv4, ipv6)}, want: "ipv4.pool is ipip instead of vxlan"},
		"DNS policies do not apply to NodeLocalDNS":    {config: "overlay: {enabled: false}", variations: []variation{dns}, want: "NodeLocalDNS"},
		"nobody routes on an infrastructure without":   {infrastructure: "local", config: "overlay: {enabled: false}", want: `infrastructure "local" has none`},
		"nobody is told to route without a switch":     {config: "backend: none", want: "only where overlay.enabled is false"},
		"the cloud does not know calico-ipam":          {config: "{overlay: {enabled: false}, ipam: {type: calico-ipam}}", want: "ipam.type is calico-ipam"},
		"a range for two families does nothing":        {config: "ipam: {type: host-local, cidr: 100.96.0.0/12}", variations: []variation{withFamilies(ipv4, ipv6)}, want: "ipam.cidr has no effect"},
		"resources do nothing when they follow nodes":  {config: "autoScaling: {mode: cluster-proportional, resources: {node: {cpu: 1}}}", want: "autoScaling.resources has no effect"},
		"an exporter without BIRD has nothing to tell": {config: "{overlay: {enabled: false}, birdExporter: {enabled: true}}", want: "birdExporter"},
		"plugins without Multus are not installed":     {config: "multus: {enabled: false, installCNIPlugins: true}", want: "multus.installCNIPlugins"},
		"addresses change hands":                       {config: "ipam: {type: calico-ipam}", variations: []variation{withDeployed(t, byIPIP())}, want: "node by node"},
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
		"an ordinary shoot has none":                         {},
		"nor one with the overlay on":                        {config: "overlay: {enabled: true}", variations: []variation{dns}},
		"nor one that the cloud routes for":                  {config: "overlay: {enabled: false}"},
		"nor one with pod routes":                            {infrastructure: "openstack", config: "overlay: {enabled: false}"},
		"nor one with NodeLocalDNS and without SNAT":         {config: "{overlay: {enabled: false}, snatToUpstreamDNS: {enabled: false}}", variations: []variation{dns}},
		"nor one that disables kube-proxy, which has a mode": {config: "ebpfDataplane: {enabled: true}", variations: []variation{withoutKubeProxy}},
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
		"without eBPF Calico routes no Services, and says what would help": {
			"", network.Capabilities{ServiceRouting: "set spec.networking.providerConfig.ebpfDataplane.enabled to true", IPv6: true, DualStack: true}, nil,
		},
		"with eBPF it does": {"ebpfDataplane: {enabled: true}", network.Capabilities{
			RoutesServices: true,
			ServiceRouting: "set spec.networking.providerConfig.ebpfDataplane.enabled to true", IPv6: true, DualStack: true,
		}, nil},
		"in place of kube-proxy it needs the name of the kube-apiserver": {"ebpfDataplane: {enabled: true}", network.Capabilities{
			RoutesServices: true, NeedsAPIServerHost: true,
			ServiceRouting: "set spec.networking.providerConfig.ebpfDataplane.enabled to true", IPv6: true, DualStack: true,
		}, []variation{withoutKubeProxy}},
		"a configuration that cannot be read has none": {"unknown: 1", network.Capabilities{}, nil},
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
		"an ordinary shoot is fine":                 {},
		"unknown fields are refused":                {config: "overlayed: true", want: "overlayed"},
		"unknown values are refused":                {config: "backend: bgp", want: "spec.networking.providerConfig.backend"},
		"a family without a range is refused":       {variations: []variation{func(s *network.Shoot) { s.Families = append(s.Families, ipv6) }}, want: "spec.networking.pods: Required value"},
		"no range at all is refused":                {variations: []variation{func(s *network.Shoot) { s.PodRanges = nil }}, want: "spec.networking.pods: Required value"},
		"what is no range is refused":               {variations: []variation{func(s *network.Shoot) { s.PodRanges = []string{"100.96.0.0"} }}, want: "spec.networking.pods"},
		"what is no range of nodes is refused":      {variations: []variation{withNodeRanges("all")}, want: "spec.networking.nodes"},
		"a shoot without known node ranges is fine": {variations: []variation{withNodeRanges()}},
		"what is said of a family to come is fine":  {config: "ipv6: {sourceNATEnabled: true}", variations: []variation{func(s *network.Shoot) { s.Network.Spec.IPFamilies = append(s.Network.Spec.IPFamilies, ipv6) }}},
		"a wish that is not fulfilled is fine":      {config: "{overlay: {enabled: true}, backend: none}"},
		"eBPF without an API server is no fault":    {config: "ebpfDataplane: {enabled: true}", variations: []variation{withoutKubeProxy, func(s *network.Shoot) { s.APIServerHost = "" }}},
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
