package gardenet

import (
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

// The headers that VXLAN adds to packets, by the family of the nodes' addresses: of Ethernet inside (14), VXLAN (8), UDP (8), and IPv4 (20) or IPv6 (40).
const (
	overheadIPv4 = 50
	overheadIPv6 = 70
)

// Observer implements network.Observer for gardenet.
type Observer struct{}

var _ network.Observer = Observer{}

// Routing implements network.Observer: the provider status has the effective configuration. Tunnels are between the addresses of nodes of the preferred family.
func (Observer) Routing(object *extensionsv1alpha1.Network) (*network.Routing, error) {
	if object.Status.ProviderStatus == nil {
		return nil, nil
	}
	status, err := v1alpha1.DecodeNetworkStatus(object.Status.ProviderStatus)
	if err != nil {
		return nil, fmt.Errorf("reading status.providerStatus: %w", err)
	}
	effective := status.Effective
	if effective == nil || effective.Overlay == nil {
		return nil, nil
	}
	isTrue := func(value *bool) bool { return value != nil && *value }
	routing := &network.Routing{
		MTUField:    "spec.networking.providerConfig.mtu",
		CloudRoutes: !isTrue(effective.Overlay.Enabled) && !isTrue(effective.Overlay.CreatePodRoutes),
	}
	if isTrue(effective.Overlay.Enabled) {
		routing.Encapsulation, routing.Overhead = "VXLAN", overheadIPv4
		if families := object.Spec.IPFamilies; len(families) > 0 && families[0] == extensionsv1alpha1.IPFamilyIPv6 {
			routing.Overhead = overheadIPv6
		}
	}
	if effective.MTU != nil {
		routing.MTU = *effective.MTU
	}
	return routing, nil
}
