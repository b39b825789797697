package calico

import (
	"encoding/json"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/admission"
)

// setDefaults sets spec.networking.providerConfig.overlay, or createPodRoutes in it, where the user has not. Other contracts read the overlay
// setting from the Shoot, so its default must be written there, too. The user's values are kept; what cannot be decoded is left for
// validation to reject.
func (o Options) setDefaults(shoot, old *gardencorev1beta1.Shoot) error {
	config := decodeValidConfig(shoot)
	if config == nil {
		return nil
	}
	oldOverlay := overlayOf(old)
	overlay := config.Overlay
	if overlay == nil {
		overlay = o.defaultOverlay(shoot, old, config)
	}
	// An explicit backend determines the source of routes.
	usesOtherRoutes := config.Backend != nil && *config.Backend != calicov1alpha1.BackendBird
	if overlay != nil && !overlay.Enabled && overlay.CreatePodRoutes == nil && !usesOtherRoutes && slices.Contains(o.PodRoutes, shoot.Spec.Provider.Type) {
		overlay = withPodRoutes(overlay, oldOverlay)
	}
	if overlay == config.Overlay {
		return nil
	}
	defaulted, err := withOverlay(shoot.Spec.Networking.ProviderConfig, config.Overlay, overlay)
	if err != nil {
		return fmt.Errorf("setting the overlay in spec.networking.providerConfig: %w", err)
	}
	shoot.Spec.Networking.ProviderConfig = defaulted
	return nil
}

// withPodRoutes adds pod routes to an overlay that is off and was not off before. A shoot without an overlay keeps its routes: another
// default must not change a data plane in use.
func withPodRoutes(overlay, oldOverlay *calicov1alpha1.Overlay) *calicov1alpha1.Overlay {
	routes := new(true)
	if oldOverlay != nil && !oldOverlay.Enabled {
		routes = oldOverlay.CreatePodRoutes
	}
	if routes == nil {
		return overlay
	}
	overlay = overlay.DeepCopy()
	overlay.CreatePodRoutes = routes
	return overlay
}

// overlayOf returns the overlay setting of the old shoot, nil if it had none or it cannot be decoded.
func overlayOf(old *gardencorev1beta1.Shoot) *calicov1alpha1.Overlay {
	if old == nil {
		return nil
	}
	config, err := calicov1alpha1.DecodeKnownFields(old.Spec.Networking.ProviderConfig)
	if err != nil {
		return nil
	}
	return config.Overlay
}

// decodeValidConfig returns the configuration, nil if it is invalid.
func decodeValidConfig(shoot *gardencorev1beta1.Shoot) *calicov1alpha1.NetworkConfig {
	config, err := calicov1alpha1.DecodeNetworkConfig(shoot.Spec.Networking.ProviderConfig)
	if err != nil {
		return nil
	}
	return config
}

// defaultOverlay returns the overlay setting for a shoot that has none, nil if it stays without: off for a new shoot, and the old value for a
// shoot that had one, since a manifest without the default must not change the data plane. Neither applies if other fields select the
// encapsulation. IP families do not matter: with IPv6 nothing is encapsulated anyway, and the setting makes a cloud create routes.
func (o Options) defaultOverlay(shoot, old *gardencorev1beta1.Shoot, config *calicov1alpha1.NetworkConfig) *calicov1alpha1.Overlay {
	if !slices.Contains(o.OverlayOff, shoot.Spec.Provider.Type) || config.SetsEncapsulation() {
		return nil
	}
	if old == nil {
		return o.newOverlay(shoot.Spec.Provider.Type, config)
	}
	return overlayOf(old)
}

// newOverlay switches the overlay off, except for calico-ipam if nodes do not distribute routes: clouds have no routes
// to its addresses.
func (o Options) newOverlay(infrastructureType string, config *calicov1alpha1.NetworkConfig) *calicov1alpha1.Overlay {
	nodesRoute := slices.Contains(o.PodRoutes, infrastructureType) || networking.InfrastructureOf(infrastructureType).PodRoutes
	if config.IPAM != nil && config.IPAM.Type == calicov1alpha1.IPAMCalico && !nodesRoute {
		return nil
	}
	return &calicov1alpha1.Overlay{}
}

// withOverlay returns the document with the overlay, if the user set none, or with its new members. Everything else is kept. The document
// may be absent.
func withOverlay(document *runtime.RawExtension, configured, overlay *calicov1alpha1.Overlay) (*runtime.RawExtension, error) {
	if document == nil || len(document.Raw) == 0 {
		config := calicov1alpha1.NewNetworkConfig()
		config.Overlay = overlay
		return calicov1alpha1.Encode(config)
	}
	var (
		raw json.RawMessage
		err error
	)
	if configured == nil {
		raw, err = admission.SetMember(document.Raw, overlay, "overlay")
	} else {
		raw, err = admission.SetMember(document.Raw, overlay.CreatePodRoutes, "overlay", "createPodRoutes")
	}
	return &runtime.RawExtension{Raw: raw}, err
}
