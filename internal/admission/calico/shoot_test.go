package calico

import (
	"net/http"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
)

func TestValidate(t *testing.T) {
	const configField = "spec.networking.providerConfig"
	const overlayOff = `{"overlay":{"enabled":false}}`
	for sentence, test := range map[string]struct {
		shoot, old *gardencorev1beta1.Shoot
		fields     []string
		message    string
		warnings   []string
	}{
		"a new shoot that says nothing": {shoot: shootWith("")},
		"a new shoot":                   {shoot: shootWith(`{` + kind + `,"overlay":{"enabled":true},"vxlan":{"enabled":true}}`)},
		"a field that there is not": {
			shoot: shootWith(`{"overlays":{}}`), fields: []string{configField}, message: `unknown field "overlays": correct the name or remove the field`,
		},
		"several errors": {
			shoot:  shootWith(`{"backend":"bgp","vethMTU":"-1"}`, withoutKubeProxy),
			fields: []string{configField + ".backend", configField + ".vethMTU", "spec.kubernetes.kubeProxy.enabled"}, message: "write bird, none or vxlan",
		},
		"a wish that would not be fulfilled": {
			shoot: shootWith(`{"backend":"vxlan","ipv4":{"pool":"ipip"}}`), fields: []string{configField + ".backend"},
			message: "would be bird: nobody else makes routes for IP-in-IP: write that, or remove the field",
		},
		"what the overlay switch outranks, as manifests from upstream have it": {
			shoot: shootWith(`{"overlay":{"enabled":false,"createPodRoutes":true},"backend":"none","ipv4":{"mode":"Always"},"ipam":{"type":"host-local"}}`),
			warnings: []string{
				configField + ".backend is bird instead of none: overlay.enabled is false and overlay.createPodRoutes true",
				configField + ".ipv4.mode is Never instead of Always: overlay.enabled is false and overlay.createPodRoutes true",
			},
		},
		"IP-in-IP on Azure": {
			shoot: shootWith(`{"ipv4":{"pool":"ipip","mode":"Always"}}`, withInfrastructure("azure")), fields: []string{configField + ".ipv4.mode"},
			message: "the infrastructure does not let packets that are wrapped so through",
		},
		"IPv6 on Azure": {
			shoot: shootWith("", withInfrastructure("azure"), withFamilies(ipv6)), fields: []string{"spec.networking.ipFamilies"}, message: "leave IPv6 out",
		},
		"a way to find addresses": {
			shoot: shootWith(`{"ipAutodetectionMethod":"interface=eth0"}`),
			warnings: []string{
				configField + ".ipAutodetectionMethod is cidr=10.250.0.0/16 instead of interface=eth0: the ranges of the nodes are known",
			},
		},
		"a way to find addresses that was there": {
			shoot: shootWith(`{"ipAutodetectionMethod":"interface=eth0"}`, withPurpose), old: shootWith(`{"ipAutodetectionMethod":"interface=eth0"}`),
		},
		"a change that leaves an old error": {shoot: shootWith(`{"backend":"bgp"}`, withPurpose), old: shootWith(`{"backend":"bgp"}`)},
		"a change that brings an error in": {
			shoot: shootWith(`{"backend":"bgp"}`), old: shootWith(""), fields: []string{configField + ".backend"}, message: "write bird",
		},
		"a way that there is not": {
			shoot: shootWith(`{"ipam":{"type":"host-local"}}`), old: shootWith(`{"ipam":{"type":"calico-ipam"}}`),
			fields: []string{configField + ".ipam.type"}, message: "cannot go from calico-ipam back to host-local",
		},
		"a second family that nobody makes routes for": {
			shoot: shootWith("", withFamilies(ipv4, ipv6)), old: shootWith("", withFamilies(ipv4)),
			fields: []string{"spec.networking.ipFamilies"}, message: "cannot get a second family while nobody would make routes",
		},
		"a shoot that gets its first workers": {
			shoot: shootWith(`{"backend":"bgp"}`), old: shootWith(`{"backend":"bgp"}`, withoutWorkers), fields: []string{configField + ".backend"},
			message: "write bird",
		},
		"a shoot that comes from another network": {
			shoot: shootWith(`{"backend":"bgp"}`), old: shootWith(`{"backend":"bgp"}`, withNetworkType(new("cilium"))), fields: []string{configField + ".backend"},
			message: "write bird",
		},
		"no workers":               {shoot: shootWith(`{"backend":"bgp"}`, withoutWorkers)},
		"another network":          {shoot: shootWith(`{"backend":"bgp"}`, withNetworkType(new("cilium")))},
		"a network without a type": {shoot: shootWith(`{"backend":"bgp"}`, withNetworkType(nil))},
		"no network":               {shoot: shootWith("", withoutNetworking)},
		"what is being deleted":    {shoot: shootWith(`{"backend":"bgp"}`, beingDeleted), old: shootWith(overlayOff)},
	} {
		t.Run(sentence, func(t *testing.T) {
			response := callWebhook(t, defaultOptions(), validatingWebhook, test.shoot, test.old)
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

// The API server asks for defaults first. What they make of a shoot is never an error, unless the shoot had one.
func TestValidate_AcceptsDefaults(t *testing.T) {
	options := Options{OverlayOff: []string{"openstack", "aws", "azure", "local"}, PodRoutes: []string{"openstack", "aws"}}
	for _, infrastructure := range options.OverlayOff {
		for _, config := range []string{
			"", `{}`, `{"overlay":{"enabled":false}}`, `{"overlay":{"enabled":true}}`, `{"ipv4":{"autoDetectionMethod":"first-found"}}`, `{"vxlan":{"enabled":true}}`,
			`{"vxlan":{"enabled":false}}`, `{"ipam":{"type":"host-local"}}`, `{"ipam":{"type":"calico-ipam"}}`, `{"backend":"none"}`, `{"overlay":{"enabled":false},"snatToUpstreamDNS":{"enabled":true}}`,
		} {
			shoot := shootWith(config, withInfrastructure(infrastructure))
			require.NoError(t, options.setDefaults(shoot, nil))
			response := callWebhook(t, options, validatingWebhook, shoot, nil)
			require.True(t, response.Allowed, "%s on %s: %v", config, infrastructure, response.Result)
			requirePatch(t, "", options, shoot, nil)
		}
	}
}

func TestWebhooks_OtherRequests(t *testing.T) {
	for _, webhook := range Webhooks(defaultOptions()) {
		for sentence, change := range map[string]func(*admissionv1.AdmissionRequest){
			"a deletion":    func(request *admissionv1.AdmissionRequest) { request.Operation = admissionv1.Delete },
			"a subresource": func(request *admissionv1.AdmissionRequest) { request.SubResource = "status" },
			"another kind":  func(request *admissionv1.AdmissionRequest) { request.Kind.Kind = "Seed" },
		} {
			t.Run(webhook.Name+": "+sentence, func(t *testing.T) {
				request := requestFor(t, shootWith(`{"backend":"bgp"}`), nil)
				change(&request.AdmissionRequest)
				response := webhook.Handler.Handle(t.Context(), request)
				require.True(t, response.Allowed)
				require.Empty(t, response.Patch)
			})
		}
		t.Run(webhook.Name+": what is no shoot is told", func(t *testing.T) {
			request := requestFor(t, shootWith(""), nil)
			request.Object.Raw = []byte(`{"spec":[]}`)
			require.EqualValues(t, http.StatusBadRequest, webhook.Handler.Handle(t.Context(), request).Result.Code)
		})
	}
}

func TestValidate_ConfigTooLarge(t *testing.T) {
	large := shootWith(`{"padding":"` + strings.Repeat("a", 64<<10) + `"}`)
	for _, old := range []*gardencorev1beta1.Shoot{nil, shootWith(`{}`)} {
		response := callWebhook(t, defaultOptions(), validatingWebhook, large, old)
		require.Len(t, response.Result.Details.Causes, 1)
		require.Equal(t, "spec.networking.providerConfig", response.Result.Details.Causes[0].Field)
		require.Contains(t, response.Result.Message, "and may have 65536: shorten its lists and texts")
	}
	changed := large.DeepCopy()
	withFamilies(gardencorev1beta1.IPFamilyIPv4)(changed)
	require.True(t, callWebhook(t, defaultOptions(), validatingWebhook, changed, large).Allowed, "what is there already goes on")
}
