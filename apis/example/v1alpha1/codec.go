package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/codec"
)

// The modes in which documents are read.
func strict() codec.Mode  { return codec.Mode{} }
func lenient() codec.Mode { return codec.Mode{IgnoreUnknownFields: true} }

// DecodeInfrastructureConfig strictly decodes a user's configuration. The error names the field and what to do about it.
func DecodeInfrastructureConfig(raw *runtime.RawExtension) (*InfrastructureConfig, error) {
	return codec.Decode(AddToScheme, raw, &InfrastructureConfig{}, strict())
}

// DecodeControlPlaneConfig strictly decodes a user's configuration. The error names the field and what to do about it.
func DecodeControlPlaneConfig(raw *runtime.RawExtension) (*ControlPlaneConfig, error) {
	return codec.Decode(AddToScheme, raw, &ControlPlaneConfig{}, strict())
}

// DecodeWorkerConfig strictly decodes a user's configuration. The error names the field and what to do about it. A pool
// without a providerConfig has an empty one.
func DecodeWorkerConfig(raw *runtime.RawExtension) (*WorkerConfig, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, &WorkerConfig{}, strict())
}

// DecodeCloudProfileConfig decodes the configuration of an already admitted CloudProfile, possibly of another version:
// unknown fields are ignored.
func DecodeCloudProfileConfig(raw *runtime.RawExtension) (*CloudProfileConfig, error) {
	return codec.Decode(AddToScheme, raw, &CloudProfileConfig{}, lenient())
}

// DecodeInfrastructureStatus decodes a document that a controller wrote, possibly of another version: unknown fields
// are ignored. An absent document decodes to an empty status.
func DecodeInfrastructureStatus(raw *runtime.RawExtension) (*InfrastructureStatus, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, NewInfrastructureStatus(), lenient())
}

// DecodeWorkerStatus decodes a document that a controller wrote, possibly of another version: unknown fields are
// ignored. An absent document decodes to an empty status.
func DecodeWorkerStatus(raw *runtime.RawExtension) (*WorkerStatus, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, NewWorkerStatus(), lenient())
}

// DecodeMachineProviderSpec decodes the providerSpec of a MachineClass, possibly written by another version: unknown fields are
// ignored.
func DecodeMachineProviderSpec(raw *runtime.RawExtension) (*MachineProviderSpec, error) {
	return codec.Decode(AddToScheme, raw, &MachineProviderSpec{}, lenient())
}

// Encode returns object as JSON with apiVersion and kind, whether or not they are set.
func Encode(object runtime.Object) (*runtime.RawExtension, error) {
	return codec.Encode(AddToScheme, object)
}
