package calico

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

// -update writes the golden files instead of comparing with them.
var update = flag.Bool("update", false, "write golden files")

// checkGolden compares a text with what a file under testdata says that it is.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "%s differs, -update accepts it", golden)
}

// manifest writes objects one below the other, as users do.
func manifest(t *testing.T, objects []client.Object) string {
	t.Helper()
	documents := make([]string, 0, len(objects))
	for _, object := range objects {
		document, err := yaml.Marshal(object)
		require.NoError(t, err)
		documents = append(documents, string(document))
	}
	return strings.Join(documents, "---\n")
}

// testSettings are those of an ordinary shoot: IPv4 in IP-in-IP, Typha, and kube-proxy with iptables.
func testSettings(change func(*settings)) *settings {
	var given *calicov1alpha1.NetworkConfig
	config, _ := given.Default(calicov1alpha1.DefaultingContext{
		IPFamilies: []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4},
		IPIP:       true, VXLAN: true, VPA: true,
		NodeRanges: []netip.Prefix{netip.MustParsePrefix("10.250.0.0/16")},
	})
	s := &settings{
		config: config,
		form: form{
			IPAM: "host-local", Backend: "bird", IPIP: true, IPv4: &encapsulation{IPIP: "Always", VXLAN: "Never"},
			Typha: true, NodesUseTypha: true,
		},
		ipv4:                true,
		podRanges4:          []string{"100.96.0.0/11"},
		nodeRanges4:         []string{"10.250.0.0/16"},
		kubernetesVersion:   "1.36.2",
		namespace:           "shoot--dev--one",
		infrastructure:      network.Infrastructure{Type: "openstack", IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true, PodRoutes: true},
		kubeProxy:           true,
		kubeProxyMode:       gardencorev1beta1.ProxyModeIPTables,
		apiServerHost:       "api.one.dev.example.org",
		verticalAutoscaling: true,
		image:               func(name string) (string, error) { return "registry.example.org/" + name + ":v1", nil },
	}
	if change != nil {
		change(s)
	}
	return s
}
