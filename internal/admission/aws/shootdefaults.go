package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/admission"
)

// setDefaults writes what the upstream extension writes, except for the overlay, which the network's webhook sets. Configurations that cannot be decoded are
// left for validation to reject.
func (o Options) setDefaults(_ context.Context, shoot, old *gardencorev1beta1.Shoot) error {
	if o.NodeLocalDNSWithoutTCP {
		admission.SetNodeLocalDNSWithoutTCP(shoot)
	}
	if err := setMTUCustomizer(shoot, old); err != nil {
		return fmt.Errorf("setting enableMTUCustomizer in spec.provider.infrastructureConfig: %w", err)
	}
	if err := setControlPlane(shoot); err != nil {
		return fmt.Errorf("setting the controllers in spec.provider.controlPlaneConfig: %w", err)
	}
	return nil
}

// setMTUCustomizer switches the customizer off in new shoots that do not configure it: without the field it is on, as in old shoots. A shoot that had the
// field keeps its value, since a manifest without the default must not change the nodes.
func setMTUCustomizer(shoot, old *gardencorev1beta1.Shoot) error {
	provider := &shoot.Spec.Provider
	if configured, decodable := mtuCustomizer(provider.InfrastructureConfig); configured != nil || !decodable {
		return nil
	}
	value := new(false)
	if old != nil {
		value, _ = mtuCustomizer(old.Spec.Provider.InfrastructureConfig)
	}
	if value == nil {
		return nil
	}
	raw, err := admission.SetMember(provider.InfrastructureConfig.Raw, value, "enableMTUCustomizer")
	if err != nil {
		return err
	}
	provider.InfrastructureConfig = &runtime.RawExtension{Raw: raw}
	return nil
}

// mtuCustomizer returns the field as it is written, and whether the document can be decoded.
func mtuCustomizer(document *runtime.RawExtension) (configured *bool, decodable bool) {
	// Decoding applies defaults, so the field is read once more, without them.
	if _, err := awsv1alpha1.DecodeStoredInfrastructureConfig(document); err != nil {
		return nil, false
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(document.Raw, &members); err != nil {
		return nil, false
	}
	if written, found := members["enableMTUCustomizer"]; found {
		if err := json.Unmarshal(written, &configured); err != nil {
			return nil, false
		}
	}
	return configured, true
}

// setControlPlane makes controllers follow the network, whatever the user has written: the cloud routes to pods exactly if the overlay is switched off, and
// load balancers of shoots with IPv6 are those of the aws-load-balancer-controller.
func setControlPlane(shoot *gardencorev1beta1.Shoot) error {
	provider := &shoot.Spec.Provider
	overlayOff, hasIPv6, err := networkOf(shoot)
	if err != nil || provider.InfrastructureConfig == nil {
		return nil //nolint:nilerr // validation of the network rejects it; and without an infrastructure there are no such controllers
	}
	config, err := awsv1alpha1.DecodeStoredControlPlaneConfig(provider.ControlPlaneConfig)
	if err != nil {
		return nil //nolint:nilerr // validation rejects it
	}
	document := documentOf(provider.ControlPlaneConfig)
	if manager := config.CloudControllerManager; manager == nil || manager.UseCustomRouteController == nil || *manager.UseCustomRouteController != overlayOff {
		if document, err = admission.SetMember(document, overlayOff, "cloudControllerManager", "useCustomRouteController"); err != nil {
			return err
		}
		provider.ControlPlaneConfig = &runtime.RawExtension{Raw: document}
	}
	if controller := config.LoadBalancerController; hasIPv6 && (controller == nil || !controller.Enabled) {
		if document, err = admission.SetMember(document, true, "loadBalancerController", "enabled"); err != nil {
			return err
		}
		provider.ControlPlaneConfig = &runtime.RawExtension{Raw: document}
	}
	return nil
}

// documentOf returns a ControlPlaneConfig, which may be absent.
func documentOf(config *runtime.RawExtension) json.RawMessage {
	if config == nil || len(config.Raw) == 0 || string(config.Raw) == "null" {
		return json.RawMessage(fmt.Sprintf(`{"apiVersion":%q,"kind":"ControlPlaneConfig"}`, awsv1alpha1.GroupVersion()))
	}
	return config.Raw
}

// networkOf returns whether the overlay of the shoot's network is switched off, and whether its pods have IPv6 addresses.
func networkOf(shoot *gardencorev1beta1.Shoot) (overlayOff, hasIPv6 bool, err error) {
	network := shoot.Spec.Networking
	if network == nil {
		return false, false, nil
	}
	networkType := ""
	if network.Type != nil {
		networkType = *network.Type
	}
	overlayOff, err = networking.OverlaySwitchedOff(networkType, network.ProviderConfig, Type)
	return overlayOff, slices.Contains(network.IPFamilies, gardencorev1beta1.IPFamilyIPv6), err
}
