package seednode

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/json" // numbers are integers
	"sigs.k8s.io/yaml"
)

func TestDestinations(t *testing.T) {
	port := func(name string, number int32) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Port: number}
	}
	web := serviceAt("ns", "web", "10.0.0.2", port("http", 80), port("https", 443), corev1.ServicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP})
	down := serviceAt("ns", "down", "10.0.0.3", port("", 80))
	early := serviceAt("ns", "early", "10.0.0.4", port("", 80))
	early.Spec.PublishNotReadyAddresses = true
	simulated := serviceAt("ns", "simulated", "10.0.0.5", port("", 80))
	api := serviceAt("default", "kubernetes", "10.0.0.1", port("https", 443))
	gateway := serviceAt("istio-ingress", "gateway", "10.0.0.6", port("tls", 443), port("status", 15021))
	gateway.Spec.Selector = map[string]string{"app": gatewayApp}
	ports := map[string]int32{"http": 8080, "https": 8443, "dns": 53, "": 8080}
	view := newServiceView([]corev1.Service{web, down, early, simulated, api, gateway, serviceAt("ns", "headless", corev1.ClusterIPNone, port("", 80))},
		[]discoveryv1.EndpointSlice{
			sliceOf(&web, ports, endpoint("10.1.0.2", true), endpoint("10.1.0.3", true), endpoint("10.1.0.4", false)),
			sliceOf(&down, ports, endpoint("10.1.0.5", false)),
			sliceOf(&early, ports, endpoint("10.1.0.6", false)),
			sliceOf(&simulated, ports, endpoint("10.1.0.7", true)),
			sliceOf(&api, map[string]int32{"https": 6443}, endpoint("192.0.2.1", true)),
		}, func(e *discoveryv1.Endpoint) bool { return e.Addresses[0] != "10.1.0.7" })
	routes := []gatewayRoute{
		{hosts: []string{"api.one.example.org", "*.one.example.org"}, service: "web.ns", port: 443},
		{hosts: []string{"api.two.example.org"}, service: "down.ns", port: 80},
	}
	https := []string{"10.1.0.2:8443", "10.1.0.3:8443"}
	byHost := map[string][]string{"api.one.example.org": https, "*.one.example.org": https}
	assert.Equal(t, map[string]destinations{
		"10.0.0.1:443": {targets: []string{"127.0.0.1:6443"}},
		"10.0.0.2:80":  {targets: []string{"10.1.0.2:8080", "10.1.0.3:8080"}},
		"10.0.0.2:443": {targets: https},
		"10.0.0.4:80":  {targets: []string{"10.1.0.6:8080"}},
		"10.0.0.6:443": {byHost: byHost},
	}, view.destinations("127.0.0.1:6443", routes))
	assert.Len(t, view.addresses(), 6)
	assert.Equal(t, https, targetsFor(byHost, "api.one.example.org"))
	assert.Equal(t, https, targetsFor(byHost, "other.one.example.org"))
	assert.Empty(t, targetsFor(byHost, "a.b.one.example.org"))
}

func TestRoutesOf(t *testing.T) {
	content, err := yaml.YAMLToJSON([]byte(`
spec:
  hosts: [api.example.org]
  tls:
  - match:
    - {port: 443, sniHosts: [api.example.org, internal.example.org]}
    - {port: 443, sniHosts: [other.example.org]}
    route: [{destination: {host: kube-apiserver.ns.svc.cluster.local, port: {number: 443}}}]
  - match: [{sniHosts: [nowhere.example.org]}]
  http:
  - match: [{headers: {Connection: {exact: Upgrade}}}]
    route: [{destination: {host: upgrade.ns.svc.cluster.local, port: {number: 443}}}]
  - route: [{destination: {host: plain.ns.svc.cluster.local, port: {number: 8443}}}]
`))
	require.NoError(t, err)
	var virtualService map[string]any
	require.NoError(t, json.Unmarshal(content, &virtualService))
	assert.Equal(t, []gatewayRoute{
		{hosts: []string{"api.example.org", "internal.example.org", "other.example.org"}, service: "kube-apiserver.ns", port: 443},
		{hosts: []string{"api.example.org"}, service: "plain.ns", port: 8443},
	}, routesOf(virtualService))
	assert.Empty(t, routesOf(map[string]any{"spec": "broken"}))
}

func TestAPIServerAddress(t *testing.T) {
	for host, want := range map[string]string{
		"https://10.0.0.1:6443": "10.0.0.1:6443", "https://example.org": "example.org:443", "127.0.0.1:6443": "127.0.0.1:6443", "https://[::1]:6443/path": "[::1]:6443",
	} {
		got, err := apiServerAddress(host)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := apiServerAddress("https://[")
	assert.Error(t, err)
}
