package examplenet

import (
	"encoding/json"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/golden"
	"github.com/trellis-garden/trellis/internal/network"
)

// exampleShoot returns a shoot with a configuration as users write it, without its header.
func exampleShoot(t *testing.T, fields string) *network.Shoot {
	t.Helper()
	vector, err := images.Read(ImageVector())
	require.NoError(t, err)
	object := &extensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one"}}
	object.Spec.ProviderConfig = &runtime.RawExtension{
		Raw: []byte(`{"apiVersion":"example-net.example.org/v1alpha1","kind":"NetworkConfig"` + fields + `}`),
	}
	return &network.Shoot{
		Network: object, Families: []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4}, PodRanges: []string{"100.96.0.0/11"},
		Image: images.ForKubernetesVersion(vector, "1.36.2"),
	}
}

func render(t *testing.T, shoot *network.Shoot) *network.Rendering {
	t.Helper()
	require.Empty(t, New().Validate(shoot))
	rendering, err := New().Render(shoot)
	require.NoError(t, err)
	return rendering
}

func TestDriver_Render(t *testing.T) {
	folder := golden.Open(t, "testdata/render")
	vxlan, agent := render(t, exampleShoot(t, "")), render(t, exampleShoot(t, `,"encapsulation":"ipip","agent":true,"routes":true`))
	folder.Check(t, "vxlan.yaml", golden.Manifest(t, vxlan.Shoot))
	folder.CheckDiff(t, "ipip-agent-routes.diff", "vxlan.yaml", golden.Manifest(t, agent.Shoot))
	folder.Check(t, "seed.yaml", golden.Manifest(t, vxlan.Seed))
}

func TestDriver_Capabilities(t *testing.T) {
	assert.Equal(t, network.Capabilities{
		ServiceRouting: "set spec.networking.providerConfig.agent to true", IPv6: true, DualStack: true,
	}, New().Capabilities(exampleShoot(t, "")))
	assert.True(t, New().Capabilities(exampleShoot(t, `,"agent":true`)).RoutesServices)
	assert.Zero(t, New().Capabilities(exampleShoot(t, `,"agent":1`)))
}

func TestDriver_Validate(t *testing.T) {
	for fields, want := range map[string]string{
		`,"encapsulation":"gre"`: `spec.networking.providerConfig.encapsulation: Unsupported value: "gre"`,
		`,"encapsulaton":"ipip"`: `spec.networking.providerConfig: Invalid value: decoding NetworkConfig: unknown field "encapsulaton"`,
	} {
		errs := New().Validate(exampleShoot(t, fields))
		require.Len(t, errs, 1, fields)
		assert.ErrorContains(t, errs[0], want)
	}
}

func TestDriver_Transition(t *testing.T) {
	before := render(t, exampleShoot(t, ""))
	shoot := exampleShoot(t, `,"encapsulation":"ipip","agent":true`)
	wanted := render(t, shoot)
	stage, err := New().Transition(shoot, wanted)
	require.NoError(t, err)
	assert.Nil(t, stage, "nothing is deployed")

	shoot.Deployed.Form, err = json.Marshal(before.Form)
	require.NoError(t, err)
	stage, err = New().Transition(shoot, wanted)
	require.NoError(t, err)
	require.NotNil(t, stage)
	assert.Equal(t, "accepting both encapsulations", stage.Name)
	assert.Equal(t, both(vxlan), stage.Rendering.Form)
	assert.Equal(t, network.Gate{Workloads: []network.Workload{
		{Kind: "DaemonSet", Namespace: "kube-system", Name: "example-net"}, {Kind: "Deployment", Namespace: "kube-system", Name: "example-net-agent"},
	}}, stage.Gate)
	assert.Len(t, stage.Rendering.Shoot, len(wanted.Shoot))

	shoot.Deployed.Form = json.RawMessage(`[]`)
	_, err = New().Transition(shoot, wanted)
	assert.ErrorContains(t, err, "decoding the deployed form")
}
