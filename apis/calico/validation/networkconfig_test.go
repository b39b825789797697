package validation_test

import (
	"fmt"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/calico/validation"
	"github.com/trellis-garden/trellis/apis/networking"
)

const (
	ipv4 = gardencorev1beta1.IPFamilyIPv4
	ipv6 = gardencorev1beta1.IPFamilyIPv6
)

type families = []gardencorev1beta1.IPFamily

func decode(t *testing.T, fields string) *v1alpha1.NetworkConfig {
	t.Helper()
	config, err := v1alpha1.DecodeNetworkConfig(&runtime.RawExtension{Raw: []byte(`{` + fields + `}`)})
	require.NoError(t, err)
	return config
}

// requireErrors expects errors in this order, as pairs of the field and a part of the text.
func requireErrors(t *testing.T, want []string, got field.ErrorList) {
	t.Helper()
	require.Len(t, got, len(want)/2, got.ToAggregate())
	for i, err := range got {
		require.Equal(t, want[2*i], err.Field)
		require.Contains(t, err.Error(), want[2*i+1])
	}
}

func TestValidateNetworkConfig_MethodLength(t *testing.T) {
	expressions := strings.Repeat("[^a]{1000},", 3000)
	for sentence, test := range map[string]struct {
		method string
		most   int
	}{
		"interfaces":             {"interface=" + expressions, 255},
		"interfaces to skip":     {"skip-interface=" + expressions, 255},
		"as many as may be":      {"interface=" + strings.Repeat("a", 245), 0},
		"one more":               {"interface=" + strings.Repeat("a", 246), 255},
		"ranges":                 {"cidr=" + strings.Repeat("10.0.0.0/8,", 10_000), 2048},
		"a hundred ranges":       {"cidr=10.0.0.0/8" + strings.Repeat(",10.250.0.0/24", 99), 0},
		"what nobody knows":      {strings.Repeat("a", 10_000), 2048},
		"a name that is no name": {"can-reach=" + strings.Repeat("a", 10_000), 2048},
	} {
		t.Run(sentence, func(t *testing.T) {
			config := decode(t, `"ipv4":{"autoDetectionMethod":"`+test.method+`"}`)
			errs := validation.ValidateNetworkConfig(config, nil, field.NewPath("c"))
			if test.most == 0 {
				require.Empty(t, errs)
				return
			}
			requireErrors(t, []string{"c.ipv4.autoDetectionMethod", fmt.Sprintf("Too long: may not be more than %d", test.most)}, errs)
		})
	}
}

func TestValidateNetworkConfig_ImplausibleQuantities(t *testing.T) {
	for _, amount := range []string{`"1e-2147483640"`, `"1e2147483647"`, `1e2147483647`} {
		for _, component := range []string{"node", "typha"} {
			document := `{"autoScaling":{"resources":{"` + component + `":{"cpu":` + amount + `}}}}`
			for _, decode := range []func(*runtime.RawExtension) (*v1alpha1.NetworkConfig, error){v1alpha1.DecodeNetworkConfig, v1alpha1.DecodeKnownFields} {
				_, err := decode(&runtime.RawExtension{Raw: []byte(document)})
				require.ErrorContains(t, err, "decoding NetworkConfig: autoScaling.resources: there is nothing of which anybody has")
			}
		}
	}
}

