package calico

import (
	"net/netip"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/network"
)

// decision is the driver's result for a shoot.
type decision struct {
	settings *settings
	// overridden lists the user's settings that are not in effect, and why.
	overridden []string
	// messages report settings that have another effect than users may expect.
	messages []string
}

// decide computes the decision from the user's configuration, what the infrastructure allows, and what is deployed.
func decide(shoot *network.Shoot) (*decision, error) {
	given, err := decode(shoot)
	if err != nil {
		return nil, cloud.Errorf(cloud.Configuration, "the configuration cannot be read: %w", err)
	}
	deployed, err := deployedForm(shoot.Deployed)
	if err != nil {
		return nil, err
	}
	pods, err := network.ParseRanges(shoot.PodRanges)
	if err != nil {
		return nil, cloud.Errorf(cloud.Configuration, "reading the ranges of pods: %w", err)
	}
	nodes, err := network.ParseRanges(shoot.NodeRanges)
	if err != nil {
		return nil, cloud.Errorf(cloud.Configuration, "reading the ranges of nodes: %w", err)
	}
	context := contextOf(shoot, nodes, deployed)
	context.DeployedByUpstreamAsIPIP = deployed != nil && deployed.UpstreamIPIP && requestsVXLANPool(given)
	config, overridden := given.Default(context)

	s := settingsOf(shoot, config, pods, nodes)
	s.form.UpstreamIPIP = context.DeployedByUpstreamAsIPIP
	if err := s.setAPIServerHost(shoot); err != nil {
		return nil, err
	}
	decided := &decision{settings: s, overridden: overridden}
	decided.messages = append(slices.Clone(overridden), s.messages(given, deployed)...)
	return decided, nil
}

// requestsVXLANPool reports whether only ipv4.pool requests VXLAN. Upstream's extension reads vxlan.enabled.
func requestsVXLANPool(given *calicov1alpha1.NetworkConfig) bool {
	pool := given.IPv4 != nil && given.IPv4.Pool != nil && *given.IPv4.Pool == calicov1alpha1.PoolVXLAN
	return pool && (given.VXLAN == nil || !given.VXLAN.Enabled)
}

func contextOf(shoot *network.Shoot, nodes []netip.Prefix, deployed *form) calicov1alpha1.DefaultingContext {
	context := calicov1alpha1.DefaultingContext{
		IPFamilies:        network.GardenFamilies(shoot.Families),
		IPIP:              shoot.Infrastructure.IPIP,
		VXLAN:             shoot.Infrastructure.VXLAN,
		PodRoutesByPlugin: shoot.Infrastructure.PodRoutes,
		NodeRanges:        nodes,
		VPA:               shoot.VerticalAutoscaling,
	}
	if deployed != nil {
		context.DeployedIPAM = deployed.IPAM
	}
	return context
}

func settingsOf(shoot *network.Shoot, config *calicov1alpha1.NetworkConfig, pods, nodes []netip.Prefix) *settings {
	const ipv4, ipv6 = extensionsv1alpha1.IPFamilyIPv4, extensionsv1alpha1.IPFamilyIPv6
	s := &settings{
		config:              config,
		ipv4:                slices.Contains(shoot.Families, ipv4),
		ipv6:                slices.Contains(shoot.Families, ipv6),
		ipv6First:           len(shoot.Families) > 0 && shoot.Families[0] == ipv6,
		kubernetesVersion:   shoot.KubernetesVersion,
		namespace:           shoot.Network.Namespace,
		infrastructure:      shoot.Infrastructure,
		kubeProxy:           shoot.KubeProxy.Enabled,
		apiServerAddresses:  shoot.APIServerAddresses,
		verticalAutoscaling: shoot.VerticalAutoscaling,
		nodeLocalDNS:        shoot.NodeLocalDNS,
		image:               shoot.Image,
	}
	if s.kubeProxy {
		s.kubeProxyMode = shoot.KubeProxy.Mode
	}
	if s.ipv4 {
		s.podRanges4, s.nodeRanges4 = toStrings(network.RangesOfFamily(ipv4, pods)), toStrings(network.RangesOfFamily(ipv4, nodes))
	}
	if s.ipv6 {
		s.podRanges6, s.nodeRanges6 = toStrings(network.RangesOfFamily(ipv6, pods)), toStrings(network.RangesOfFamily(ipv6, nodes))
	}
	s.form = formOf(s)
	return s
}

func toStrings(ranges []netip.Prefix) []string {
	var texts []string
	for _, each := range ranges {
		texts = append(texts, each.String())
	}
	return texts
}

// formOf derives the form from the effective configuration. A node has a tunnel if and only if a pool uses it.
func formOf(s *settings) form {
	config := s.config
	decided := form{
		IPAM:      config.IPAM.Type,
		Backend:   string(*config.Backend),
		Typha:     config.Typha.Enabled,
		BPF:       config.EbpfDataplane.Enabled,
		NFTables:  s.kubeProxy && s.kubeProxyMode == gardencorev1beta1.ProxyModeNFTables,
		WireGuard: config.WireguardEncryption,
	}
	decided.NodesUseTypha = decided.Typha
	decided.UpstreamDNS = config.SnatToUpstreamDNS.Enabled
	if s.ipv4 {
		decided.IPv4 = encapsulationOf(*config.IPv4.Pool, *config.IPv4.Mode)
	}
	if s.ipv6 {
		decided.IPv6 = encapsulationOf(*config.IPv6.Pool, *config.IPv6.Mode)
	}
	needed := decided.requiredFeatures()
	decided.IPIP, decided.VXLAN = needed.ipip, needed.vxlan
	return decided
}

func encapsulationOf(pool calicov1alpha1.Pool, mode calicov1alpha1.PoolMode) *encapsulation {
	if pool == calicov1alpha1.PoolVXLAN {
		return &encapsulation{IPIP: never, VXLAN: string(mode)}
	}
	return &encapsulation{IPIP: string(mode), VXLAN: never}
}

// setAPIServerHost sets the address of the kube-apiserver for nodes on which nothing routes Services before Calico does. An unknown address is not the
// user's error: the shoot's status will have it later.
func (s *settings) setAPIServerHost(shoot *network.Shoot) error {
	if s.kubeProxy || !s.form.BPF {
		return nil
	}
	if shoot.APIServerHost == "" {
		return cloud.Errorf(cloud.Unavailable,
			"the shoot does not say yet at which address its kube-apiserver is reached (status.advertisedAddresses), without which Calico cannot route Services in place of kube-proxy")
	}
	s.apiServerHost, s.apiServerPort = shoot.APIServerHost, shoot.APIServerPort
	return nil
}

// cloudRoutes reports whether the cloud routes to pods of other nodes: its route controller programs routes where overlay.enabled is false and Calico
// programs none.
func (s *settings) cloudRoutes() bool {
	return s.infrastructure.CloudRoutes && s.config.Overlay != nil && !s.config.Overlay.Enabled && s.form.Backend == backendNone
}

// routesProgrammed reports whether the cloud needs routes for that, which a route controller programs and reports on each node.
func (s *settings) routesProgrammed() bool {
	return s.cloudRoutes() && s.infrastructure.RoutesPods(s.ipv4)
}
