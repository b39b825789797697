package v1alpha1

import (
	"encoding/base64"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/codec"
)

// DecodeControllerDeploymentConfig decodes what an admin wrote, strictly: apiVersion and kind are required, and an unknown field is an error
// that names it. Defaults are not applied.
func DecodeControllerDeploymentConfig(raw *runtime.RawExtension) (*ControllerDeploymentConfig, error) {
	config, err := codec.Decode(AddToScheme, raw, NewControllerDeploymentConfig(), codec.Mode{})
	if _, ok := errors.AsType[base64.CorruptInputError](err); ok { // chart alone is in base64, and the decoder does not tell whose fault it is
		return nil, fmt.Errorf("%w: give in chart the whole archive in base64", err)
	}
	return config, err
}

// DecodeControllerInstallationStatus decodes what an operator wrote, possibly of another version: unknown fields are ignored. Nothing decodes
// to an empty status.
func DecodeControllerInstallationStatus(raw *runtime.RawExtension) (*ControllerInstallationStatus, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, NewControllerInstallationStatus(), codec.Mode{IgnoreUnknownFields: true})
}

// Encode returns object as JSON with apiVersion and kind, whether or not it carries them.
func Encode(object runtime.Object) (*runtime.RawExtension, error) {
	return codec.Encode(AddToScheme, object)
}