func TestValidateNetworkConfig_Invalid(t *testing.T) {
	both := families{ipv4, ipv6}
	for sentence, test := range map[string]struct {
		config   string
		families families
		want     []string
	}{
		"nothing":                        {``, nil, nil},
		"all backends":                   {`"backend":"none"`, nil, nil},
		"an unknown backend":             {`"backend":"geneve"`, nil, []string{"c.backend", "write bird, none or vxlan, or remove the field"}},
		"an empty backend":               {`"backend":""`, nil, []string{"c.backend", "write bird"}},
		"an unknown pool":                {`"ipv4":{"pool":"geneve"}`, nil, []string{"c.ipv4.pool", "write ipip or vxlan"}},
		"an unknown mode":                {`"ipv4":{"mode":"Sometimes"}`, nil, []string{"c.ipv4.mode", "write Always, Never, CrossSubnet or Off"}},
		"an unknown mode, deprecated":    {`"ipip":"Sometimes"`, nil, []string{"c.ipip", "write Always"}},
		"IP-in-IP for IPv6, as upstream": {`"ipv6":{"pool":"ipip"}`, both, nil},
		"an unknown pool for IPv6":       {`"ipv6":{"pool":"geneve"}`, both, []string{"c.ipv6.pool", "write ipip or vxlan"}},
		"an unknown mode for IPv6":       {`"ipv6":{"mode":"always"}`, both, []string{"c.ipv6.mode", "write Always"}},
		"Off for IPv6, as upstream":      {`"ipv6":{"mode":"Off"}`, both, nil},
		"VXLAN between subnets":          {`"ipv4":{"pool":"vxlan","mode":"CrossSubnet"}`, nil, []string{"c.ipv4.mode", "Always and Never"}},
		"an MTU with many zeros":         {`"vethMTU":"` + strings.Repeat("0", 10_000) + `1450"`, nil, []string{"c.vethMTU", "write a number of bytes"}},
		"VXLAN off":                      {`"ipv4":{"pool":"vxlan","mode":"Off"}`, nil, []string{"c.ipv4.mode", "Always and Never"}},
		"VXLAN between subnets, IPv6":    {`"ipv6":{"pool":"vxlan","mode":"CrossSubnet"}`, both, []string{"c.ipv6.mode", "Always and Never"}},
		"VXLAN always":                   {`"ipv4":{"pool":"vxlan","mode":"Always"}`, nil, nil},
		"an unknown autoscaling":         {`"autoScaling":{"mode":"hpa"}`, nil, []string{"c.autoScaling.mode", "write cluster-proportional, vpa or static"}},
		"an unknown loop prevention":     {`"serviceLoopPrevention":"drop"`, nil, []string{"c.serviceLoopPrevention", "write Disabled, Drop or Reject"}},
		"IPv4 without IPv4":              {`"ipv4":{},"ipip":"Never"`, families{ipv6}, []string{"c.ipv4", "no IPv4: remove the field", "c.ipip", "no IPv4"}},
		"IPv6 without IPv6":              {`"ipv6":{}`, families{ipv4}, []string{"c.ipv6", "no IPv6: remove the field"}},
		"both with both":                 {`"ipv4":{},"ipv6":{},"ipip":"Never"`, families{ipv6, ipv4}, nil},
		"the overlay with IPv6 lives":    {`"overlay":{"enabled":true}`, both, nil},
		"an unknown IPAM":                {`"ipam":{"type":"dhcp"}`, nil, []string{"c.ipam.type", "write host-local or calico-ipam"}},
		"an IPAM without type":           {`"ipam":{"cidr":"usePodCidr"}`, nil, nil},
		"calico-ipam with IPv4":          {`"ipam":{"type":"calico-ipam"}`, families{ipv4}, nil},
		"calico-ipam with IPv6":          {`"ipam":{"type":"calico-ipam"}`, both, []string{"c.ipam.type", "IPv4 alone: use host-local"}},
		"a range that is none":           {`"ipam":{"type":"host-local","cidr":"100.96.0.0"}`, nil, []string{"c.ipam.cidr", "write usePodCIDR, or a range"}},
		"a range not in canonical form":  {`"ipam":{"type":"host-local","cidr":"100.96.0.1/11"}`, nil, nil},
		"an MTU that is none":            {`"vethMTU":"big"`, nil, []string{"c.vethMTU", `like "1450"`}},
		"an empty MTU":                   {`"vethMTU":""`, nil, []string{"c.vethMTU", `"0" to let Calico`}},
		"a negative MTU":                 {`"vethMTU":"-1"`, nil, []string{"c.vethMTU", "number of bytes"}},
		"an MTU that JSON does not know": {`"vethMTU":"+1450"`, nil, []string{"c.vethMTU", "number of bytes"}},
		"an odd MTU":                     {`"vethMTU":"100"`, nil, nil},
		"resources of another name": {
			`"autoScaling":{"mode":"static","resources":{"node":{"pods":"1","cpu":"1"}}}`, nil,
			[]string{"c.autoScaling.resources.node.pods", "only cpu and memory"},
		},
		"resources of nothing and less": {
			`"autoScaling":{"resources":{"typha":{"cpu":"0","memory":"-1Mi"}}}`, nil,
			[]string{"c.autoScaling.resources.typha.cpu", "raise or remove", "c.autoScaling.resources.typha.memory", "raise or remove"},
		},
		"a set without a good name":  {`"kubeAPIServerEndpoints":{"name":"A_B"}`, nil, []string{"c.kubeAPIServerEndpoints.name", "lower-case letters"}},
		"a set with its own label":   {`"kubeAPIServerEndpoints":{"labels":{"networking.gardener.cloud/endpoint":"a"}}`, nil, []string{"c.kubeAPIServerEndpoints.labels[networking.gardener.cloud/endpoint]", "remove it"}},
		"a set with a label of ours": {`"kubeAPIServerEndpoints":{"labels":{"example.com/a":"b"}}`, nil, nil},
		"a set with bad labels":      {`"kubeAPIServerEndpoints":{"labels":{"a b":"","c":"d e"}}`, nil, []string{"c.kubeAPIServerEndpoints.labels[a b]", "not a label key", "c.kubeAPIServerEndpoints.labels[c]", "not a label value"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			requireErrors(t, test.want, validation.ValidateNetworkConfig(decode(t, test.config), test.families, field.NewPath("c")))
		})
	}
}

