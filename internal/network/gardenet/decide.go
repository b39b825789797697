package gardenet

import (
	"net/netip"
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/gardenet/validation"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/network"
)

// decide computes the settings for the user's configuration from what the infrastructure allows.
func decide(shoot *network.Shoot) (*settings, error) {
	given, err := decode(shoot)
	if err != nil {
		return nil, cloud.Errorf(cloud.Configuration, "the configuration cannot be read: %w", err)
	}
	image, err := shoot.Image(agentName)
	if err != nil {
		return nil, err
	}
	routerImage, err := shoot.Image(routerName)
	if err != nil {
		return nil, err
	}
	effective := given.Default(shoot.Infrastructure)
	s := &settings{
		config:              effective,
		form:                formOf(effective),
		families:            shoot.Families,
		infrastructure:      shoot.Infrastructure,
		namespace:           shoot.Network.Namespace,
		verticalAutoscaling: shoot.VerticalAutoscaling,
		apiServerHost:       shoot.APIServerHost,
		apiServerPort:       shoot.APIServerPort,
		image:               image,
		routerImage:         routerImage,
	}
	for _, ranges := range []struct {
		what  string
		texts []string
		into  *[]netip.Prefix
	}{
		{"pods", shoot.PodRanges, &s.podRanges},
		{"Services", shoot.ServiceRanges, &s.serviceRanges},
		{"nodes", shoot.NodeRanges, &s.nodeRanges},
		{"masquerade.nonMasqueradeCIDRs", effective.Masquerade.NonMasqueradeCIDRs, &s.except},
	} {
		all, err := network.ParseRanges(ranges.texts)
		if err != nil {
			return nil, cloud.Errorf(cloud.Configuration, "reading the ranges of %s: %w", ranges.what, err)
		}
		for _, family := range shoot.Families {
			*ranges.into = append(*ranges.into, network.RangesOfFamily(family, all)...)
		}
	}
	return s, nil
}

// formOf derives the form from the effective configuration.
func formOf(effective *v1alpha1.NetworkConfig) form {
	decided := form{Routes: config.RoutesCloud, MTU: *effective.MTU}
	switch overlay := effective.Overlay; {
	case *overlay.Enabled:
		decided.Routes, decided.Tunnel = config.RoutesTunnel, &tunnel{ID: *overlay.VXLAN.ID, Port: *overlay.VXLAN.Port}
	case *overlay.CreatePodRoutes:
		decided.Routes = config.RoutesNodes
	}
	if *effective.ServiceRouting.Enabled {
		decided.Services = servicesRouted
	}
	return decided
}

// at returns the settings in a stage.
func (s *settings) at(stage form) *settings {
	staged := *s
	staged.form = stage
	return &staged
}

// routesProgrammed reports whether a route controller programs and reports routes to pods where packets are not encapsulated.
func (s *settings) routesProgrammed() bool {
	return s.infrastructure.RoutesPods(slices.Contains(s.families, extensionsv1alpha1.IPFamilyIPv4))
}

// reportsNetwork reports whether agents set the condition of their node's network. With routes of the cloud its route controller does, and where that is known, also
// with routes of nodes: it runs whenever the overlay is off. Two writers would contradict each other.
func (s *settings) reportsNetwork() bool {
	switch {
	case s.form.WaitsForRoutes:
		return false
	case s.form.Routes == config.RoutesNodes:
		return !s.infrastructure.RoutesReported || !s.routesProgrammed()
	default:
		return s.form.encapsulates()
	}
}

// messages returns what users may not expect of the settings. deployed is nil where nothing is deployed.
func (s *settings) messages(deployed *form) []string {
	messages := validation.WarningsOf(s.config, s.infrastructure)
	if deployed != nil && (deployed.MTU != s.form.MTU || deployed.encapsulates() != s.form.encapsulates()) {
		messages = append(messages, "the MTU of pods changes: those that run keep theirs until they are created anew")
	}
	return messages
}
