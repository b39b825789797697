package calico

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/json"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// installedNetwork is the configuration of the CNI plugin as its installer writes it.
func installedNetwork(t *testing.T, change func(*settings)) map[string]any {
	t.Helper()
	data := named[*corev1.ConfigMap](t, nodeOf(t, change), "calico-config").Data
	text := strings.NewReplacer(
		"__KUBERNETES_NODE_NAME__", "node-1", "__KUBECONFIG_FILEPATH__", "/etc/cni/net.d/calico-kubeconfig", "__CNI_MTU__", data["veth_mtu"],
	).Replace(data["cni_network_config"])
	require.NotContains(t, text, "__")
	var network map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &network), text)
	return network
}

func plugin(t *testing.T, network map[string]any, at int) map[string]any {
	t.Helper()
	plugins, ok := network["plugins"].([]any)
	require.True(t, ok)
	found, ok := plugins[at].(map[string]any)
	require.True(t, ok)
	return found
}

func TestCNIConfiguration(t *testing.T) {
	network := installedNetwork(t, func(s *settings) { s.config.VethMTU = new("1400") })
	assert.Equal(t, "k8s-pod-network", network["name"], "calico-ipam looks for host-local's addresses under this name")
	assert.Equal(t, "0.3.1", network["cniVersion"])
	require.Len(t, network["plugins"], 2)
	calico := plugin(t, network, 0)
	assert.Equal(t, "calico", calico["type"])
	assert.EqualValues(t, 1400, calico["mtu"], "a number")
	assert.Equal(t, "node-1", calico["nodename"])
	assert.Equal(t, map[string]any{"kubeconfig": "/etc/cni/net.d/calico-kubeconfig"}, calico["kubernetes"])
	assert.Equal(t, map[string]any{
		"type": "portmap", "snat": true, "capabilities": map[string]any{"portMappings": true},
	}, plugin(t, network, 1))
}

func TestCNIConfiguration_IPAM(t *testing.T) {
	subnet := func(of string) []any { return []any{map[string]any{"subnet": of}} }
	for sentence, test := range map[string]struct {
		change func(*settings)
		want   map[string]any
	}{
		"host-local from the node's range":      {nil, map[string]any{"type": "host-local", "subnet": "usePodCidr"}},
		"host-local from the node's IPv6 range": {withoutIPv4, map[string]any{"type": "host-local", "subnet": "usePodCidrIPv6"}},
		"host-local from both": {
			withIPv6, map[string]any{"type": "host-local", "ranges": []any{subnet("usePodCidr"), subnet("usePodCidrIPv6")}},
		},
		"host-local from both, IPv6 first": {
			all(withIPv6, func(s *settings) { s.ipv6First = true }),
			map[string]any{"type": "host-local", "ranges": []any{subnet("usePodCidrIPv6"), subnet("usePodCidr")}},
		},
		"host-local from a range of the user's": {
			func(s *settings) { s.config.IPAM.CIDR = new(calicov1alpha1.CIDR("100.100.0.0/16")) },
			map[string]any{"type": "host-local", "subnet": "100.100.0.0/16"},
		},
		"the node's range, however it is written": {
			func(s *settings) { s.config.IPAM.CIDR = new(calicov1alpha1.CIDR("usepodcidr")) },
			map[string]any{"type": "host-local", "subnet": "usePodCidr"},
		},
		"calico-ipam": {withVXLAN, map[string]any{"type": "calico-ipam", "assign_ipv4": "true", "assign_ipv6": "false"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, plugin(t, installedNetwork(t, test.change), 0)["ipam"])
		})
	}
}