func TestValidateNetworkConfig_AutoDetectionMethods(t *testing.T) {
	for method, want := range map[string]string{
		"":                                "",
		"first-found":                     "",
		"first-found=":                    "write first-found alone",
		"first-found=eth0":                "takes no argument",
		"kubernetes-internal-ip":          "",
		"kubernetes-internal-ip=1.1.1.1":  "takes no argument",
		"can-reach=8.8.8.8":               "",
		"can-reach=2001:db8::1":           "",
		"can-reach=www.example.com":       "",
		"can-reach=not a name":            "IP address or a DNS name",
		"can-reach=":                      "IP address or a DNS name",
		"can-reach":                       "no such method",
		"interface=eth.*":                 "",
		"interface=eth.*, ens[0-9]":       "",
		"interface=eth[":                  `correct "eth["`,
		"interface=":                      "regular expressions",
		"interface=eth0,":                 "regular expressions",
		"skip-interface=docker.*":         "",
		"skip-interface=eth0,docker(":     `correct "docker("`,
		"cidr=10.0.0.0/8":                 "",
		"cidr=10.0.0.0/8, 192.168.0.0/16": "",
		"cidr=10.0.0.0/8,192.168.0.0":     `correct "192.168.0.0"`,
		"cidr=290.0.0.0/8":                "ranges in CIDR notation",
		"cidr=":                           "ranges in CIDR notation",
		"last-found":                      "write first-found, kubernetes-internal-ip",
		"=":                               "no such method",
	} {
		for _, test := range []struct{ config, path string }{
			{`"ipAutodetectionMethod":"` + method + `"`, "c.ipAutodetectionMethod"},
			{`"ipv4":{"autoDetectionMethod":"` + method + `"}`, "c.ipv4.autoDetectionMethod"},
			{`"ipv6":{"autoDetectionMethod":"` + method + `"}`, "c.ipv6.autoDetectionMethod"},
		} {
			t.Run(test.path+" "+method, func(t *testing.T) {
				errs := validation.ValidateNetworkConfig(decode(t, test.config), families{ipv4, ipv6}, field.NewPath("c"))
				if want == "" {
					require.Empty(t, errs)
					return
				}
				requireErrors(t, []string{test.path, want}, errs)
			})
		}
	}
}

