package validation_test

import (
	"fmt"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/gardenet/validation"
	"github.com/trellis-garden/trellis/apis/networking"
)

const (
	ipv4 = gardencorev1beta1.IPFamilyIPv4
	ipv6 = gardencorev1beta1.IPFamilyIPv6

	header = `"apiVersion":"gardenet.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkConfig"`
)

func raw(fields string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: []byte(`{` + strings.Join(append([]string{header}, nonEmpty(fields)...), ",") + `}`)}
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

func TestValidateNetworkConfig(t *testing.T) {
	for sentence, test := range map[string]struct {
		config, infrastructure, want string
		families                     []gardencorev1beta1.IPFamily
	}{
		"nothing":                               {},
		"everything":                            {config: `"ipam":{"type":"host-local","cidr":"usePodCIDR"},"overlay":{"enabled":true,"vxlan":{"port":65535,"id":16777215}},"mtu":9216,"networkPolicy":{"established":"keep"}`},
		"another IPAM":                          {config: `"ipam":{"type":"dhcp"}`, want: `ipam.type: Unsupported value: "dhcp": write host-local, or remove the field`},
		"another range":                         {config: `"ipam":{"cidr":"10.0.0.0/8"}`, want: `ipam.cidr: Unsupported value: "10.0.0.0/8": write usePodCIDR, or remove the field`},
		"routes of nodes with the overlay":      {config: `"overlay":{"enabled":true,"createPodRoutes":true}`, want: `overlay.createPodRoutes: Forbidden: has an effect with the overlay off only`},
		"routes of nodes with the default":      {config: `"overlay":{"createPodRoutes":true}`, infrastructure: "local", want: `overlay.createPodRoutes: Forbidden: has an effect`},
		"no routes":                             {config: `"overlay":{"enabled":false}`, infrastructure: "local", want: `overlay.enabled: Invalid value: false: infrastructure "local" has no routes to pods: set it to true`},
		"routes of nodes where no cloud routes": {config: `"overlay":{"enabled":false,"createPodRoutes":true}`, infrastructure: "local"},
		"no port":                               {config: `"overlay":{"vxlan":{"port":0}}`, want: "overlay.vxlan.port: Invalid value: 0: choose a number from 1 to 65535, or remove the field"},
		"an ID that is too large":               {config: `"overlay":{"vxlan":{"id":16777216}}`, want: "overlay.vxlan.id: Invalid value: 16777216: choose a number from 1 to 16777215"},
		"the MTU is found out":                  {config: `"mtu":0`},
		"an MTU that is too small":              {config: `"mtu":1279`, want: "mtu: Invalid value: 1279: choose a number from 1280 to 9216, or 0 to let nodes find it out"},
		"a range":                               {config: `"masquerade":{"nonMasqueradeCIDRs":["10.0.0.0/8"]}`},
		"a range with host bits":                {config: `"masquerade":{"nonMasqueradeCIDRs":["10.0.0.1/8"]}`, want: `masquerade.nonMasqueradeCIDRs[0]: Invalid value: "10.0.0.1/8": is not in canonical form: write 10.0.0.0/8`},
		"an address":                            {config: `"masquerade":{"nonMasqueradeCIDRs":["10.0.0.1"]}`, want: `nonMasqueradeCIDRs[0]: Invalid value: "10.0.0.1": give a range in CIDR notation`},
		"a range twice":                         {config: `"masquerade":{"nonMasqueradeCIDRs":["10.0.0.0/8","10.0.0.0/8"]}`, want: `nonMasqueradeCIDRs[1]: Duplicate value: "10.0.0.0/8": remove one of the two`},
		"a range of another family":             {config: `"masquerade":{"nonMasqueradeCIDRs":["2001:db8::/32"]}`, want: `nonMasqueradeCIDRs[0]: Invalid value: "2001:db8::/32": the shoot has no IPv6: remove it`},
		"a range of the second family":          {config: `"masquerade":{"nonMasqueradeCIDRs":["2001:db8::/32"]}`, families: []gardencorev1beta1.IPFamily{ipv4, ipv6}},
		"a new way for connections":             {config: `"networkPolicy":{"established":"drop"}`, want: `networkPolicy.established: Unsupported value: "drop": write recheck or keep, or remove the field`},
		"a way for connections without effect":  {config: `"networkPolicy":{"enabled":false,"established":"keep"}`, want: `networkPolicy.established: Forbidden: has no effect where networkPolicy.enabled is false`},
		"a log of denied packets":               {config: `"logging":{"deniedPackets":{"enabled":true,"perSecond":1000}}`},
		"no log, and no policies":               {config: `"logging":{"deniedPackets":{"enabled":false}},"networkPolicy":{"enabled":false}`},
		"a log that is too long":                {config: `"logging":{"deniedPackets":{"enabled":true,"perSecond":1001}}`, want: `logging.deniedPackets.perSecond: Invalid value: 1001: choose a number from 1 to 1000, or remove the field`},
		"a log of nothing":                      {config: `"logging":{"deniedPackets":{"enabled":true}},"networkPolicy":{"enabled":false}`, want: `logging.deniedPackets.enabled: Forbidden: has no effect where networkPolicy.enabled is false`},
		"resources":                             {config: `"resources":{"node":{"requests":{"cpu":"20m"},"limits":{"memory":"1Gi"}}}`},
		"storage":                               {config: `"resources":{"node":{"limits":{"storage":"1Gi"}}}`, want: `resources.node.limits[storage]: Forbidden: only cpu and memory are possible: remove it`},
		"no memory":                             {config: `"resources":{"node":{"requests":{"memory":"0"}}}`, want: `resources.node.requests[memory]: Invalid value: "0": must be more than nothing`},
		"a request above the limit":             {config: `"resources":{"node":{"requests":{"memory":"2Gi"},"limits":{"memory":"1Gi"}}}`, want: `resources.node.requests[memory]: Invalid value: "2Gi": must be at most the limit, 1Gi`},
	} {
		t.Run(sentence, func(t *testing.T) {
			config, err := v1alpha1.DecodeNetworkConfig(raw(test.config))
			require.NoError(t, err)
			infrastructure := networking.InfrastructureOf(orElse(test.infrastructure, "aws"))
			errs := validation.ValidateNetworkConfig(config, test.families, infrastructure, field.NewPath("config"))
			if test.want == "" {
				require.Empty(t, errs)
				return
			}
			require.Len(t, errs, 1)
			assert.ErrorContains(t, errs[0], test.want)
		})
	}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func TestValidateNetworkConfig_NoTunnels(t *testing.T) {
	config := v1alpha1.NewNetworkConfig()
	config.Overlay = &v1alpha1.Overlay{Enabled: new(true)}
	errs := validation.ValidateNetworkConfig(config, nil, networking.Infrastructure{Type: "example", CloudRoutes: true}, field.NewPath("config"))
	require.Len(t, errs, 1)
	assert.ErrorContains(t, errs[0], `infrastructure "example" does not let VXLAN through: set it to false`)
}

func TestValidateNetworkConfig_ManyRanges(t *testing.T) {
	config := v1alpha1.NewNetworkConfig()
	config.Masquerade = &v1alpha1.Masquerade{}
	for i := range 101 {
		config.Masquerade.NonMasqueradeCIDRs = append(config.Masquerade.NonMasqueradeCIDRs, fmt.Sprintf("10.%d.0.0/16", i))
	}
	errs := validation.ValidateNetworkConfig(config, nil, networking.InfrastructureOf("aws"), field.NewPath("config"))
	require.Len(t, errs, 1)
	assert.ErrorContains(t, errs[0], "must have at most 100 items")
}

func TestDecodingErrors(t *testing.T) {
	_, err := v1alpha1.DecodeNetworkConfig(raw(`"gardenetCustomConfigField":"value","ipam":{"type":"host-local","cidr":"usePodCIDR"},"two":2`))
	errs := validation.DecodingErrors(field.NewPath("spec"), err)
	require.Len(t, errs, 2)
	assert.ErrorContains(t, errs[0], `unknown field "gardenetCustomConfigField": correct the name or remove the field; the fields are bandwidth, hostPorts, ipam, logging, `)
	assert.ErrorContains(t, errs[1], `unknown field "two"`)

	_, err = v1alpha1.DecodeNetworkConfig(raw(`"mtu":"large"`))
	errs = validation.DecodingErrors(field.NewPath("spec"), err)
	require.Len(t, errs, 1)
	assert.NotContains(t, errs[0].Detail, "the fields are")
}
