package v1alpha1

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// DecodeProviderSpec decodes the providerSpec of a MachineClass, possibly written by another extension or version: unknown fields are ignored.
func DecodeProviderSpec(raw *runtime.RawExtension) (*ProviderSpec, error) {
	if raw == nil || len(raw.Raw) == 0 {
		return nil, fmt.Errorf("it is empty")
	}
	spec := &ProviderSpec{}
	if err := json.Unmarshal(raw.Raw, spec); err != nil {
		return nil, fmt.Errorf("decoding it: %w", err)
	}
	if spec.APIVersion != "" && spec.APIVersion != APIVersion {
		return nil, fmt.Errorf("apiVersion is %q instead of %q", spec.APIVersion, APIVersion)
	}
	return spec, nil
}

// EncodeProviderSpec returns the specification as the providerSpec of a MachineClass.
func EncodeProviderSpec(spec *ProviderSpec) (*runtime.RawExtension, error) {
	encoded, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the provider specification: %w", err)
	}
	return &runtime.RawExtension{Raw: encoded}, nil
}
