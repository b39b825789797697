package calico

import (
	"net/netip"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/golden"
	"github.com/trellis-garden/trellis/internal/network"
)

// checkManifest compares objects with a golden file, which is a diff if it has a base.
func checkManifest(t *testing.T, folder *golden.Folder, file, base string, objects []client.Object) {
	t.Helper()
	if base == "" {
		folder.Check(t, file, golden.Manifest(t, objects))
		return
	}
	folder.CheckDiff(t, file, base, golden.Manifest(t, objects))
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
		apiServerPort:       443,
		verticalAutoscaling: true,
		image:               func(name string) (string, error) { return "registry.example.org/" + name + ":v1", nil },
	}
	if change != nil {
		change(s)
	}
	return s
}
