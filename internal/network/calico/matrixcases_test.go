package calico

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/network"
)

// matrixCase is a shoot and a sentence that describes it.
type matrixCase struct {
	sentence string
	shoot    *network.Shoot
}

// matrix returns shoots with the defaults and with each setting alone, then all combinations of infrastructure, overlay, backend, families and
// kube-proxy.
func matrix(t *testing.T) []matrixCase {
	t.Helper()
	overlays := [][2]string{{"overlay on", "overlay: {enabled: true}"}, {"overlay off", "overlay: {enabled: false}"}, {"overlay unset", ""}}
	backends := [][2]string{{"backend unset", ""}, {"backend bird", "backend: bird"}, {"backend none", "backend: none"}, {"backend vxlan", "backend: vxlan"}}
	families := [][]extensionsv1alpha1.IPFamily{{ipv4}, {ipv6}, {ipv4, ipv6}, {ipv6, ipv4}}
	proxies := []struct {
		name, config string
		vary         variation
	}{
		{"kube-proxy with iptables", "", func(*network.Shoot) {}},
		{"kube-proxy with nftables", "", withProxyMode(gardencorev1beta1.ProxyModeNFTables)},
		{"eBPF without kube-proxy", "ebpfDataplane: {enabled: true}", withoutKubeProxy},
	}
	cases := singleSettings(t)
	for _, infrastructureType := range []string{"aws", "azure", "local", "openstack"} {
		for _, overlay := range overlays {
			for _, backend := range backends {
				for _, family := range families {
					for _, proxy := range proxies {
						config := strings.Join([]string{overlay[1], backend[1], proxy.config}, "\n")
						cases = append(cases, matrixCase{
							sentence: fmt.Sprintf("%s: %s, %s, %s, %s", infrastructureType, overlay[0], backend[0], namesOf(family), proxy.name),
							shoot:    shootOn(t, infrastructureType, config, withFamilies(family...), proxy.vary),
						})
					}
				}
			}
		}
	}
	return cases
}

func namesOf(families []extensionsv1alpha1.IPFamily) string {
	var names []string
	for _, family := range families {
		names = append(names, string(family))
	}
	return strings.Join(names, " and ")
}

