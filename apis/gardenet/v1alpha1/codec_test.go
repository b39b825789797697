package v1alpha1_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
)

const header = `"apiVersion":"gardenet.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkConfig"`

func raw(fields string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: []byte(`{` + header + fields + `}`)}
}

func TestDecodeNetworkConfig(t *testing.T) {
	for sentence, test := range map[string]struct {
		raw  *runtime.RawExtension
		want v1alpha1.NetworkConfig
	}{
		"no document":  {raw: nil},
		"no field set": {raw: raw("")},
		"all fields": {
			raw: raw(`,"ipam":{"type":"host-local","cidr":"usePodCIDR"},"overlay":{"enabled":true,"createPodRoutes":false,"vxlan":{"port":4790,"id":7}},"mtu":1400,` +
				`"masquerade":{"enabled":true,"nonMasqueradeCIDRs":["10.0.0.0/8"]},"snatToUpstreamDNS":{"enabled":true},"networkPolicy":{"enabled":true,"established":"keep"},` +
				`"hostPorts":{"enabled":false},"bandwidth":{"enabled":false},"resources":{"node":{"requests":{"cpu":"20m"},"limits":{"memory":"1Gi"}}}`),
			want: v1alpha1.NetworkConfig{
				IPAM:              &v1alpha1.IPAM{Type: "host-local", CIDR: "usePodCIDR"},
				Overlay:           &v1alpha1.Overlay{Enabled: new(true), CreatePodRoutes: new(false), VXLAN: &v1alpha1.VXLAN{Port: new(4790), ID: new(7)}},
				MTU:               new(1400),
				Masquerade:        &v1alpha1.Masquerade{Enabled: new(true), NonMasqueradeCIDRs: []string{"10.0.0.0/8"}},
				SnatToUpstreamDNS: &v1alpha1.SnatToUpstreamDNS{Enabled: new(true)},
				NetworkPolicy:     &v1alpha1.NetworkPolicy{Enabled: new(true), Established: v1alpha1.EstablishedKeep},
				HostPorts:         &v1alpha1.Feature{Enabled: new(false)},
				Bandwidth:         &v1alpha1.Feature{Enabled: new(false)},
				Resources: &v1alpha1.Resources{Node: &v1alpha1.ComponentResources{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("20m")}, Limits: corev1.ResourceList{"memory": resource.MustParse("1Gi")},
				}},
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			config, err := v1alpha1.DecodeNetworkConfig(test.raw)
			require.NoError(t, err)
			test.want.TypeMeta = v1alpha1.NewNetworkConfig().TypeMeta
			assert.Equal(t, &test.want, config)
		})
	}
}

func TestDecodeNetworkConfig_Invalid(t *testing.T) {
	for sentence, test := range map[string]struct{ document, want string }{
		"the placeholder of Gardener's documentation": {`{` + header + `,"gardenetCustomConfigField":1}`, `unknown field "gardenetCustomConfigField"`},
		"a wrong type":               {`{` + header + `,"overlay":{"enabled":"yes"}}`, "overlay.enabled must be true or false"},
		"no kind":                    {`{"mtu":1400}`, "set apiVersion to gardenet.networking.extensions.gardener.cloud/v1alpha1 and kind to NetworkConfig"},
		"another kind":               {`{"apiVersion":"gardenet.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkStatus"}`, "kind to NetworkConfig"},
		"an MTU in quotes":           {`{` + header + `,"mtu":"1400"}`, "mtu must be a whole number"},
		"a quantity that is too big": {`{` + header + `,"resources":{"node":{"requests":{"cpu":"1e999999"}}}}`, "resources.node: "},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := v1alpha1.DecodeNetworkConfig(&runtime.RawExtension{Raw: []byte(test.document)})
			assert.ErrorContains(t, err, test.want)
		})
	}
	config, err := v1alpha1.DecodeKnownFields(raw(`,"mtu":1400,"gardenetCustomConfigField":1`))
	require.NoError(t, err)
	assert.Equal(t, 1400, *config.MTU)
}

func TestNetworkStatus(t *testing.T) {
	status := v1alpha1.NewNetworkStatus()
	status.Effective = v1alpha1.NewNetworkConfig()
	encoded, err := v1alpha1.Encode(status)
	require.NoError(t, err)
	decoded, err := v1alpha1.DecodeNetworkStatus(encoded)
	require.NoError(t, err)
	assert.Equal(t, status, decoded)
}

func TestFields(t *testing.T) {
	assert.Equal(t, []string{
		"bandwidth", "hostPorts", "ipam", "logging", "masquerade", "mtu", "networkPolicy", "overlay", "resources", "serviceRouting", "snatToUpstreamDNS",
	}, v1alpha1.Fields())
}

func TestExamples(t *testing.T) {
	paths, err := filepath.Glob("testdata/examples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		document, err := yaml.YAMLToJSON(content)
		require.NoError(t, err)
		_, err = v1alpha1.DecodeNetworkConfig(&runtime.RawExtension{Raw: document})
		assert.NoError(t, err, path)
	}
}
