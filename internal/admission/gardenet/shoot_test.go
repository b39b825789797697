package gardenet

import (
	"net/http"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
)

const (
	ipv4 = gardencorev1beta1.IPFamilyIPv4
	ipv6 = gardencorev1beta1.IPFamilyIPv6
)

func TestValidate(t *testing.T) {
	const configField = "spec.networking.providerConfig"
	const overlayOff, wrong = `{` + kind + `,"overlay":{"enabled":false}}`, `{` + kind + `,"mtu":1}`
	for sentence, test := range map[string]struct {
		shoot, old *gardencorev1beta1.Shoot
		fields     []string
		message    string
		warnings   []string
	}{
		"a new shoot that says nothing": {shoot: shootWith("")},
		"a new shoot as in Gardener's documentation": {
			shoot:  shootWith(`{` + kind + `,"gardenetCustomConfigField":"value","ipam":{"type":"host-local","cidr":"usePodCIDR"}}`),
			fields: []string{configField}, message: "the fields are bandwidth, hostPorts, ipam, logging",
		},
		"no kind":       {shoot: shootWith(`{}`), fields: []string{configField}, message: "set apiVersion to gardenet.networking.extensions.gardener.cloud/v1alpha1 and kind to NetworkConfig"},
		"no kube-proxy": {shoot: shootWith("", withoutKubeProxy), fields: []string{"spec.kubernetes.kubeProxy.enabled"}, message: "set spec.networking.providerConfig.serviceRouting.enabled to true, or leave kube-proxy enabled"},
		"no kube-proxy, but gardenet routes Services": {shoot: shootWith(`{`+kind+`,"serviceRouting":{"enabled":true}}`, withoutKubeProxy)},
		"kube-proxy, and gardenet routes Services": {
			shoot: shootWith(`{` + kind + `,"serviceRouting":{"enabled":true}}`), fields: []string{configField + ".serviceRouting.enabled"}, message: "kube-proxy routes Services already",
		},
		"several errors": {
			shoot: shootWith(`{`+kind+`,"mtu":1,"ipam":{"type":"dhcp"}}`, withoutKubeProxy), message: "write host-local",
			fields: []string{"spec.kubernetes.kubeProxy.enabled", configField + ".ipam.type", configField + ".mtu"},
		},
		"IPv6 on Azure": {shoot: shootWith("", withInfrastructure("azure"), withFamilies(ipv6)), fields: []string{"spec.networking.ipFamilies"}, message: "leave IPv6 out"},
		"no routes": {
			shoot: shootWith(overlayOff, withInfrastructure("local")), fields: []string{configField + ".overlay.enabled"}, message: "has no routes to pods",
		},
		"no policies": {
			shoot:    shootWith(`{` + kind + `,"networkPolicy":{"enabled":false}}`),
			warnings: []string{"networkPolicy.enabled is false: NetworkPolicies have no effect, neither those of users nor Gardener's own in kube-system"},
		},
		"too much": {
			shoot: shootWith(`{` + kind + `,"a":"` + strings.Repeat("a", 1<<20) + `"}`), fields: []string{configField}, message: "",
		},
		"another tunnel": {
			shoot: shootWith(`{` + kind + `,"overlay":{"enabled":true,"vxlan":{"port":4790}}}`), old: shootWith(`{` + kind + `,"overlay":{"enabled":true}}`),
			fields: []string{configField + ".overlay.vxlan"}, message: "set id to 1 and port to 8472 again",
		},
		"a change that leaves an old error":       {shoot: shootWith(wrong, withPurpose), old: shootWith(wrong)},
		"a change that brings an error in":        {shoot: shootWith(wrong), old: shootWith(""), fields: []string{configField + ".mtu"}, message: "choose a number"},
		"a shoot that gets its first workers":     {shoot: shootWith(wrong), old: shootWith(wrong, withoutWorkers), fields: []string{configField + ".mtu"}, message: "choose a number"},
		"a shoot that comes from another network": {shoot: shootWith(wrong), old: shootWith(wrong, withNetworkType(new("cilium"))), fields: []string{configField + ".mtu"}, message: "choose"},
		"no workers":               {shoot: shootWith(wrong, withoutWorkers)},
		"another network":          {shoot: shootWith(wrong, withNetworkType(new("cilium")))},
		"a network without a type": {shoot: shootWith(wrong, withNetworkType(nil))},
		"no network":               {shoot: shootWith("", withoutNetworking)},
		"what is being deleted":    {shoot: shootWith(wrong, beingDeleted), old: shootWith(overlayOff)},
	} {
		t.Run(sentence, func(t *testing.T) {
			response := callWebhook(t, validatingWebhook, test.shoot, test.old)
			require.Equal(t, test.warnings, response.Warnings)
			require.Equal(t, len(test.fields) == 0, response.Allowed, response.Result)
			if response.Allowed {
				return
			}
			require.EqualValues(t, http.StatusUnprocessableEntity, response.Result.Code)
			require.Contains(t, response.Result.Message, test.message)
			var fields []string
			for _, cause := range response.Result.Details.Causes {
				fields = append(fields, cause.Field)
			}
			require.Equal(t, test.fields, fields)
		})
	}
}
