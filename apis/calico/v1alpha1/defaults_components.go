package v1alpha1

import (
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// ipam sets the IPAM type. VXLAN requires calico-ipam even if ipam.type differs. The user's vxlan.enabled implies it
// even with the overlay off: upstream deploys it that way, and a change back is not possible.
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

// addresses sets the methods by which nodes detect their addresses, and source NAT of pods' IPv6 addresses.
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

// autoDetection makes nodes detect addresses by their own ranges if these are known, as upstream does: shoots may have
// methods that never took effect, and would lose connectivity with them. An empty string means unset.
func (d *defaulting) autoDetection(name string, method **string, nodes []string) {
	if *method != nil && **method == "" {
		*method = nil
	}
	if len(nodes) > 0 {
		override(d, name, method, DetectCIDR+strings.Join(nodes, ","), "the ranges of the nodes are known")
	}
	fill(method, DefaultAutoDetectionMethod)
}

// components sets the optional components, and their scaling.
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
