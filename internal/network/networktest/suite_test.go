package networktest_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/network"
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

func exampleImages(t *testing.T) images.Vector {
	t.Helper()
	vector, err := images.Read([]byte("images: [{name: example-net, repository: registry.example.org/example-net, tag: v1}]"))
	require.NoError(t, err)
	return vector
}

func exampleSubject(t *testing.T, driver network.Driver) networktest.Subject {
	t.Helper()
	change := func(from, to string) networktest.Change { return networktest.Change{From: from, To: to} }
	stays := networktest.Outcome{Refused: "it cannot be changed"}
	notNone := networktest.Outcome{Refused: "it cannot become none"}
	return networktest.Subject{
		Type: exampleType, Driver: driver, Images: exampleImages(t), CheckConnectivity: checkExampleConnectivity,
		Configurations: []networktest.Configuration{
			{Name: "vxlan"},
			{Name: "ipip, agent", ProviderConfig: newExampleConfig(exampleConfig{Encapsulation: "ipip", Agent: true}), Change: withoutKubeProxy},
			{Name: "vxlan, routes", ProviderConfig: newExampleConfig(exampleConfig{Routes: true})},
			{Name: "vxlan, two families", Families: []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4, extensionsv1alpha1.IPFamilyIPv6}},
			{Name: "none", ProviderConfig: newExampleConfig(exampleConfig{Encapsulation: "none"}), Infrastructure: "local"},
			{Name: "vxlan, local", Infrastructure: "local"},
		},
		Changes: map[networktest.Change]networktest.Outcome{
			change("none", "vxlan, local"): stays, change("vxlan, local", "none"): notNone,
		},
		Staged: []networktest.Change{change("vxlan", "ipip, agent"), change("vxlan", "vxlan, routes"), change("ipip, agent", "vxlan, two families")},
	}
}

func withoutKubeProxy(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}
}

func TestRun(t *testing.T) {
	t.Parallel()
	networktest.Run(t, apiServer.Get(t), exampleSubject(t, exampleNet{}))
}

func TestRunExploration(t *testing.T) {
	t.Parallel()
	networktest.RunExploration(t, apiServer.Get(t), exampleSubject(t, exampleNet{}), networktest.Change{From: "vxlan", To: "ipip, agent"}, contracttest.Options{})
}
