package network

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
)

func TestIncompatibilities(t *testing.T) {
	both, six := []extensionsv1alpha1.IPFamily{ipv4, ipv6}, []extensionsv1alpha1.IPFamily{ipv6}
	all := Capabilities{RoutesServices: true, IPv6: true, DualStack: true}
	for sentence, test := range map[string]struct {
		families       []extensionsv1alpha1.IPFamily
		infrastructure string
		noKubeProxy    bool
		can            Capabilities
		want           []string
	}{
		"a default shoot":                {},
		"a plugin with all capabilities": {families: both, noKubeProxy: true, can: all},
		"Services are not routed and cannot be": {
			noKubeProxy: true, can: Capabilities{IPv6: true, DualStack: true},
			want: []string{`spec.kubernetes.kubeProxy.enabled: Forbidden: without kube-proxy nobody routes Services, which network type "example-net" cannot: ` +
				`leave kube-proxy enabled`},
		},
		"Services are not routed but could be": {
			noKubeProxy: true, can: Capabilities{ServiceRouting: "set spec.networking.providerConfig.encapsulations to 4"},
			want: []string{`spec.kubernetes.kubeProxy.enabled: Forbidden: without kube-proxy nobody routes Services, which network type "example-net" does only when it is told to: ` +
				`set spec.networking.providerConfig.encapsulations to 4, or leave kube-proxy enabled`},
		},
		"the infrastructure does not support IPv6": {
			families: both, infrastructure: "azure", can: all,
			want: []string{`spec.networking.ipFamilies: Forbidden: pods cannot have addresses of IPv6 on infrastructure "azure": leave IPv6 out`},
		},
		"the plugin does not support IPv6": {
			families: six, can: Capabilities{DualStack: true},
			want: []string{`spec.networking.ipFamilies: Forbidden: network type "example-net", as it is configured, does not support IPv6: leave it out`},
		},
		"the plugin serves one family": {
			families: both, can: Capabilities{IPv6: true},
			want: []string{`spec.networking.ipFamilies: Forbidden: network type "example-net", as it is configured, serves one family only: choose one`},
		},
		"IPv6 alone is one family": {families: six, can: Capabilities{IPv6: true}},
		"all problems are reported at once": {
			families: both, noKubeProxy: true,
			want: []string{
				`spec.kubernetes.kubeProxy.enabled: Forbidden: without kube-proxy nobody routes Services, which network type "example-net" cannot: leave kube-proxy enabled`,
				`spec.networking.ipFamilies: Forbidden: network type "example-net", as it is configured, does not support IPv6: leave it out`,
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := &Shoot{
				Network: &extensionsv1alpha1.Network{}, Families: test.families, Infrastructure: networking.InfrastructureOf(test.infrastructure),
				KubeProxy: KubeProxy{Enabled: !test.noKubeProxy},
			}
			shoot.Network.Spec.Type = "example-net"
			var found []string
			for _, problem := range incompatibilities(shoot, test.can) {
				found = append(found, problem.Error())
			}
			assert.Equal(t, test.want, found)
		})
	}
}

func TestAdd_TypeWithoutDriver(t *testing.T) {
	err := Add(nil, map[string]Driver{"calico": nil}, images.Vector{}, contract.Options{Types: []string{"cilium"}})
	assert.EqualError(t, err, `no network driver for type "cilium"; there are: calico`)
}
