package network

import (
	"errors"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/observer"
)

// routingObserver knows the routing of a plugin, or nothing.
type routingObserver struct {
	routing *Routing
	err     error
}

func (o routingObserver) Routing(*extensionsv1alpha1.Network) (*Routing, error) {
	return o.routing, o.err
}

func TestObserve_Routing(t *testing.T) {
	vxlan := func(mtu int) *Routing {
		return &Routing{Encapsulation: "VXLAN", Overhead: 50, MTU: mtu, MTUField: "spec.networking.providerConfig.vethMTU"}
	}
	native := &Routing{CloudRoutes: true}
	const mtu, routes = ObservationMTU, ObservationRoutes
	for sentence, test := range map[string]struct {
		routing                *Routing
		infrastructure, config string
		families               []extensionsv1alpha1.IPFamily
		workers                []gardencorev1beta1.Worker
		observation            string
		healthy                bool
		// want is empty if the observation does not apply.
		want string
	}{
		"an MTU that fits": {
			routing: vxlan(1450), infrastructure: "azure", observation: mtu, healthy: true,
			want: "The cloud's network has an MTU of 1500 bytes, of which VXLAN takes 50. Pods have an MTU of 1450, and may have 1450.",
		},
		"an MTU that is too large by one byte": {
			routing: vxlan(1451), infrastructure: "azure", observation: mtu,
			want: "Pods have an MTU of 1451: packets of more than 1450 bytes do not reach other nodes. Set spec.networking.providerConfig.vethMTU to at most 1450, " +
				"or let the plugin detect it (0)",
		},
		"an MTU that the plugin detects": {
			routing: vxlan(0), infrastructure: "openstack", config: `{"networks":{"mtu":1400}}`, observation: mtu, healthy: true,
			want: "an MTU of 1400 bytes, of which VXLAN takes 50. The plugin detects the MTU of nodes, and pods have at most 1350.",
		},
		"too little is left for IPv6": {
			routing: vxlan(0), infrastructure: "openstack", config: `{"networks":{"mtu":1300}}`, observation: mtu,
			families: []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4, extensionsv1alpha1.IPFamilyIPv6},
			want:     "The 1250 that are left are fewer than the 1280 that IPv6 needs: increase the MTU of the network",
		},
		"the same is enough for IPv4": {
			routing: vxlan(0), infrastructure: "openstack", config: `{"networks":{"mtu":1300}}`, observation: mtu, healthy: true, want: "at most 1250",
		},
		"packets that are not encapsulated": {
			routing: &Routing{MTU: 1501}, infrastructure: "azure", observation: mtu, want: "an MTU of 1500 bytes. Pods have an MTU of 1501",
		},
		"a network whose MTU is not known":    {routing: vxlan(9000), infrastructure: "openstack", config: `{}`, observation: mtu},
		"a plugin of which nothing is known":  {infrastructure: "azure", observation: mtu},
		"routes of a plugin that is not ours": {infrastructure: "azure", observation: routes},
		"as many nodes as the table has room for": {
			routing: native, infrastructure: "azure", workers: pools(1000, ""), observation: routes, healthy: true,
			want: "A route table takes 1000 routes, and has room for those of 1000 nodes. The workers may have 1000 nodes at their maximum.",
		},
		"one node more while others are replaced": {
			routing: native, infrastructure: "azure", workers: pools(1000, "1"), observation: routes,
			want: "Pods of further nodes will not be reachable: use smaller or fewer workers, or encapsulate packets",
		},
		"a table with routes for others, and a quota that can be raised": {
			routing: native, infrastructure: "aws", workers: pools(496, ""), observation: routes,
			want: `A route table takes 500 routes, and has room for those of 495 nodes. The workers may have 496 nodes at their maximum. ` +
				`Pods of further nodes will not be reachable: raise the quota "Routes per route table"`,
		},
		"a cloud that routes IPv6 without routes": {
			routing: native, infrastructure: "aws", families: []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv6}, workers: pools(496, ""),
			observation: routes,
		},
		"the same with IPv4": {
			routing: native, infrastructure: "aws", workers: pools(496, ""), observation: routes, want: "room for those of 495 nodes",
			families: []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv6, extensionsv1alpha1.IPFamilyIPv4},
		},
		"jumbo frames on AWS, and a tunnel": {
			routing: vxlan(8951), infrastructure: "aws", config: `{"enableMTUCustomizer":false}`, observation: mtu, healthy: true, want: "may have 8951",
		},
		"nodes on AWS with small packets": {
			routing: vxlan(8951), infrastructure: "aws", config: `{}`, observation: mtu, want: "an MTU of 1460 bytes, of which VXLAN takes 50",
		},
		"a cloud without a limit":       {routing: native, infrastructure: "openstack", workers: pools(5000, ""), observation: routes},
		"packets that are encapsulated": {routing: vxlan(0), infrastructure: "azure", workers: pools(5000, ""), observation: routes},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := &gardencorev1beta1.Shoot{}
			shoot.Spec.Provider = gardencorev1beta1.Provider{Type: test.infrastructure, Workers: test.workers}
			if test.config != "" {
				shoot.Spec.Provider.InfrastructureConfig = &runtime.RawExtension{Raw: []byte(test.config)}
			}
			result := observe(routingObserver{routing: test.routing}, observer.Input[*extensionsv1alpha1.Network]{
				Object:  &extensionsv1alpha1.Network{Spec: extensionsv1alpha1.NetworkSpec{IPFamilies: test.families}},
				Cluster: &contract.Cluster{Shoot: shoot},
			})
			finding, found := result.Findings[test.observation]
			require.Equal(t, test.want != "", found)
			require.NoError(t, finding.Err)
			assert.Equal(t, test.healthy, finding.Healthy, finding.Message)
			assert.Contains(t, finding.Message, test.want)
		})
	}
}

func TestObserve_UnknownRouting(t *testing.T) {
	result := observe(routingObserver{err: errors.New("no JSON")}, observer.Input[*extensionsv1alpha1.Network]{
		Object: &extensionsv1alpha1.Network{}, Cluster: &contract.Cluster{Shoot: &gardencorev1beta1.Shoot{}},
	})
	require.Error(t, result.Findings[ObservationMTU].Err)
	require.Error(t, result.Findings[ObservationRoutes].Err)
	require.NoError(t, result.Findings[ObservationPodRange].Err)
}
