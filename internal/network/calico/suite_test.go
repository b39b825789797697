package calico

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/network"
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
func configured(t *testing.T, name, infrastructure, config string, changes ...func(*networktest.Configuration)) networktest.Configuration {
	t.Helper()
	provider := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(config), &provider.Object))
	provider.SetAPIVersion("calico.networking.extensions.gardener.cloud/v1alpha1")
	provider.SetKind("NetworkConfig")
	made := networktest.Configuration{Name: name, Infrastructure: infrastructure, ProviderConfig: provider}
	for _, change := range changes {
		change(&made)
	}
	return made
}

func withTwoFamilies(c *networktest.Configuration) {
	c.Families = []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4, extensionsv1alpha1.IPFamilyIPv6}
}

func withNoKubeProxy(c *networktest.Configuration) {
	c.Change = func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}
	}
}

// checkConnectivity tells whether all nodes can do with packets what the pools say.
func checkConnectivity(nodes, deployed []json.RawMessage) error {
	for _, rawPools := range deployed {
		for _, rawNode := range nodes {
			var pools, node form
			if err := json.Unmarshal(rawPools, &pools); err != nil {
				return err
			}
			if err := json.Unmarshal(rawNode, &node); err != nil {
				return err
			}
			if !canCarry(node, pools) {
				return fmt.Errorf("nodes like %s cannot do what pools like %s say", rawNode, rawPools)
			}
		}
	}
	return nil
}

func suiteSubject(t *testing.T) networktest.Subject {
	t.Helper()
	vector, err := images.Read(ImageVector())
	require.NoError(t, err)
	change := func(from, to string) networktest.Change { return networktest.Change{From: from, To: to} }
	sameAs := func(name string) networktest.Outcome { return networktest.Outcome{SameAs: name} }
	return networktest.Subject{
		Type: Type, Driver: New(), Images: vector, CheckConnectivity: checkConnectivity,
		Configurations: []networktest.Configuration{
			configured(t, "ipip", "openstack", `{}`),
			configured(t, "vxlan", "openstack", `{vxlan: {enabled: true}}`),
			configured(t, "native", "openstack", `{overlay: {enabled: false}}`),
			configured(t, "pod routes", "openstack", `{overlay: {enabled: false, createPodRoutes: true}}`),
			configured(t, "no typha", "openstack", `{typha: {enabled: false}}`),
			configured(t, "ebpf", "openstack", `{ebpfDataplane: {enabled: true}}`, withNoKubeProxy),
			configured(t, "two families", "openstack", `{overlay: {enabled: false}}`, withTwoFamilies),
			configured(t, "azure", "azure", `{overlay: {enabled: true}}`),
			configured(t, "native on azure", "azure", `{overlay: {enabled: false}}`),
		},
		// Addresses of calico-ipam stay.
		ExtraConfigurations: []networktest.Configuration{
			configured(t, "ipip, calico-ipam", "openstack", `{ipam: {type: calico-ipam}}`),
			configured(t, "native, calico-ipam", "openstack", `{overlay: {enabled: false}, ipam: {type: calico-ipam}}`),
			configured(t, "pod routes, calico-ipam", "openstack", `{overlay: {enabled: false, createPodRoutes: true}, ipam: {type: calico-ipam}}`),
			configured(t, "no typha, calico-ipam", "openstack", `{typha: {enabled: false}, ipam: {type: calico-ipam}}`),
			configured(t, "ebpf, calico-ipam", "openstack", `{ebpfDataplane: {enabled: true}, ipam: {type: calico-ipam}}`, withNoKubeProxy),
		},
		Changes: map[networktest.Change]networktest.Outcome{
			change("vxlan", "ipip"):       sameAs("ipip, calico-ipam"),
			change("vxlan", "native"):     sameAs("native, calico-ipam"),
			change("vxlan", "pod routes"): sameAs("pod routes, calico-ipam"),
			change("vxlan", "no typha"):   sameAs("no typha, calico-ipam"),
			change("vxlan", "ebpf"):       sameAs("ebpf, calico-ipam"),
			change("azure", "native on azure"): {
				Refused: "spec.networking.providerConfig.overlay.enabled cannot be false in a shoot whose pods have addresses of calico-ipam",
			},
			change("vxlan", "two families"): {Refused: "spec.networking.ipFamilies cannot contain IPv6 in a shoot whose pods have addresses of calico-ipam"},
		},
		Staged: []networktest.Change{change("ipip", "vxlan"), change("pod routes", "ipip"), change("no typha", "native")},
	}
}

// exampleNet is another plugin, and all that it takes to be one.
type exampleNet struct{}

func (exampleNet) Capabilities(*network.Shoot) network.Capabilities { return network.Capabilities{} }

func (exampleNet) Validate(*network.Shoot) field.ErrorList { return nil }

func (exampleNet) Render(*network.Shoot) (*network.Rendering, error) {
	configMap := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "fence"}, Data: map[string]string{"posts": "4"},
	}
	return &network.Rendering{Shoot: []client.Object{configMap}, Form: "wooden"}, nil
}

func (exampleNet) Transition(*network.Shoot, *network.Rendering) (*network.Stage, error) {
	return nil, nil
}

func TestRunSideBySide(t *testing.T) {
	t.Parallel()
	other := networktest.Subject{Type: "fence", Driver: exampleNet{}, Configurations: []networktest.Configuration{{Name: "wooden"}}}
	networktest.RunSideBySide(t, apiServer.Get(t), suiteSubject(t), other)
}

func TestNetworkSuite(t *testing.T) {
	t.Parallel()
	networktest.Run(t, apiServer.Get(t), suiteSubject(t))
}