func TestValidateShoot(t *testing.T) {
	const proxyPath = "spec.kubernetes.kubeProxy.enabled"
	off, on := false, true
	nftables := gardencorev1beta1.ProxyModeNFTables
	iptables := gardencorev1beta1.ProxyModeIPTables
	for sentence, test := range map[string]struct {
		config   string
		proxy    *gardencorev1beta1.KubeProxyConfig
		families families
		want     []string
	}{
		"kube-proxy as it comes":                    {``, nil, nil, nil},
		"no kube-proxy":                             {``, &gardencorev1beta1.KubeProxyConfig{Enabled: &off}, nil, []string{proxyPath, `type "calico" does only when it is told to: set spec.networking.providerConfig.ebpfDataplane.enabled to true`}},
		"no kube-proxy, and eBPF said to be off":    {`"ebpfDataplane":{"enabled":false}`, &gardencorev1beta1.KubeProxyConfig{Enabled: &off}, nil, []string{proxyPath, "leave kube-proxy enabled"}},
		"no kube-proxy with eBPF":                   {`"ebpfDataplane":{"enabled":true}`, &gardencorev1beta1.KubeProxyConfig{Enabled: &off}, nil, nil},
		"no kube-proxy, with the mode that it gets": {`"ebpfDataplane":{"enabled":true}`, &gardencorev1beta1.KubeProxyConfig{Enabled: &off, Mode: &iptables}, nil, nil},
		"kube-proxy beside eBPF":                    {`"ebpfDataplane":{"enabled":true}`, &gardencorev1beta1.KubeProxyConfig{Enabled: &on}, nil, nil},
		"kube-proxy with nftables":                  {``, &gardencorev1beta1.KubeProxyConfig{Mode: &nftables}, nil, nil},
		"kube-proxy with nftables beside eBPF":      {`"ebpfDataplane":{"enabled":true}`, &gardencorev1beta1.KubeProxyConfig{Mode: &nftables}, nil, nil},
		"IPv4":                                      {``, nil, families{ipv4}, nil},
		"IPv6":                                      {``, nil, families{ipv6}, nil},
		"both":                                      {``, nil, families{ipv4, ipv6}, nil},
		"both the other way round":                  {``, nil, families{ipv6, ipv4}, nil},
		"one twice":                                 {``, nil, families{ipv4, ipv4}, []string{"spec.networking.ipFamilies", "use [IPv4], [IPv6]"}},
		"a family that there is not":                {``, nil, families{"IPv5"}, []string{"spec.networking.ipFamilies", "use [IPv4], [IPv6]"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			spec := &gardencorev1beta1.ShootSpec{
				Kubernetes: gardencorev1beta1.Kubernetes{KubeProxy: test.proxy},
				Networking: &gardencorev1beta1.Networking{IPFamilies: test.families},
			}
			requireErrors(t, test.want, validation.ValidateShoot(decode(t, test.config), spec, networking.InfrastructureOf("openstack")))
		})
	}
	t.Run("without networking", func(t *testing.T) {
		require.Empty(t, validation.ValidateShoot(decode(t, ``), &gardencorev1beta1.ShootSpec{}, networking.InfrastructureOf("azure")))
	})
	t.Run("IPv6 where the infrastructure has none", func(t *testing.T) {
		spec := &gardencorev1beta1.ShootSpec{Networking: &gardencorev1beta1.Networking{IPFamilies: families{ipv4, ipv6}}}
		requireErrors(t, []string{"spec.networking.ipFamilies", `on infrastructure "azure": leave IPv6 out`},
			validation.ValidateShoot(decode(t, ``), spec, networking.InfrastructureOf("azure")))
	})
}