// singleSettings returns the defaults and the other settings, one by one.
func singleSettings(t *testing.T) []matrixCase {
	t.Helper()
	const off = "overlay: {enabled: false}"
	known := func(shoot *network.Shoot) {
		shoot.APIServerAddresses = []netip.Addr{netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("2001:db8::7")}
	}
	resources := "resources: {node: {cpu: 300m, memory: 200Mi}, typha: {memory: 150Mi}}"
	all := []struct {
		sentence, config string
		variations       []variation
	}{
		{"defaults", "", nil},
		{"calico-ipam", "ipam: {type: calico-ipam}", nil},
		{"calico-ipam with two families", "ipam: {type: calico-ipam}", []variation{withFamilies(ipv4, ipv6)}},
		{"host-local from a range", "ipam: {type: host-local, cidr: 100.100.0.0/16}", nil},
		{"VXLAN with the overlay on", "{overlay: {enabled: true}, vxlan: {enabled: true}}", nil},
		{"VXLAN with the overlay off", "{overlay: {enabled: false}, vxlan: {enabled: true}}", nil},
		{"VXLAN pool", "ipv4: {pool: vxlan, mode: Always}", nil},
		{"VXLAN pool with CrossSubnet", "ipv4: {pool: vxlan, mode: CrossSubnet}", nil},
		{"IP-in-IP between subnets", "ipv4: {mode: CrossSubnet}", nil},
		{"mode Never", "ipv4: {mode: Never}", nil},
		{"pod routes", "overlay: {enabled: false, createPodRoutes: true}", nil},
		{"WireGuard", "wireguardEncryption: true", nil},
		{"WireGuard with two families", "wireguardEncryption: true", []variation{withFamilies(ipv4, ipv6)}},
		{"MTU of 1400", `vethMTU: "1400"`, nil},
		{"no Typha", "typha: {enabled: false}", nil},
		{"no Typha and vertical autoscaling", "{typha: {enabled: false}, autoScaling: {mode: vpa}}", nil},
		{"cluster-proportional autoscaling with resources", "autoScaling: {mode: cluster-proportional, " + resources + "}", nil},
		{"vertical autoscaling", "autoScaling: {mode: vpa}", nil},
		{"vertical autoscaling with minimum resources", "autoScaling: {mode: vpa, " + resources + "}", nil},
		{"vertical autoscaling without a vertical pod autoscaler", "autoScaling: {mode: vpa}", []variation{withoutVPA}},
		{"no autoscaling", "autoScaling: {mode: static}", nil},
		{"no autoscaling, with resources", "autoScaling: {mode: static, " + resources + "}", nil},
		{"no vertical pod autoscaler", "", []variation{withoutVPA}},
		{"no source NAT to DNS servers", "{overlay: {enabled: false}, snatToUpstreamDNS: {enabled: false}}", nil},
		{"source NAT to DNS servers and NodeLocalDNS", off, []variation{func(shoot *network.Shoot) { shoot.NodeLocalDNS = true }}},
		{"source NAT of IPv6", "ipv6: {sourceNATEnabled: true}", []variation{withFamilies(ipv6)}},
		{"BIRD exporter", "birdExporter: {enabled: true}", nil},
		{"Multus", "multus: {enabled: true}", nil},
		{"Multus with the common plugins", "multus: {enabled: true, installCNIPlugins: true}", nil},
		{"service loop prevention disabled", "serviceLoopPrevention: Disabled", nil},
		{"service loop prevention with Reject", "serviceLoopPrevention: Reject", nil},
		{"GlobalNetworkSet of the kube-apiserver's addresses", "kubeAPIServerEndpoints: {enabled: true, name: api, labels: {role: api}}", []variation{known}},
		{"deprecated fields", "{ipip: CrossSubnet, ipAutodetectionMethod: interface=eth0}", nil},
		{"address detection by interface", "ipv4: {autoDetectionMethod: \"interface=eth.*,ens.*\"}", nil},
		{"no node ranges", off, []variation{withNodeRanges()}},
		{"several node ranges", off, []variation{withNodeRanges("10.250.0.0/16", "10.180.0.0/16")}},
		{"eBPF next to kube-proxy", "ebpfDataplane: {enabled: true}", nil},
		{"kube-proxy with IPVS", "", []variation{withProxyMode(gardencorev1beta1.ProxyModeIPVS)}},
		{"kube-proxy with nftables, without IPv4", "", []variation{withProxyMode(gardencorev1beta1.ProxyModeNFTables), withFamilies(ipv6)}},
		{"neither kube-proxy nor eBPF", "", []variation{withoutKubeProxy}},
		{"an unknown field", "overlays: {}", nil},
		{"Kubernetes 1.32", "", []variation{func(shoot *network.Shoot) { shoot.KubernetesVersion = "1.32.9" }}},
		{"hibernated", "", []variation{func(shoot *network.Shoot) { shoot.Hibernated = true }}},
	}
	var cases []matrixCase
	for _, each := range all {
		cases = append(cases, matrixCase{sentence: each.sentence, shoot: shootOn(t, "aws", each.config, each.variations...)})
	}
	return cases
}

func withoutVPA(shoot *network.Shoot) { shoot.VerticalAutoscaling = false }

// refusal returns why the driver refuses a shoot, or why the contract does because of the driver's capabilities.
func refusal(shoot *network.Shoot) string {
	driver := New()
	if errs := driver.Validate(shoot); len(errs) > 0 {
		return errs.ToAggregate().Error()
	}
	can := driver.Capabilities(shoot)
	switch hasIPv6 := slices.Contains(shoot.Families, ipv6); {
	case !shoot.KubeProxy.Enabled && !can.RoutesServices:
		return "the contract refuses it: no component routes Services: " + can.ServiceRouting
	case hasIPv6 && (!can.IPv6 || !shoot.Infrastructure.IPv6):
		return "the contract refuses it: the infrastructure has no IPv6"
	case len(shoot.Families) > 1 && !can.DualStack:
		return "the contract refuses it: one family only"
	default:
		return ""
	}
}
