// Package networking evaluates a Network's configuration for other contracts, and describes infrastructures for network plugins.
// It decodes the configuration of the network types leniently, and must not know anything else about them.
package networking

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// The network types whose configuration is evaluated.
const (
	Calico   = "calico"
	Cilium   = "cilium"
	Gardenet = "gardenet"
)

// answer reports whether a plugin with a configuration routes natively on an infrastructure, see NativeRouting.
type answer func(networkType string, providerConfig *runtime.RawExtension, infrastructure Infrastructure) (bool, error)

// answers has the plugins whose answer depends on more than the field overlay.enabled.
func answers() map[string]answer {
	return map[string]answer{
		Calico: func(networkType string, providerConfig *runtime.RawExtension, _ Infrastructure) (bool, error) {
			config, err := decode[calicoConfig](networkType, providerConfig)
			return config.native(), err
		},
		Cilium: func(networkType string, providerConfig *runtime.RawExtension, _ Infrastructure) (bool, error) {
			config, err := decode[ciliumConfig](networkType, providerConfig)
			return config.native(), err
		},
		Gardenet: func(networkType string, providerConfig *runtime.RawExtension, infrastructure Infrastructure) (bool, error) {
			config, err := decode[gardenetConfig](networkType, providerConfig)
			return err == nil && config.native(infrastructure), err
		},
	}
}

// NativeRouting reports whether a network type, configured by providerConfig (Shoot.spec.networking.providerConfig), sends packets between nodes with
// the addresses of the pods, instead of encapsulating them, on an infrastructure of a type. If so, the cloud must let the range of the pods through,
// and routes for them must be programmed. A network that encapsulates between subnets only (Calico's CrossSubnet) counts as one that encapsulates.
//
// A type without a row in answers counts as native if its configuration has overlay.enabled: false, as all plugins of Gardener spell it. Its
// configuration is not known here, so it never causes an error.
//
// The error names the field that cannot be decoded.
func NativeRouting(networkType string, providerConfig *runtime.RawExtension, infrastructureType string) (bool, error) {
	if answer, known := answers()[networkType]; known {
		return answer(networkType, providerConfig, InfrastructureOf(infrastructureType))
	}
	off, err := OverlaySwitchedOff(networkType, providerConfig, infrastructureType)
	return off && err == nil, nil
}

// OverlaySwitchedOff reports whether the user, or admission, switched the overlay off (overlay.enabled: false), whatever the type
// of the network. It means that routes for pods must be programmed: a network without an overlay for another reason, such as
// Calico's mode Never, distributes its own routes, which other routes could contradict. The overlay of gardenet is also off where
// nobody said so and that is its default on an infrastructure of a type.
func OverlaySwitchedOff(networkType string, providerConfig *runtime.RawExtension, infrastructureType string) (bool, error) {
	if networkType == Gardenet {
		return NativeRouting(networkType, providerConfig, infrastructureType)
	}
	type anyConfig struct {
		Overlay *overlay `json:"overlay"`
	}
	config, err := decode[anyConfig](networkType, providerConfig)
	return config.Overlay.off(), err
}

// overlay is set by users, or by admission for new shoots. An empty block means off, as in the plugins' own types.
type overlay struct {
	Enabled bool `json:"enabled"`
}

func (o *overlay) off() bool { return o != nil && !o.Enabled }

// calicoConfig has the relevant fields of calico.networking.extensions.gardener.cloud/v1alpha1 NetworkConfig.
type calicoConfig struct {
	Overlay *overlay `json:"overlay"`
	IPv4    *struct {
		Mode *string `json:"mode"`
	} `json:"ipv4"`
	// IPIP is the former name of ipv4.mode.
	IPIP *string `json:"ipip"`
}

// native evaluates the overlay setting alone, since it overrides pool modes and backend. Without it, the mode of the
// pool applies, whatever the backend: Calico encapsulates by default.
func (c calicoConfig) native() bool {
	if c.Overlay != nil {
		return c.Overlay.off()
	}
	mode := c.IPIP
	if c.IPv4 != nil && c.IPv4.Mode != nil {
		mode = c.IPv4.Mode
	}
	return mode != nil && (*mode == "Never" || *mode == "Off")
}

// ciliumConfig has the relevant fields of cilium.networking.extensions.gardener.cloud/v1alpha1 NetworkConfig.
type ciliumConfig struct {
	Overlay *overlay `json:"overlay"`
	Tunnel  *string  `json:"tunnel"`
}

// native returns true with the overlay off: there is no tunnel. With the overlay on, or unset, the user's tunnel mode
// applies.
func (c ciliumConfig) native() bool {
	if c.Overlay.off() {
		return true
	}
	return c.Tunnel != nil && *c.Tunnel == "disabled"
}

// gardenetConfig has the relevant fields of gardenet.networking.extensions.gardener.cloud/v1alpha1 NetworkConfig.
type gardenetConfig struct {
	Overlay struct {
		Enabled *bool `json:"enabled"`
	} `json:"overlay"`
}

func (c gardenetConfig) native(infrastructure Infrastructure) bool {
	if c.Overlay.Enabled != nil {
		return !*c.Overlay.Enabled
	}
	return !GardenetOverlay(infrastructure)
}

func decode[Config any](networkType string, providerConfig *runtime.RawExtension) (Config, error) {
	var config Config
	if providerConfig == nil {
		return config, nil
	}
	data, err := providerConfig.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(data, &config)
	}
	if err != nil {
		var none Config
		return none, fmt.Errorf("reading spec.networking.providerConfig of type %s: %w: correct it", networkType, err)
	}
	return config, nil
}
