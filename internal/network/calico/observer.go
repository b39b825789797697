package calico

import (
	"fmt"
	"slices"
	"strconv"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

// The headers that tunnels add to packets, in bytes (docs.tigera.io/calico, "Configure MTU to maximize network performance").
const (
	overheadIPIP          = 20
	overheadVXLANv4       = 50
	overheadVXLANv6       = 70
	overheadWireGuardIPv4 = 60
	overheadWireGuardIPv6 = 80
)

// Observer implements network.Observer for Calico.
type Observer struct{}

var _ network.Observer = Observer{}

// Routing implements network.Observer: the provider status has the effective configuration.
func (Observer) Routing(object *extensionsv1alpha1.Network) (*network.Routing, error) {
	if object.Status.ProviderStatus == nil {
		return nil, nil
	}
	status, err := calicov1alpha1.DecodeNetworkStatus(object.Status.ProviderStatus)
	if err != nil {
		return nil, fmt.Errorf("reading status.providerStatus: %w", err)
	}
	config := status.Effective
	if config == nil {
		return nil, nil
	}
	routing := &network.Routing{
		MTUField:    "spec.networking.providerConfig.vethMTU",
		CloudRoutes: config.Overlay != nil && !config.Overlay.Enabled && config.Backend != nil && *config.Backend == calicov1alpha1.BackendNone,
	}
	routing.Encapsulation, routing.Overhead = tunnelOf(config, slices.Contains(object.Spec.IPFamilies, extensionsv1alpha1.IPFamilyIPv6))
	if config.VethMTU != nil {
		if routing.MTU, err = strconv.Atoi(*config.VethMTU); err != nil {
			return nil, fmt.Errorf("reading vethMTU of status.providerStatus: %w", err)
		}
	}
	return routing, nil
}

// tunnelOf returns the tunnel with the largest overhead. Felix detects the MTU for it, too.
func tunnelOf(config *calicov1alpha1.NetworkConfig, ipv6 bool) (name string, overhead int) {
	use := func(used bool, tunnel string, bytes int) {
		if used && bytes > overhead {
			name, overhead = tunnel, bytes
		}
	}
	if ipv4 := config.IPv4; ipv4 != nil && ipv4.Mode != nil && ipv4.Mode.Encapsulates() {
		isVXLAN := ipv4.Pool != nil && *ipv4.Pool == calicov1alpha1.PoolVXLAN
		use(!isVXLAN, "IP-in-IP", overheadIPIP)
		use(isVXLAN, "VXLAN", overheadVXLANv4)
	}
	use(config.IPv6 != nil && config.IPv6.Mode != nil && config.IPv6.Mode.Encapsulates(), "VXLAN", overheadVXLANv6)
	use(config.WireguardEncryption, "WireGuard", overheadWireGuardIPv4)
	use(config.WireguardEncryption && ipv6, "WireGuard", overheadWireGuardIPv6)
	return name, overhead
}
