package calico

import (
	"encoding/json"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/network"
)

// The infrastructures that differ for Calico, as the contract describes them.
func infrastructure(name string) network.Infrastructure {
	switch name {
	case "openstack":
		return network.Infrastructure{Type: name, IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true, PodRoutes: true}
	case "azure":
		return network.Infrastructure{Type: name, VXLAN: true, CloudRoutes: true}
	case "aws":
		return network.Infrastructure{Type: name, IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true, NativeIPv6: true}
	case "local":
		return network.Infrastructure{Type: name, IPIP: true, VXLAN: true, IPv6: true}
	default:
		return network.Infrastructure{Type: name, IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true}
	}
}

type variation func(*network.Shoot)

// shootOn is an ordinary shoot with the given configuration, in YAML, but for the variations.
func shootOn(t *testing.T, infrastructureType, config string, variations ...variation) *network.Shoot {
	t.Helper()
	vector, err := images.Read(ImageVector())
	require.NoError(t, err)
	const version = "1.36.2"
	shoot := &network.Shoot{
		Network: &extensionsv1alpha1.Network{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "one"},
			Spec: extensionsv1alpha1.NetworkSpec{
				DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: Type},
				PodCIDR:     "100.96.0.0/11", ServiceCIDR: "100.64.0.0/13",
				IPFamilies: []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4},
			},
		},
		TechnicalID:         "shoot--dev--one",
		KubernetesVersion:   version,
		Infrastructure:      infrastructure(infrastructureType),
		Families:            []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4},
		PodRanges:           []string{"100.96.0.0/11"},
		ServiceRanges:       []string{"100.64.0.0/13"},
		NodeRanges:          []string{"10.250.0.0/16"},
		KubeProxy:           network.KubeProxy{Enabled: true, Mode: gardencorev1beta1.ProxyModeIPTables},
		APIServerHost:       "api.one.dev.example.org",
		APIServerPort:       443,
		VerticalAutoscaling: true,
		Image:               images.ForKubernetesVersion(vector, version),
	}
	if config != "" {
		fields := map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(config), &fields))
		fields["apiVersion"], fields["kind"] = "calico.networking.extensions.gardener.cloud/v1alpha1", "NetworkConfig"
		raw, err := json.Marshal(fields)
		require.NoError(t, err)
		shoot.Network.Spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	}
	for _, vary := range variations {
		vary(shoot)
	}
	return shoot
}

func withFamilies(families ...extensionsv1alpha1.IPFamily) variation {
	return func(shoot *network.Shoot) {
		shoot.Families, shoot.Network.Spec.IPFamilies = families, families
		shoot.PodRanges, shoot.NodeRanges = nil, nil
		for _, family := range families {
			if family == extensionsv1alpha1.IPFamilyIPv4 {
				shoot.PodRanges = append(shoot.PodRanges, "100.96.0.0/11")
				shoot.NodeRanges = append(shoot.NodeRanges, "10.250.0.0/16")
			} else {
				shoot.PodRanges = append(shoot.PodRanges, "2001:db8:1::/48")
				shoot.NodeRanges = append(shoot.NodeRanges, "2001:db8:2::/64")
			}
		}
		shoot.Network.Spec.PodCIDR = shoot.PodRanges[0]
	}
}

func withProxyMode(mode gardencorev1beta1.ProxyMode) variation {
	return func(shoot *network.Shoot) { shoot.KubeProxy.Mode = mode }
}

// withoutKubeProxy leaves the mode as it is: Gardener gives it a default even then.
func withoutKubeProxy(shoot *network.Shoot) { shoot.KubeProxy.Enabled = false }

func withNodeRanges(ranges ...string) variation {
	return func(shoot *network.Shoot) { shoot.NodeRanges = ranges }
}

func withDeployed(t *testing.T, deployed form) variation {
	t.Helper()
	return func(shoot *network.Shoot) { shoot.Deployed = network.Deployed{Form: encoded(t, deployed)} }
}

func encoded(t *testing.T, deployed form) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(deployed)
	require.NoError(t, err)
	return raw
}

const (
	ipv4 = extensionsv1alpha1.IPFamilyIPv4
	ipv6 = extensionsv1alpha1.IPFamilyIPv6
)
