package v1alpha1

import (
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// ipam decides who gives pods their addresses. VXLAN demands calico-ipam even where ipam.type says otherwise. The user's
// vxlan.enabled does so even with the overlay off: upstream deploys it so, and there is no way back.
func (d *defaulting) ipam() {
	config := d.config
	fill(&config.IPAM, IPAM{})
	var (
		ipam  = config.IPAM
		vxlan = d.vxlanWanted || *config.IPv4.Pool == PoolVXLAN && config.IPv4.Mode.Encapsulates()
	)
	switch {
	case vxlan && !d.has(gardencorev1beta1.IPFamilyIPv6):
		if ipam.Type == "" {
			ipam.Type = IPAMCalico
		}
		replace(d, "ipam.type", &ipam.Type, IPAMCalico, reasonHostLocal)
	case ipam.Type != "":
	case d.DeployedIPAM == IPAMCalico:
		ipam.Type = IPAMCalico
	default:
		ipam.Type = DefaultIPAMType
	}
	if ipam.Type == IPAMHostLocal {
		fill(&ipam.CIDR, DefaultIPAMCIDR)
	}
}

// addresses decides how nodes find their addresses, and whether pods' IPv6 addresses are seen outside.
func (d *defaulting) addresses() {
	config := d.config
	var ipv4, ipv6 []string
	for _, nodes := range d.NodeRanges {
		if nodes.Addr().Is4() {
			ipv4 = append(ipv4, nodes.String())
		} else {
			ipv6 = append(ipv6, nodes.String())
		}
	}
	d.autoDetection("ipv4.autoDetectionMethod", &config.IPv4.AutoDetectionMethod, ipv4)
	d.autoDetection("ipv6.autoDetectionMethod", &config.IPv6.AutoDetectionMethod, ipv6)
	fill(&config.IPv6.SourceNATEnabled, config.WireguardEncryption)
}

// autoDetection makes nodes look for addresses in their own ranges where these are known, as upstream does: shoots may carry
// methods that have never counted, and would be cut off by them. An empty text is nothing.
func (d *defaulting) autoDetection(name string, method **string, nodes []string) {
	if *method != nil && **method == "" {
		*method = nil
	}
	if len(nodes) > 0 {
		override(d, name, method, DetectCIDR+strings.Join(nodes, ","), "the ranges of the nodes are known")
	}
	fill(method, DefaultAutoDetectionMethod)
}

// components decides about the parts that are deployed, and how they scale.
func (d *defaulting) components() {
	config := d.config
	fill(&config.Typha, Typha{Enabled: DefaultTyphaEnabled})
	fill(&config.VethMTU, DefaultVethMTU)
	fill(&config.EbpfDataplane, EbpfDataplane{})
	fill(&config.BirdExporter, BirdExporter{})
	fill(&config.Multus, Multus{})
	fill(&config.Multus.InstallCNIPlugins, false)
	fill(&config.ServiceLoopPrevention, DefaultServiceLoopPrevention)
	fill(&config.KubeAPIServerEndpoints, KubeAPIServerEndpoints{})
	fill(&config.KubeAPIServerEndpoints.Enabled, false)
	fill(&config.KubeAPIServerEndpoints.Name, DefaultKubeAPIServerSetName)

	fill(&config.AutoScaling, AutoScaling{})
	scaling := config.AutoScaling
	if scaling.Mode == "" {
		scaling.Mode = DefaultAutoscalingMode
	}
	if scaling.Mode == AutoscalingModeVPA && !d.VPA {
		replace(d, "autoScaling.mode", &scaling.Mode, DefaultAutoscalingMode, "the shoot has no vertical pod autoscaler")
	}
}
