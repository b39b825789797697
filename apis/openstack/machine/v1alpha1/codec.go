package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/codec"
)

// DecodeMachineProviderConfig decodes the providerSpec of a MachineClass, possibly written by another extension or version: unknown
// fields are ignored, and deprecated fields are converted to the lists that replace them.
func DecodeMachineProviderConfig(raw *runtime.RawExtension) (*MachineProviderConfig, error) {
	config, err := codec.Decode(AddToScheme, raw, &MachineProviderConfig{}, codec.Mode{IgnoreUnknownFields: true})
	if err != nil {
		return nil, err
	}
	spec := &config.Spec
	if len(spec.SubnetIDs) == 0 && spec.SubnetID != nil && *spec.SubnetID != "" {
		spec.SubnetIDs = []string{*spec.SubnetID}
	}
	if len(spec.PodNetworkCIDRs) == 0 && spec.PodNetworkCidr != "" {
		spec.PodNetworkCIDRs = []string{spec.PodNetworkCidr}
	}
	spec.SubnetID, spec.PodNetworkCidr = nil, ""
	return config, nil
}

// Encode returns object as JSON with apiVersion and kind, whether or not they are set.
func Encode(object runtime.Object) (*runtime.RawExtension, error) {
	return codec.Encode(AddToScheme, object)
}
