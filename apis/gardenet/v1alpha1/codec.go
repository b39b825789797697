package v1alpha1

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/codec"
	"github.com/trellis-garden/trellis/apis/internal/quantities"
)

// DecodeNetworkConfig strictly decodes a user's configuration. The error names the field and what to do about it. An absent document decodes to an empty
// configuration. Defaults are not applied.
func DecodeNetworkConfig(raw *runtime.RawExtension) (*NetworkConfig, error) {
	return decodeNetworkConfig(raw, codec.Mode{})
}

// DecodeKnownFields is DecodeNetworkConfig for the configuration of an existing shoot: unknown fields are ignored.
func DecodeKnownFields(raw *runtime.RawExtension) (*NetworkConfig, error) {
	return decodeNetworkConfig(raw, codec.Mode{IgnoreUnknownFields: true})
}

func decodeNetworkConfig(raw *runtime.RawExtension, mode codec.Mode) (*NetworkConfig, error) {
	if raw != nil {
		var written struct {
			Resources struct {
				Node struct {
					Requests, Limits map[string]quantities.Quantity
				}
			}
		}
		if err := quantities.CheckIn(raw.Raw, &written); err != nil {
			return nil, fmt.Errorf("decoding NetworkConfig: resources.node: %w", err)
		}
	}
	return codec.DecodeOrEmpty(AddToScheme, raw, NewNetworkConfig(), mode)
}

// DecodeNetworkStatus decodes a status that a controller wrote, possibly of another version: unknown fields are ignored. An absent document decodes to an empty
// status.
func DecodeNetworkStatus(raw *runtime.RawExtension) (*NetworkStatus, error) {
	return codec.DecodeOrEmpty(AddToScheme, raw, NewNetworkStatus(), codec.Mode{IgnoreUnknownFields: true})
}

// Encode returns object as JSON with apiVersion and kind, whether or not they are set.
func Encode(object runtime.Object) (*runtime.RawExtension, error) {
	return codec.Encode(AddToScheme, object)
}

// Fields returns the names of the fields of a NetworkConfig besides apiVersion and kind, sorted.
func Fields() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[NetworkConfig]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && len(f.Index) == 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
