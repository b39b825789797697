package v1alpha1

import (
	"encoding/base64"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/codec"
)

// DecodeControllerDeploymentConfig strictly decodes an admin's configuration: apiVersion and kind are required, and an unknown field is an
// error that names it. Defaults are not applied.
func DecodeControllerDeploymentConfig(raw *runtime.RawExtension) (*ControllerDeploymentConfig, error) {
	config, err := codec.Decode(AddToScheme, raw, NewControllerDeploymentConfig(), codec.Mode{})
	if _, ok := errors.AsType[base64.CorruptInputError](err); ok { // only chart is in base64, and the decoder does not name the field
		return nil, fmt.Errorf("%w: give in chart the whole archive in base64", err)
	}
	return config, err
}

// DecodeControllerInstallationStatus decodes a status that an operator wrote, possibly of another version: unknown fields are ignored. An
// absent document decodes to an empty status.
func DecodeControllerInstallationStatus(raw *runtime.RawExtension) (*ControllerInstallationStatus, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, NewControllerInstallationStatus(), codec.Mode{IgnoreUnknownFields: true})
}

// Encode returns object as JSON with apiVersion and kind, whether or not they are set.
func Encode(object runtime.Object) (*runtime.RawExtension, error) {
	return codec.Encode(AddToScheme, object)
}
