package v1alpha1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/codec"
	"github.com/trellis-garden/trellis/apis/internal/quantities"
)

// The modes in which documents are read.
func strict() codec.Mode  { return codec.Mode{} }
func lenient() codec.Mode { return codec.Mode{IgnoreUnknownFields: true} }

// DecodeInfrastructureConfig strictly decodes a user's configuration, and applies the defaults. The error names the field
// and what to do about it.
func DecodeInfrastructureConfig(raw *runtime.RawExtension) (*InfrastructureConfig, error) {
	return decodeInfrastructureConfig(raw, strict())
}

// DecodeStoredInfrastructureConfig decodes an already admitted configuration, possibly of another version: unknown
// fields are ignored. It applies the defaults.
func DecodeStoredInfrastructureConfig(raw *runtime.RawExtension) (*InfrastructureConfig, error) {
	return decodeInfrastructureConfig(raw, lenient())
}

func decodeInfrastructureConfig(raw *runtime.RawExtension, mode codec.Mode) (*InfrastructureConfig, error) {
	config, err := codec.Decode(AddToScheme, raw, &InfrastructureConfig{}, mode)
	if err != nil {
		return nil, err
	}
	config.Default()
	return config, nil
}

// DecodeControlPlaneConfig strictly decodes a user's configuration, and applies the defaults. The error names the field and what to do about it. A
// shoot without a configuration has an empty one.
func DecodeControlPlaneConfig(raw *runtime.RawExtension) (*ControlPlaneConfig, error) {
	return decodeControlPlaneConfig(raw, strict())
}

// DecodeStoredControlPlaneConfig decodes an already admitted configuration, possibly of another version: unknown fields are
// ignored. It applies the defaults. A shoot without a configuration has an empty one.
func DecodeStoredControlPlaneConfig(raw *runtime.RawExtension) (*ControlPlaneConfig, error) {
	return decodeControlPlaneConfig(raw, lenient())
}

func decodeControlPlaneConfig(raw *runtime.RawExtension, mode codec.Mode) (*ControlPlaneConfig, error) {
	config, err := codec.DecodeOrEmpty(AddToScheme, raw, &ControlPlaneConfig{}, mode)
	if err != nil {
		return nil, err
	}
	config.Default()
	return config, nil
}

// DecodeWorkerConfig strictly decodes a user's configuration. The error names the field and what to do about it. A pool
// without a providerConfig has an empty one.
func DecodeWorkerConfig(raw *runtime.RawExtension) (*WorkerConfig, error) {
	return decodeWorkerConfig(raw, strict())
}

// DecodeStoredWorkerConfig decodes an already admitted configuration, possibly of another version: unknown fields are
// ignored. A pool without a providerConfig has an empty one.
func DecodeStoredWorkerConfig(raw *runtime.RawExtension) (*WorkerConfig, error) {
	return decodeWorkerConfig(raw, lenient())
}

func decodeWorkerConfig(raw *runtime.RawExtension, mode codec.Mode) (*WorkerConfig, error) {
	if raw != nil {
		if err := quantities.CheckNodeTemplate(raw.Raw); err != nil {
			return nil, fmt.Errorf("decoding WorkerConfig: %w", err)
		}
	}
	return codec.DecodeOrEmpty(AddToScheme, raw, &WorkerConfig{}, mode)
}

// DecodeCloudProfileConfig decodes the configuration of an already admitted CloudProfile, possibly of another version:
// unknown fields are ignored.
func DecodeCloudProfileConfig(raw *runtime.RawExtension) (*CloudProfileConfig, error) {
	return codec.Decode(AddToScheme, raw, &CloudProfileConfig{}, lenient())
}

// DecodeCloudProfileConfigStrictly strictly decodes an admin's configuration of a CloudProfile. The error names the field and what to do about
// it.
func DecodeCloudProfileConfigStrictly(raw *runtime.RawExtension) (*CloudProfileConfig, error) {
	return codec.Decode(AddToScheme, raw, &CloudProfileConfig{}, strict())
}

// DecodeBackupBucketConfig strictly decodes an admin's configuration. The error names the field and what to do about it. A bucket without a
// providerConfig has an empty one.
func DecodeBackupBucketConfig(raw *runtime.RawExtension) (*BackupBucketConfig, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, &BackupBucketConfig{}, strict())
}

// DecodeStoredBackupBucketConfig decodes an already admitted configuration, possibly of another version: unknown fields are ignored. A bucket without a
// providerConfig has an empty one.
func DecodeStoredBackupBucketConfig(raw *runtime.RawExtension) (*BackupBucketConfig, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, &BackupBucketConfig{}, lenient())
}

// DecodeWorkloadIdentityConfig strictly decodes a user's configuration. The error names the field and what to do about it.
func DecodeWorkloadIdentityConfig(raw *runtime.RawExtension) (*WorkloadIdentityConfig, error) {
	return codec.Decode(AddToScheme, raw, &WorkloadIdentityConfig{}, strict())
}

// DecodeStoredWorkloadIdentityConfig decodes an already admitted configuration, possibly of another version: unknown fields are ignored.
func DecodeStoredWorkloadIdentityConfig(raw *runtime.RawExtension) (*WorkloadIdentityConfig, error) {
	return codec.Decode(AddToScheme, raw, &WorkloadIdentityConfig{}, lenient())
}

// DecodeInfrastructureStatus decodes a document that a controller wrote, possibly of another version: unknown fields
// are ignored. An absent document decodes to an empty status.
func DecodeInfrastructureStatus(raw *runtime.RawExtension) (*InfrastructureStatus, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, NewInfrastructureStatus(), lenient())
}

// DecodeInfrastructureState decodes a document that a controller wrote, possibly of another version: unknown fields are
// ignored. An absent document decodes to an empty state; Data is never nil.
func DecodeInfrastructureState(raw *runtime.RawExtension) (*InfrastructureState, error) {
	state, err := codec.DecodeOrEmpty(AddToScheme, raw, NewInfrastructureState(), lenient())
	if err != nil {
		return nil, err
	}
	if state.Data == nil {
		state.Data = map[string]string{}
	}
	return state, nil
}

// DecodeWorkerStatus decodes a document that a controller wrote, possibly of another version: unknown fields are
// ignored. An absent document decodes to an empty status.
func DecodeWorkerStatus(raw *runtime.RawExtension) (*WorkerStatus, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, NewWorkerStatus(), lenient())
}

// Encode returns object as JSON with apiVersion and kind, whether or not they are set.
func Encode(object runtime.Object) (*runtime.RawExtension, error) {
	return codec.Encode(AddToScheme, object)
}
