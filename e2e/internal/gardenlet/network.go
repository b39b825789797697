package gardenlet

import (
	"context"
	"fmt"
	"net"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/component/extensions/network"
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Network returns gardenlet's component for the shoot's Network; see Infrastructure.
func (g *Gardenlet) Network(shoot *Shoot) (network.Interface, error) {
	object := shoot.shoot()
	values := &network.Values{
		Namespace: shoot.Namespace(), Name: shoot.Name, Type: *object.Spec.Networking.Type,
		ProviderConfig: object.Spec.Networking.ProviderConfig,
	}
	for _, family := range shoot.IPFamilies {
		values.IPFamilies = append(values.IPFamilies, extensionsv1alpha1.IPFamily(family))
	}
	component := network.New(logr.Discard(), g.Seed, values, g.Interval, g.SevereThreshold, g.Timeout)
	pods, err := parseRanges(*object.Spec.Networking.Pods, object.Status.Networking.Pods)
	if err != nil {
		return nil, err
	}
	services, err := parseRanges(*object.Spec.Networking.Services, object.Status.Networking.Services)
	if err != nil {
		return nil, err
	}
	component.SetPodCIDRs(pods)
	component.SetServiceCIDRs(services)
	return component, nil
}

// parseRanges reads the ranges from a shoot's status, or else from its spec, as gardenlet does.
func parseRanges(spec string, status []string) ([]net.IPNet, error) {
	if len(status) == 0 {
		status = []string{spec}
	}
	var ranges []net.IPNet
	for _, text := range status {
		_, parsed, err := net.ParseCIDR(text)
		if err != nil {
			return nil, fmt.Errorf("reading the ranges of the shoot: %w", err)
		}
		ranges = append(ranges, *parsed)
	}
	return ranges, nil
}

// GetNetwork reads the shoot's Network.
func (g *Gardenlet) GetNetwork(ctx context.Context, shoot *Shoot) (*extensionsv1alpha1.Network, error) {
	object := &extensionsv1alpha1.Network{}
	err := g.Seed.Get(ctx, client.ObjectKey{Namespace: shoot.Namespace(), Name: shoot.Name}, object)
	return object, err
}
