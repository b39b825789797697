package networktest_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/network"
	"github.com/trellis-garden/trellis/internal/network/examplenet"
	"github.com/trellis-garden/trellis/internal/network/networktest"
)

// parallel is how many tests run at a time. They spend most of it waiting.
const parallel = "8"

var apiServer contracttest.Shared

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(apiServer.Run(m))
}

func exampleSubject(t *testing.T, driver network.Driver) networktest.Subject {
	t.Helper()
	vector, err := images.Read(examplenet.ImageVector())
	require.NoError(t, err)
	change := func(from, to string) networktest.Change { return networktest.Change{From: from, To: to} }
	stays := networktest.Outcome{Refused: "it cannot be changed"}
	notNone := networktest.Outcome{Refused: "it cannot become none"}
	return networktest.Subject{
		Type: examplenet.Type, Driver: driver, Images: vector, CheckConnectivity: checkConnectivity,
		Configurations: []networktest.Configuration{
			{Name: "vxlan"},
			{Name: "ipip, agent", ProviderConfig: config(map[string]any{"encapsulation": "ipip", "agent": true}), Change: withoutKubeProxy},
			{Name: "vxlan, routes", ProviderConfig: config(map[string]any{"routes": true})},
			{Name: "vxlan, two families", Families: []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4, extensionsv1alpha1.IPFamilyIPv6}},
			{Name: "none", ProviderConfig: config(map[string]any{"encapsulation": "none"}), Infrastructure: "local"},
			{Name: "vxlan, local", Infrastructure: "local"},
		},
		Changes: map[networktest.Change]networktest.Outcome{
			change("none", "vxlan, local"): stays, change("vxlan, local", "none"): notNone,
		},
		Staged: []networktest.Change{change("vxlan", "ipip, agent"), change("vxlan", "vxlan, routes"), change("ipip, agent", "vxlan, two families")},
	}
}

// config returns a configuration of the example plugin, as users write it.
func config(fields map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: fields}
	object.SetAPIVersion("example-net.example.org/v1alpha1")
	object.SetKind("NetworkConfig")
	return object
}

func withoutKubeProxy(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}
}

// exampleForm is the form of the example driver, as status.state has it.
type exampleForm struct {
	Accepts []string `json:"accepts"`
	Sends   string   `json:"sends"`
	Routes  bool     `json:"routes,omitempty"`
}

// checkConnectivity fails if a node does not accept what another one sends.
func checkConnectivity(nodes, _ []json.RawMessage) error {
	forms := make([]exampleForm, len(nodes))
	for i, raw := range nodes {
		if err := json.Unmarshal(raw, &forms[i]); err != nil {
			return err
		}
	}
	for _, from := range forms {
		for _, to := range forms {
			if !slices.Contains(to.Accepts, from.Sends) {
				return fmt.Errorf("packets in %s are sent to nodes that accept %s", from.Sends, to.Accepts)
			}
		}
	}
	return nil
}

func TestRun(t *testing.T) {
	t.Parallel()
	networktest.Run(t, apiServer.Get(t), exampleSubject(t, examplenet.New()))
}

func TestRunExploration(t *testing.T) {
	t.Parallel()
	networktest.RunExploration(t, apiServer.Get(t), exampleSubject(t, examplenet.New()), networktest.Change{From: "vxlan", To: "ipip, agent"}, contracttest.Options{})
}
