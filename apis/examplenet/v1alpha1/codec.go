package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/codec"
)

// DecodeNetworkConfig strictly decodes a user's configuration. The error names the field and what to do about it. An absent document decodes to an empty
// configuration. Defaults are not applied.
func DecodeNetworkConfig(raw *runtime.RawExtension) (*NetworkConfig, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, NewNetworkConfig(), codec.Mode{})
}
