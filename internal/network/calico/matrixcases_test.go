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

// matrix is what users can combine: the overlay, the backend, families, kube-proxy and the infrastructure.
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
	var cases []matrixCase
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
	return append(cases, switches(t)...)
}

func namesOf(families []extensionsv1alpha1.IPFamily) string {
	var names []string
	for _, family := range families {
		names = append(names, string(family))
	}
	return strings.Join(names, " and ")
}

// switches are the other wishes, one by one.
func switches(t *testing.T) []matrixCase {
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
		{"nothing said", "", nil},
		{"calico-ipam", "ipam: {type: calico-ipam}", nil},
		{"calico-ipam with two families", "ipam: {type: calico-ipam}", []variation{withFamilies(ipv4, ipv6)}},
		{"host-local from a range", "ipam: {type: host-local, cidr: 100.100.0.0/16}", nil},
		{"VXLAN with the overlay on", "{overlay: {enabled: true}, vxlan: {enabled: true}}", nil},
		{"VXLAN with the overlay off", "{overlay: {enabled: false}, vxlan: {enabled: true}}", nil},
		{"a pool of VXLAN", "ipv4: {pool: vxlan, mode: Always}", nil},
		{"a pool of VXLAN with CrossSubnet", "ipv4: {pool: vxlan, mode: CrossSubnet}", nil},
		{"IP-in-IP between subnets", "ipv4: {mode: CrossSubnet}", nil},
		{"mode Never", "ipv4: {mode: Never}", nil},
		{"pod routes", "overlay: {enabled: false, createPodRoutes: true}", nil},
		{"WireGuard", "wireguardEncryption: true", nil},
		{"WireGuard with two families", "wireguardEncryption: true", []variation{withFamilies(ipv4, ipv6)}},
		{"an MTU", `vethMTU: "1400"`, nil},
		{"no Typha", "typha: {enabled: false}", nil},
		{"no Typha and scaling by use", "{typha: {enabled: false}, autoScaling: {mode: vpa}}", nil},
		{"scaling by nodes, with resources", "autoScaling: {mode: cluster-proportional, " + resources + "}", nil},
		{"scaling by use", "autoScaling: {mode: vpa}", nil},
		{"scaling by use, with least resources", "autoScaling: {mode: vpa, " + resources + "}", nil},
		{"scaling by use without a vertical pod autoscaler", "autoScaling: {mode: vpa}", []variation{withoutVPA}},
		{"no scaling", "autoScaling: {mode: static}", nil},
		{"no scaling, with resources", "autoScaling: {mode: static, " + resources + "}", nil},
		{"no vertical pod autoscaler", "", []variation{withoutVPA}},
		{"no source NAT to DNS servers", "{overlay: {enabled: false}, snatToUpstreamDNS: {enabled: false}}", nil},
		{"source NAT to DNS servers and NodeLocalDNS", off, []variation{func(shoot *network.Shoot) { shoot.NodeLocalDNS = true }}},
		{"source NAT of IPv6", "ipv6: {sourceNATEnabled: true}", []variation{withFamilies(ipv6)}},
		{"an exporter of BIRD's metrics", "birdExporter: {enabled: true}", nil},
		{"Multus", "multus: {enabled: true}", nil},
		{"Multus with the common plugins", "multus: {enabled: true, installCNIPlugins: true}", nil},
		{"service loops go on", "serviceLoopPrevention: Disabled", nil},
		{"service loops are rejected", "serviceLoopPrevention: Reject", nil},
		{"the kube-apiserver's addresses", "kubeAPIServerEndpoints: {enabled: true, name: api, labels: {role: api}}", []variation{known}},
		{"fields of former times", "{ipip: CrossSubnet, ipAutodetectionMethod: interface=eth0}", nil},
		{"nodes find their addresses by an interface", "ipv4: {autoDetectionMethod: \"interface=eth.*,ens.*\"}", nil},
		{"no node ranges", off, []variation{withNodeRanges()}},
		{"several node ranges", off, []variation{withNodeRanges("10.250.0.0/16", "10.180.0.0/16")}},
		{"eBPF beside kube-proxy", "ebpfDataplane: {enabled: true}", nil},
		{"kube-proxy with IPVS", "", []variation{withProxyMode(gardencorev1beta1.ProxyModeIPVS)}},
		{"kube-proxy with nftables, without IPv4", "", []variation{withProxyMode(gardencorev1beta1.ProxyModeNFTables), withFamilies(ipv6)}},
		{"no kube-proxy, and no eBPF", "", []variation{withoutKubeProxy}},
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

// refusal says why a shoot is refused, by the driver or by the contract because of what the driver says that it can do.
func refusal(shoot *network.Shoot) string {
	driver := New()
	if errs := driver.Validate(shoot); len(errs) > 0 {
		return errs.ToAggregate().Error()
	}
	can := driver.Capabilities(shoot)
	switch hasIPv6 := slices.Contains(shoot.Families, ipv6); {
	case !shoot.KubeProxy.Enabled && !can.RoutesServices:
		return "the contract refuses it: nobody routes Services: " + can.ServiceRouting
	case hasIPv6 && (!can.IPv6 || !shoot.Infrastructure.IPv6):
		return "the contract refuses it: the infrastructure has no IPv6"
	case len(shoot.Families) > 1 && !can.DualStack:
		return "the contract refuses it: one family only"
	default:
		return ""
	}
}
