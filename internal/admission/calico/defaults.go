package calico

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/networking"
)

// setDefaults sets spec.networking.providerConfig.overlay, or createPodRoutes in it, where the user has not. Other contracts read the overlay
// switch as it stands in the Shoot, so its default has to stand there, too. What the user wrote stays as it is; what cannot be read is left
// to be refused.
func (o Options) setDefaults(_ context.Context, shoot, old *gardencorev1beta1.Shoot) error {
	if !usesCalico(shoot) || old != nil && equality.Semantic.DeepEqual(old.Spec, shoot.Spec) || isMigrating(shoot) {
		return nil
	}
	config := decodeValidConfig(shoot)
	if config == nil {
		return nil
	}
	oldOverlay := overlayOf(old)
	overlay := config.Overlay
	if overlay == nil {
		overlay = o.defaultOverlay(shoot, old, config)
	}
	// A backend that was given says who makes routes.
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

// withPodRoutes returns an overlay that is off with pod routes if it has only now come to be off. Who was without an overlay before keeps the
// routes there were: another default must not change a data plane that is in use.
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

// overlayOf returns the switch of a shoot as it was, nil if it had none, or none that can be read.
func overlayOf(old *gardencorev1beta1.Shoot) *calicov1alpha1.Overlay {
	if !usesCalico(old) {
		return nil
	}
	config, err := calicov1alpha1.DecodeKnownFields(old.Spec.Networking.ProviderConfig)
	if err != nil {
		return nil
	}
	return config.Overlay
}

// decodeValidConfig returns the configuration, nil if it has mistakes.
func decodeValidConfig(shoot *gardencorev1beta1.Shoot) *calicov1alpha1.NetworkConfig {
	config, err := calicov1alpha1.DecodeNetworkConfig(shoot.Spec.Networking.ProviderConfig)
	if err != nil {
		return nil
	}
	return config
}

// defaultOverlay returns the switch of a shoot that has none, nil if it is to stay without: off for a new one, and as it was for one that had
// it, since a manifest that knows nothing of the default must not change the data plane. Whoever says in another way what is to be wrapped
// is free of both. Families do not matter: with IPv6 nothing is wrapped anyway, and the switch is what tells a cloud to make routes.
func (o Options) defaultOverlay(shoot, old *gardencorev1beta1.Shoot, config *calicov1alpha1.NetworkConfig) *calicov1alpha1.Overlay {
	if !slices.Contains(o.OverlayOff, shoot.Spec.Provider.Type) || config.SetsEncapsulation() {
		return nil
	}
	if !usesCalico(old) {
		return o.newOverlay(shoot.Spec.Provider.Type, config)
	}
	return overlayOf(old)
}

// newOverlay switches it off, but for calico-ipam where nodes do not make routes: clouds know none to its addresses.
func (o Options) newOverlay(infrastructureType string, config *calicov1alpha1.NetworkConfig) *calicov1alpha1.Overlay {
	nodesRoute := slices.Contains(o.PodRoutes, infrastructureType) || networking.InfrastructureOf(infrastructureType).PodRoutes
	if config.IPAM != nil && config.IPAM.Type == calicov1alpha1.IPAMCalico && !nodesRoute {
		return nil
	}
	return &calicov1alpha1.Overlay{}
}

// isMigrating reports whether the shoot is on its way to another seed, or waits to be. Until it has arrived nothing about it changes.
func isMigrating(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastOperation
	if last == nil {
		return false
	}
	switch last.Type {
	case gardencorev1beta1.LastOperationTypeMigrate:
		return true
	case gardencorev1beta1.LastOperationTypeRestore:
		if last.State != gardencorev1beta1.LastOperationStateSucceeded {
			return true
		}
	}
	currentSeed, desiredSeed := shoot.Status.SeedName, shoot.Spec.SeedName
	return currentSeed != nil && desiredSeed != nil && *currentSeed != *desiredSeed
}

// withOverlay returns the document with that overlay, where the user has none, or with what is new in it. All else stays as it is. There may
// be no document.
func withOverlay(document *runtime.RawExtension, configured, overlay *calicov1alpha1.Overlay) (*runtime.RawExtension, error) {
	if document == nil || len(document.Raw) == 0 {
		config := calicov1alpha1.NewNetworkConfig()
		config.Overlay = overlay
		return calicov1alpha1.Encode(config)
	}
	var value any = overlay
	if configured != nil {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(document.Raw, &members); err != nil {
			return nil, err
		}
		block, err := setMember(members["overlay"], "createPodRoutes", overlay.CreatePodRoutes)
		if err != nil {
			return nil, err
		}
		value = block
	}
	raw, err := setMember(document.Raw, "overlay", value)
	return &runtime.RawExtension{Raw: raw}, err
}

// setMember returns a document with one more member, or another value of it.
func setMember(document json.RawMessage, name string, value any) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(document, &members); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	members[name] = encoded
	return json.Marshal(members)
}
