package v1alpha1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/codec"
	"github.com/trellis-garden/trellis/apis/internal/quantities"
)

// DecodeNetworkConfig decodes what a user wrote, strictly. The error names the field and what to do about it. Nothing
// decodes to an empty configuration, and apiVersion and kind may be missing, as upstream has it. Defaults are not applied.
func DecodeNetworkConfig(raw *runtime.RawExtension) (*NetworkConfig, error) {
	return decodeNetworkConfig(raw, codec.Mode{KindOptional: true})
}

// DecodeKnownFields is DecodeNetworkConfig for what a shoot has already: what no version of this package knows is ignored.
func DecodeKnownFields(raw *runtime.RawExtension) (*NetworkConfig, error) {
	return decodeNetworkConfig(raw, codec.Mode{KindOptional: true, IgnoreUnknownFields: true})
}

func decodeNetworkConfig(raw *runtime.RawExtension, mode codec.Mode) (*NetworkConfig, error) {
	if raw != nil {
		var written struct {
			AutoScaling struct {
				Resources struct {
					Node, Typha map[string]quantities.Quantity
				}
			}
		}
		if err := quantities.CheckIn(raw.Raw, &written); err != nil {
			return nil, fmt.Errorf("decoding NetworkConfig: autoScaling.resources: %w", err)
		}
	}
	return codec.DecodeOrEmpty(AddToScheme, raw, NewNetworkConfig(), mode)
}

// DecodeNetworkStatus decodes what a controller wrote, possibly of another version: unknown fields are ignored. Nothing
// decodes to an empty status.
func DecodeNetworkStatus(raw *runtime.RawExtension) (*NetworkStatus, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, NewNetworkStatus(), codec.Mode{IgnoreUnknownFields: true})
}

// Encode returns object as JSON with apiVersion and kind, whether or not it carries them.
func Encode(object runtime.Object) (*runtime.RawExtension, error) {
	return codec.Encode(AddToScheme, object)
}
