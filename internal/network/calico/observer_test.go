package calico

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/network"
)

func TestObserver_Routing(t *testing.T) {
	const field = "spec.networking.providerConfig.vethMTU"
	for sentence, test := range map[string]struct {
		effective string
		families  []extensionsv1alpha1.IPFamily
		want      network.Routing
	}{
		"IP-in-IP": {
			effective: `{"backend":"bird","ipv4":{"pool":"ipip","mode":"Always"},"vethMTU":"1440"}`,
			want:      network.Routing{Encapsulation: "IP-in-IP", Overhead: 20, MTU: 1440, MTUField: field},
		},
		"IP-in-IP between subnets": {
			effective: `{"backend":"bird","ipv4":{"pool":"ipip","mode":"CrossSubnet"},"vethMTU":"0"}`,
			want:      network.Routing{Encapsulation: "IP-in-IP", Overhead: 20, MTUField: field},
		},
		"VXLAN": {
			effective: `{"backend":"vxlan","overlay":{"enabled":true},"ipv4":{"pool":"vxlan","mode":"Always"},"vethMTU":"0"}`,
			want:      network.Routing{Encapsulation: "VXLAN", Overhead: 50, MTUField: field},
		},
		"routes of the cloud": {
			effective: `{"backend":"none","overlay":{"enabled":false},"ipv4":{"pool":"ipip","mode":"Never"},"vethMTU":"0"}`,
			want:      network.Routing{CloudRoutes: true, MTUField: field},
		},
		"routes of the nodes": {
			effective: `{"backend":"bird","overlay":{"enabled":false,"createPodRoutes":true},"ipv4":{"pool":"ipip","mode":"Never"},"vethMTU":"0"}`,
			want:      network.Routing{MTUField: field},
		},
		"no tunnel, by the mode alone": {
			effective: `{"backend":"none","ipv4":{"pool":"ipip","mode":"Never"},"vethMTU":"0"}`, want: network.Routing{MTUField: field},
		},
		"WireGuard has the largest header": {
			effective: `{"backend":"bird","ipv4":{"pool":"ipip","mode":"Always"},"wireguardEncryption":true,"vethMTU":"0"}`,
			want:      network.Routing{Encapsulation: "WireGuard", Overhead: 60, MTUField: field},
		},
		"WireGuard of two families": {
			effective: `{"backend":"none","ipv4":{"mode":"Never"},"ipv6":{"mode":"Never"},"wireguardEncryption":true,"vethMTU":"0"}`,
			families:  []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4, extensionsv1alpha1.IPFamilyIPv6},
			want:      network.Routing{Encapsulation: "WireGuard", Overhead: 80, MTUField: field},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			routing, err := Observer{}.Routing(observed(`{"effective":`+test.effective+`,`, test.families...))
			require.NoError(t, err)
			assert.Equal(t, &test.want, routing)
		})
	}
}

func TestObserver_RoutingUnknown(t *testing.T) {
	for sentence, object := range map[string]*extensionsv1alpha1.Network{
		"no status":              {},
		"a status of upstream's": observed(`{`),
	} {
		t.Run(sentence, func(t *testing.T) {
			routing, err := Observer{}.Routing(object)
			require.NoError(t, err)
			assert.Nil(t, routing)
		})
	}
	_, err := Observer{}.Routing(observed(`{"effective":{"vethMTU":"much"},`))
	assert.ErrorContains(t, err, "reading vethMTU of status.providerStatus")
}

// observed is a Network with a provider status, of which fields are the first, up to the next one.
func observed(fields string, families ...extensionsv1alpha1.IPFamily) *extensionsv1alpha1.Network {
	object := &extensionsv1alpha1.Network{Spec: extensionsv1alpha1.NetworkSpec{IPFamilies: families}}
	object.Status.ProviderStatus = &runtime.RawExtension{
		Raw: []byte(fields + `"apiVersion":"calico.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkStatus"}`),
	}
	return object
}
