package gardenet

import (
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/admission"
)

// setDefaults writes overlay.enabled, and with the overlay off overlay.createPodRoutes, into the Shoot where the user has not. Other contracts, also those of other
// extensions, read them there. Values of an old shoot are kept: a manifest that leaves them out must not change the data plane. What cannot be decoded is left
// for validation to reject.
func setDefaults(shoot, old *gardencorev1beta1.Shoot) error {
	given := decodeValidConfig(shoot)
	if given == nil {
		return nil
	}
	overlay := overlayWithDefaults(given.Overlay, overlayOf(old), networking.InfrastructureOf(shoot.Spec.Provider.Type))
	document, err := withOverlay(shoot.Spec.Networking.ProviderConfig, given.Overlay, overlay)
	if err != nil {
		return fmt.Errorf("setting the overlay in spec.networking.providerConfig: %w", err)
	}
	shoot.Spec.Networking.ProviderConfig = document
	return nil
}

// decodeValidConfig returns the configuration, nil if it is invalid.
func decodeValidConfig(shoot *gardencorev1beta1.Shoot) *v1alpha1.NetworkConfig {
	config, err := v1alpha1.DecodeNetworkConfig(shoot.Spec.Networking.ProviderConfig)
	if err != nil {
		return nil
	}
	return config
}

// overlayOf returns the overlay settings of the old shoot, nil if it had none or they cannot be decoded.
func overlayOf(old *gardencorev1beta1.Shoot) *v1alpha1.Overlay {
	if old == nil {
		return nil
	}
	config, err := v1alpha1.DecodeKnownFields(old.Spec.Networking.ProviderConfig)
	if err != nil {
		return nil
	}
	return config.Overlay
}

// overlayWithDefaults returns the settings with the two fields that have defaults here. Routes of nodes are of use with the overlay off only.
func overlayWithDefaults(given, old *v1alpha1.Overlay, infrastructure networking.Infrastructure) v1alpha1.Overlay {
	overlay, was := v1alpha1.Overlay{}, v1alpha1.Overlay{}
	if given != nil {
		overlay = *given
	}
	if old != nil {
		was = *old
	}
	switch {
	case overlay.Enabled != nil:
	case was.Enabled != nil:
		overlay.Enabled = was.Enabled
	default:
		overlay.Enabled = new(networking.GardenetOverlay(infrastructure))
	}
	switch {
	case *overlay.Enabled, overlay.CreatePodRoutes != nil:
	case was.Enabled != nil && !*was.Enabled && was.CreatePodRoutes != nil:
		overlay.CreatePodRoutes = was.CreatePodRoutes
	default:
		overlay.CreatePodRoutes = new(infrastructure.PodRoutes)
	}
	return overlay
}

// withOverlay returns the document with the members of the overlay that are new. Everything else is kept. The document may be absent.
func withOverlay(document *runtime.RawExtension, given *v1alpha1.Overlay, overlay v1alpha1.Overlay) (*runtime.RawExtension, error) {
	if document == nil || len(document.Raw) == 0 || string(document.Raw) == "null" {
		config := v1alpha1.NewNetworkConfig()
		config.Overlay = &overlay
		return v1alpha1.Encode(config)
	}
	if given == nil {
		given = &v1alpha1.Overlay{}
	}
	raw := document.Raw
	for _, member := range []struct {
		name        string
		before, now *bool
	}{{"enabled", given.Enabled, overlay.Enabled}, {"createPodRoutes", given.CreatePodRoutes, overlay.CreatePodRoutes}} {
		if member.before != nil || member.now == nil {
			continue
		}
		var err error
		if raw, err = admission.SetMember(raw, *member.now, "overlay", member.name); err != nil {
			return nil, err
		}
	}
	return &runtime.RawExtension{Raw: raw}, nil
}
