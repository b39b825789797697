package gardenet

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/network/networktest"
)

// parallel is how many tests run at a time. Those of the suite spend most of it waiting.
const parallel = "14"

var apiServer contracttest.Shared

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(apiServer.Run(m))
}

// configured returns a configuration, with what the YAML says besides kind and version.
func configured(t *testing.T, name, infrastructure, config string, families ...extensionsv1alpha1.IPFamily) networktest.Configuration {
	t.Helper()
	provider := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(config), &provider.Object))
	provider.SetAPIVersion("gardenet.networking.extensions.gardener.cloud/v1alpha1")
	provider.SetKind("NetworkConfig")
	return networktest.Configuration{Name: name, Infrastructure: infrastructure, ProviderConfig: provider, Families: families}
}

// routed is a configuration of a shoot without kube-proxy.
func routed(c networktest.Configuration) networktest.Configuration {
	c.Change = func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}
	}
	return c
}

// checkConnectivity fails if a node does not accept what another one sends.
func checkConnectivity(nodes, _ []json.RawMessage) error {
	forms := make([]form, len(nodes))
	for i, raw := range nodes {
		if err := json.Unmarshal(raw, &forms[i]); err != nil {
			return err
		}
	}
	return place{nodes: forms}.check()
}

func suiteSubject(t *testing.T) networktest.Subject {
	t.Helper()
	change := func(from, to string) networktest.Change { return networktest.Change{From: from, To: to} }
	const again = "overlay.vxlan cannot be changed while nodes send packets through it"
	return networktest.Subject{
		Type: Type, Driver: New(), Images: vector(t), CheckConnectivity: checkConnectivity,
		Configurations: []networktest.Configuration{
			configured(t, "native", "openstack", `{overlay: {enabled: false, createPodRoutes: false}}`),
			configured(t, "overlay", "openstack", `{overlay: {enabled: true}}`),
			configured(t, "pod routes", "openstack", `{}`),
			configured(t, "another tunnel", "openstack", `{overlay: {enabled: true, vxlan: {port: 4790}}, mtu: 1400}`),
			configured(t, "two families", "openstack", `{overlay: {enabled: true}, networkPolicy: {enabled: false}}`, ipv4, ipv6),
			routed(configured(t, "no kube-proxy", "openstack", `{serviceRouting: {enabled: true}}`)),
			configured(t, "local", "local", `{}`),
			configured(t, "local, pod routes", "local", `{overlay: {enabled: false, createPodRoutes: true}}`),
		},
		Changes: map[networktest.Change]networktest.Outcome{
			change("overlay", "another tunnel"):      {Refused: again},
			change("another tunnel", "overlay"):      {Refused: again},
			change("two families", "another tunnel"): {Refused: again},
			change("another tunnel", "two families"): {Refused: again},
		},
		Staged: []networktest.Change{change("native", "overlay"), change("overlay", "native"), change("overlay", "pod routes"), change("no kube-proxy", "pod routes")},
	}
}

func TestNetworkSuite(t *testing.T) {
	t.Parallel()
	networktest.Run(t, apiServer.Get(t), suiteSubject(t))
}
