package gardenet

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

func TestObserver_Routing(t *testing.T) {
	const mtuField = "spec.networking.providerConfig.mtu"
	for sentence, test := range map[string]struct {
		infrastructure, config string
		families               []extensionsv1alpha1.IPFamily
		want                   network.Routing
	}{
		"routes of the cloud":                {"aws", "", []extensionsv1alpha1.IPFamily{ipv4}, network.Routing{MTUField: mtuField, CloudRoutes: true}},
		"routes of nodes":                    {"openstack", "mtu: 1400", []extensionsv1alpha1.IPFamily{ipv4}, network.Routing{MTUField: mtuField, MTU: 1400}},
		"tunnels between addresses of IPv4":  {"local", "", []extensionsv1alpha1.IPFamily{ipv4, ipv6}, network.Routing{MTUField: mtuField, Encapsulation: "VXLAN", Overhead: 50}},
		"tunnels between addresses of IPv6":  {"local", "mtu: 1400", []extensionsv1alpha1.IPFamily{ipv6}, network.Routing{MTUField: mtuField, Encapsulation: "VXLAN", Overhead: 70, MTU: 1400}},
		"tunnels, while a cloud could route": {"azure", "overlay: {enabled: true}", []extensionsv1alpha1.IPFamily{ipv4}, network.Routing{MTUField: mtuField, Encapsulation: "VXLAN", Overhead: 50}},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := shootOn(t, test.infrastructure, test.config, withFamilies(test.families...))
			rendering, err := New().Render(shoot)
			require.NoError(t, err)
			shoot.Network.Status.ProviderStatus, err = v1alpha1.Encode(rendering.Status)
			require.NoError(t, err)
			routing, err := Observer{}.Routing(shoot.Network)
			require.NoError(t, err)
			assert.Equal(t, &test.want, routing)
		})
	}
}

func TestObserver_Routing_Unknown(t *testing.T) {
	object := &extensionsv1alpha1.Network{}
	routing, err := Observer{}.Routing(object)
	require.NoError(t, err)
	assert.Nil(t, routing)
	var raw *runtime.RawExtension
	raw, err = v1alpha1.Encode(v1alpha1.NewNetworkStatus())
	require.NoError(t, err)
	object.Status.ProviderStatus = raw
	routing, err = Observer{}.Routing(object)
	require.NoError(t, err)
	assert.Nil(t, routing)
	object.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"kind":"Other"}`)}
	_, err = Observer{}.Routing(object)
	assert.ErrorContains(t, err, "reading status.providerStatus")
}
