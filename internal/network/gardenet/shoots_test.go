package gardenet

import (
	"encoding/json"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/network"
)

const (
	ipv4 = extensionsv1alpha1.IPFamilyIPv4
	ipv6 = extensionsv1alpha1.IPFamilyIPv6
)

// routing is a configuration for a shoot without kube-proxy.
const routing = "serviceRouting: {enabled: true}"

type variation func(*network.Shoot)

// shootOn is an ordinary shoot with the given configuration, in YAML, but for the variations.
func shootOn(t *testing.T, infrastructureType, config string, variations ...variation) *network.Shoot {
	t.Helper()
	const version = "1.36.2"
	shoot := &network.Shoot{
		Network: &extensionsv1alpha1.Network{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "one"},
			Spec: extensionsv1alpha1.NetworkSpec{
				DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: Type},
				PodCIDR:     "100.96.0.0/11", ServiceCIDR: "100.64.0.0/13",
				IPFamilies: []extensionsv1alpha1.IPFamily{ipv4},
			},
		},
		TechnicalID:         "shoot--dev--one",
		KubernetesVersion:   version,
		Infrastructure:      networking.InfrastructureOf(infrastructureType),
		Families:            []extensionsv1alpha1.IPFamily{ipv4},
		PodRanges:           []string{"100.96.0.0/11"},
		ServiceRanges:       []string{"100.64.0.0/13"},
		NodeRanges:          []string{"10.250.0.0/16"},
		KubeProxy:           network.KubeProxy{Enabled: true, Mode: gardencorev1beta1.ProxyModeIPTables},
		VerticalAutoscaling: true,
		Image:               images.ForKubernetesVersion(vector(t), version),
	}
	if config != "" {
		fields := map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(config), &fields))
		fields["apiVersion"], fields["kind"] = "gardenet.networking.extensions.gardener.cloud/v1alpha1", "NetworkConfig"
		raw, err := json.Marshal(fields)
		require.NoError(t, err)
		shoot.Network.Spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	}
	for _, vary := range variations {
		vary(shoot)
	}
	return shoot
}

// vector has the images of a released driver.
func vector(t *testing.T) images.Vector {
	t.Helper()
	read, err := images.Read(ImageVector())
	require.NoError(t, err)
	return read.WithTrellisVersion("v0.1.0")
}

func withFamilies(families ...extensionsv1alpha1.IPFamily) variation {
	return func(shoot *network.Shoot) {
		shoot.Families, shoot.Network.Spec.IPFamilies = families, families
		shoot.PodRanges, shoot.ServiceRanges, shoot.NodeRanges = nil, nil, nil
		for _, family := range families {
			if family == ipv4 {
				shoot.PodRanges = append(shoot.PodRanges, "100.96.0.0/11")
				shoot.ServiceRanges = append(shoot.ServiceRanges, "100.64.0.0/13")
				shoot.NodeRanges = append(shoot.NodeRanges, "10.250.0.0/16")
			} else {
				shoot.PodRanges = append(shoot.PodRanges, "2001:db8:1::/48")
				shoot.ServiceRanges = append(shoot.ServiceRanges, "2001:db8:3::/108")
				shoot.NodeRanges = append(shoot.NodeRanges, "2001:db8:2::/64")
			}
		}
		shoot.Network.Spec.PodCIDR = shoot.PodRanges[0]
	}
}

func withoutKubeProxy(shoot *network.Shoot) {
	shoot.KubeProxy.Enabled, shoot.APIServerHost, shoot.APIServerPort = false, "api.one.dev.example.org", 443
}

func withoutVPA(shoot *network.Shoot) { shoot.VerticalAutoscaling = false }

func withDeployed(t *testing.T, deployed form, rolledOut bool) variation {
	t.Helper()
	raw, err := json.Marshal(deployed)
	require.NoError(t, err)
	return func(shoot *network.Shoot) { shoot.Deployed = network.Deployed{Form: raw, RolledOut: rolledOut} }
}

func decided(t *testing.T, shoot *network.Shoot) *settings {
	t.Helper()
	require.Empty(t, New().Validate(shoot))
	s, err := decide(shoot)
	require.NoError(t, err)
	return s
}
