package v1alpha1

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/trellis-garden/trellis/apis/networking"
)

// The values of ipam, and the defaults that are the same in all shoots.
const (
	IPAMHostLocal  = "host-local"
	IPAMUsePodCIDR = "usePodCIDR"

	DefaultVXLANPort = 8472
	DefaultVXLANID   = 1
	DefaultMTU       = 0
	// DefaultDeniedPackets is logging.deniedPackets.perSecond.
	DefaultDeniedPackets = 10

	defaultCPU         = "10m"
	defaultMemory      = "40Mi"
	defaultMemoryLimit = "200Mi"
)

// Default returns the effective configuration: the user's values, and the defaults of all other fields on an infrastructure. The receiver is not changed; nil is the
// same as empty. All fields of the result are set, except for masquerade.nonMasqueradeCIDRs, and networkPolicy.established where policies are not enforced. Default
// is idempotent.
func (c *NetworkConfig) Default(infrastructure networking.Infrastructure) *NetworkConfig {
	effective := NewNetworkConfig()
	if c != nil {
		c.DeepCopyInto(effective)
		effective.TypeMeta = typeMeta("NetworkConfig")
	}
	effective.defaultIPAM()
	effective.defaultOverlay(infrastructure)
	fill(&effective.MTU, DefaultMTU)
	fill(&effective.Masquerade, Masquerade{})
	fill(&effective.Masquerade.Enabled, true)
	fill(&effective.SnatToUpstreamDNS, SnatToUpstreamDNS{})
	fill(&effective.SnatToUpstreamDNS.Enabled, !*effective.Overlay.Enabled)
	fill(&effective.NetworkPolicy, NetworkPolicy{})
	fill(&effective.NetworkPolicy.Enabled, true)
	if *effective.NetworkPolicy.Enabled && effective.NetworkPolicy.Established == "" {
		effective.NetworkPolicy.Established = EstablishedRecheck
	}
	fill(&effective.ServiceRouting, ServiceRouting{})
	fill(&effective.ServiceRouting.Enabled, false)
	for _, feature := range []**Feature{&effective.HostPorts, &effective.Bandwidth} {
		fill(feature, Feature{})
		fill(&(*feature).Enabled, true)
	}
	fill(&effective.Logging, Logging{})
	fill(&effective.Logging.DeniedPackets, DeniedPackets{})
	fill(&effective.Logging.DeniedPackets.Enabled, false)
	fill(&effective.Logging.DeniedPackets.PerSecond, DefaultDeniedPackets)
	effective.defaultResources()
	return effective
}

// fill sets a field that the user has not set.
func fill[Value any](field **Value, value Value) {
	if *field == nil {
		*field = &value
	}
}

func (c *NetworkConfig) defaultIPAM() {
	fill(&c.IPAM, IPAM{})
	if c.IPAM.Type == "" {
		c.IPAM.Type = IPAMHostLocal
	}
	if c.IPAM.CIDR == "" {
		c.IPAM.CIDR = IPAMUsePodCIDR
	}
}

func (c *NetworkConfig) defaultOverlay(infrastructure networking.Infrastructure) {
	fill(&c.Overlay, Overlay{})
	fill(&c.Overlay.Enabled, networking.GardenetOverlay(infrastructure))
	fill(&c.Overlay.CreatePodRoutes, !*c.Overlay.Enabled && infrastructure.PodRoutes)
	fill(&c.Overlay.VXLAN, VXLAN{})
	fill(&c.Overlay.VXLAN.Port, DefaultVXLANPort)
	fill(&c.Overlay.VXLAN.ID, DefaultVXLANID)
}

func (c *NetworkConfig) defaultResources() {
	fill(&c.Resources, Resources{})
	fill(&c.Resources.Node, ComponentResources{})
	node := c.Resources.Node
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(defaultCPU), corev1.ResourceMemory: resource.MustParse(defaultMemory)}
	// A request is at most the limit.
	for name, limit := range node.Limits {
		if request, isDefault := requests[name]; isDefault && request.Cmp(limit) > 0 {
			requests[name] = limit
		}
	}
	maps.Copy(requests, node.Requests)
	limit := resource.MustParse(defaultMemoryLimit)
	if request := requests[corev1.ResourceMemory]; request.Cmp(limit) > 0 {
		limit = request
	}
	limits := corev1.ResourceList{corev1.ResourceMemory: limit}
	maps.Copy(limits, node.Limits)
	node.Requests, node.Limits = requests, limits
}
