package networking_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/networking"
)

func TestNativeRouting(t *testing.T) {
	const (
		calico = `{"apiVersion":"calico.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkConfig",`
		cilium = `{"apiVersion":"cilium.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkConfig",`
	)
	for sentence, test := range map[string]struct {
		networkType, config string
		want                bool
	}{
		"calico without configuration encapsulates":                        {"calico", "", false},
		"calico with an empty configuration encapsulates":                  {"calico", `{}`, false},
		"calico with null for a configuration encapsulates":                {"calico", `null`, false},
		"calico with the overlay on encapsulates":                          {"calico", calico + `"overlay":{"enabled":true}}`, false},
		"calico with the overlay off routes natively":                      {"calico", calico + `"overlay":{"enabled":false}}`, true},
		"calico's pod routes change nothing about that":                    {"calico", calico + `"overlay":{"enabled":false,"createPodRoutes":true}}`, true},
		"calico with an overlay block without enabled routes natively":     {"calico", calico + `"overlay":{"createPodRoutes":true}}`, true},
		"calico's overlay setting takes precedence over the mode when on":  {"calico", calico + `"overlay":{"enabled":true},"ipv4":{"mode":"Never"}}`, false},
		"calico's overlay setting takes precedence over the mode when off": {"calico", calico + `"overlay":{"enabled":false},"ipv4":{"mode":"Always"}}`, true},
		"calico with mode Never routes natively":                           {"calico", calico + `"ipv4":{"mode":"Never"}}`, true},
		"calico with mode Off routes natively":                             {"calico", calico + `"ipv4":{"mode":"Off"}}`, true},
		"calico with mode Always encapsulates":                             {"calico", calico + `"ipv4":{"mode":"Always"}}`, false},
		"calico that encapsulates between subnets only encapsulates":       {"calico", calico + `"ipv4":{"mode":"CrossSubnet"}}`, false},
		"calico with vxlan pools and no mode encapsulates":                 {"calico", calico + `"backend":"vxlan","ipv4":{"pool":"vxlan"}}`, false},
		"calico without backend encapsulates without a mode":               {"calico", calico + `"backend":"none"}`, false},
		"calico's former field for the mode counts":                        {"calico", calico + `"ipip":"Never"}`, true},
		"calico's former field gives way to the new one":                   {"calico", calico + `"ipip":"Never","ipv4":{"mode":"Always"}}`, false},
		"calico fields that this package does not know do not disturb it":  {"calico", calico + `"overlay":{"enabled":false},"typha":{"enabled":true},"new":[1]}`, true},
		"cilium without configuration encapsulates":                        {"cilium", "", false},
		"cilium with the overlay on encapsulates":                          {"cilium", cilium + `"overlay":{"enabled":true}}`, false},
		"cilium with the overlay off routes natively":                      {"cilium", cilium + `"overlay":{"enabled":false}}`, true},
		"cilium with a tunnel named and the overlay off routes natively":   {"cilium", cilium + `"overlay":{"enabled":false},"tunnel":"vxlan"}`, true},
		"cilium with the tunnel disabled routes natively":                  {"cilium", cilium + `"tunnel":"disabled"}`, true},
		"cilium with the tunnel disabled keeps it so under the overlay":    {"cilium", cilium + `"overlay":{"enabled":true},"tunnel":"disabled"}`, true},
		"cilium with a geneve tunnel encapsulates":                         {"cilium", cilium + `"tunnel":"geneve"}`, false},
		"an unknown type encapsulates by default":                          {"example-net", `{}`, false},
		"an unknown type with the overlay on encapsulates":                 {"example-net", `{"overlay":{"enabled":true}}`, false},
		"an unknown type with the overlay off routes natively":             {"example-net", `{"overlay":{"enabled":false},"tunnel":1}`, true},
		"an unknown type's overlay may be something else":                  {"example-net", `{"overlay":"vxlan"}`, false},
		"an unknown type's configuration need not be JSON":                 {"example-net", `[`, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := networking.NativeRouting(test.networkType, raw(test.config), "openstack")
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestNativeRouting_Gardenet(t *testing.T) {
	const on, off = `{"overlay":{"enabled":true}}`, `{"overlay":{"enabled":false,"createPodRoutes":true}}`
	for sentence, test := range map[string]struct {
		infrastructure, config string
		want                   bool
	}{
		"no configuration where the cloud routes":         {"openstack", "", true},
		"no configuration where it cannot":                {"local", "", false},
		"an empty configuration where the cloud routes":   {"aws", `{}`, true},
		"an empty configuration where it cannot":          {"local", `{}`, false},
		"an overlay block without enabled":                {"local", `{"overlay":{"vxlan":{"port":4790}}}`, false},
		"the overlay on where the cloud routes":           {"openstack", on, false},
		"the overlay off, with routes of nodes":           {"local", off, true},
		"an infrastructure of which nothing is known":     {"ironcore", "", true},
		"fields that this package does not know":          {"local", `{"mtu":[],"overlay":{"enabled":true}}`, false},
		"the overlay off on an unknown infrastructure":    {"ironcore", off, true},
		"a null for the overlay is a block that is unset": {"local", `{"overlay":null}`, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := networking.NativeRouting("gardenet", raw(test.config), test.infrastructure)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
			got, err = networking.OverlaySwitchedOff("gardenet", raw(test.config), test.infrastructure)
			require.NoError(t, err)
			require.Equal(t, test.want, got, "somebody has to make routes")
		})
	}
	_, err := networking.OverlaySwitchedOff("gardenet", raw(`{"overlay":{"enabled":"yes"}}`), "openstack")
	require.ErrorContains(t, err, "overlay.enabled")
}

func TestNativeRouting_Invalid(t *testing.T) {
	for sentence, test := range map[string]struct{ networkType, config, want string }{
		"a switch that is no boolean, in calico":   {"calico", `{"overlay":{"enabled":"yes"}}`, "overlay.enabled"},
		"a switch that is no boolean, in cilium":   {"cilium", `{"overlay":{"enabled":1}}`, "overlay.enabled"},
		"a switch that is no boolean, in gardenet": {"gardenet", `{"overlay":{"enabled":1}}`, "overlay.enabled"},
		"an overlay that is no object":             {"calico", `{"overlay":true}`, "overlay"},
		"a mode that is no string":                 {"calico", `{"ipv4":{"mode":false}}`, "ipv4.mode"},
		"a list for a configuration":               {"calico", `[]`, "spec.networking.providerConfig"},
		"no JSON at all":                           {"cilium", `overlay: off`, "spec.networking.providerConfig"},
	} {
		t.Run(sentence, func(t *testing.T) {
			native, err := networking.NativeRouting(test.networkType, raw(test.config), "openstack")
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, "of type "+test.networkType)
			require.False(t, native)
		})
	}
}

func raw(config string) *runtime.RawExtension {
	if config == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: []byte(config)}
}

func TestOverlaySwitchedOff(t *testing.T) {
	for sentence, test := range map[string]struct {
		config string
		want   bool
	}{
		"no configuration":                 {"", false},
		"the switch off":                   {`{"overlay":{"enabled":false}}`, true},
		"the switch on":                    {`{"overlay":{"enabled":true}}`, false},
		"an overlay block without enabled": {`{"overlay":{"createPodRoutes":true}}`, true},
		"a pool without encapsulation":     {`{"ipv4":{"mode":"Never"}}`, false},
		"a disabled tunnel":                {`{"tunnel":"disabled"}`, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			var raw *runtime.RawExtension
			if test.config != "" {
				raw = &runtime.RawExtension{Raw: []byte(test.config)}
			}
			got, err := networking.OverlaySwitchedOff("calico", raw, "openstack")
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
	_, err := networking.OverlaySwitchedOff("cilium", &runtime.RawExtension{Raw: []byte(`{"overlay":7}`)}, "openstack")
	require.ErrorContains(t, err, "spec.networking.providerConfig of type cilium")
}
