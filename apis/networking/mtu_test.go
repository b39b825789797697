package networking_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/networking"
)

func TestNetworkMTU(t *testing.T) {
	for sentence, test := range map[string]struct {
		infrastructure, config string
		want                   int
	}{
		"the cloud has one for all networks":       {"azure", "", 1500},
		"a network with an MTU of its own":         {"openstack", `{"networks":{"mtu":1400}}`, 1400},
		"a network whose MTU the cloud chooses":    {"openstack", `{"networks":{"workers":"10.250.0.0/16"}}`, 0},
		"no configuration":                         {"openstack", "", 0},
		"a cloud of which nothing is known":        {"ironcore", `{"networks":{"mtu":1400}}`, 0},
		"the configuration of another cloud's MTU": {"aws", `{"networks":{"mtu":1400},"enableMTUCustomizer":false}`, 9001},
		"no configuration on AWS":                  {"aws", "", 9001},
		"nodes on AWS that set a smaller one":      {"aws", `{"enableMTUCustomizer":true}`, 1460},
		"they do so by default":                    {"aws", `{"networks":{}}`, 1460},
	} {
		t.Run(sentence, func(t *testing.T) {
			var config *runtime.RawExtension
			if test.config != "" {
				config = &runtime.RawExtension{Raw: []byte(test.config)}
			}
			mtu, err := networking.NetworkMTU(test.infrastructure, config)
			require.NoError(t, err)
			require.Equal(t, test.want, mtu)
		})
	}
	_, err := networking.NetworkMTU("openstack", &runtime.RawExtension{Raw: []byte(`{"networks":{"mtu":"large"}}`)})
	require.ErrorContains(t, err, "reading spec.provider.infrastructureConfig of type openstack")
}
