//go:build gardenet

package gardenet

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// loadBalancer4 is the address of a load balancer, which is routed to node a.
const loadBalancer4 = "198.51.100.1"

type serviceChange func(*corev1.Service)

// newService creates a Service of two families whose port 8000, by TCP and UDP, leads to port 80 of pods, as the controllers of a cluster do.
func (env *environment) newService(t *testing.T, name string, endpoints []string, changes ...serviceChange) *corev1.Service {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "y", Name: name},
		Spec: corev1.ServiceSpec{
			IPFamilyPolicy: new(corev1.IPFamilyPolicyRequireDualStack),
			Ports: []corev1.ServicePort{
				{Name: "tcp", Protocol: corev1.ProtocolTCP, Port: 8000, TargetPort: intstr.FromInt32(80)},
				{Name: "udp", Protocol: corev1.ProtocolUDP, Port: 8000, TargetPort: intstr.FromInt32(80)},
			},
		},
	}
	for _, change := range changes {
		change(service)
	}
	created, err := env.clients.CoreV1().Services("y").Create(t.Context(), service, metav1.CreateOptions{})
	require.NoError(t, err)
	for _, v6 := range []bool{false, true} {
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: "y", Name: fmt.Sprintf("%s-v6-%t", name, v6), Labels: map[string]string{discoveryv1.LabelServiceName: name}},
			AddressType: discoveryv1.AddressTypeIPv4,
			Ports: []discoveryv1.EndpointPort{
				{Name: new("tcp"), Protocol: new(corev1.ProtocolTCP), Port: new(int32(80))}, {Name: new("udp"), Protocol: new(corev1.ProtocolUDP), Port: new(int32(80))},
			},
		}
		if v6 {
			slice.AddressType = discoveryv1.AddressTypeIPv6
		}
		for _, key := range endpoints {
			p := env.pods[key]
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
				Addresses: []string{p.address(v6).String()}, NodeName: &p.node.name, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			})
		}
		_, err := env.clients.DiscoveryV1().EndpointSlices("y").Create(t.Context(), slice, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	return created
}

// clusterIP returns the address of a Service.
func clusterIP(t *testing.T, service *corev1.Service, v6 bool) netip.Addr {
	for _, text := range service.Spec.ClusterIPs {
		if address := netip.MustParseAddr(text); address.Is6() == v6 {
			return address
		}
	}
	require.Fail(t, "the Service has no address of the family")
	return netip.Addr{}
}

// servers returns how many of twenty connections each server gets.
func (p probe) servers(t *testing.T) map[netip.Addr]int {
	require.True(t, p.eventually(true), "%s port %d responds", p.to, p.port)
	servers := map[netip.Addr]int{}
	for range 20 {
		_, server := p.endsSeen(t)
		servers[server]++
	}
	return servers
}

func (env *environment) outside(t *testing.T) *namespace {
	file, err := currentNamespace()
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return &namespace{file: file}
}

// testServices starts routers, and reaches Services in all ways.
func testServices(t *testing.T, env *environment) {
	for _, name := range []string{"a", "b"} {
		env.nodes[name].startRouter(t)
		env.nodes[name].awaitRouter(t)
	}
	for _, part := range []struct {
		name string
		test func(*testing.T, *environment)
	}{
		{"ClusterIP", testClusterIP},
		{"NodePort", testNodePort},
		{"Affinity", testAffinity},
		{"NoEndpoints", testNoEndpoints},
		{"LoadBalancer", testLoadBalancer},
		{"Local", testLocalTrafficPolicy},
		{"Policy", testPolicyBehindService},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, env) })
	}
}

// testClusterIP reaches a Service from pods and nodes, its own endpoints included.
func testClusterIP(t *testing.T, env *environment) {
	service := env.newService(t, "cluster-ip", []string{"y/a", "y/b"})
	sources := map[string]*namespace{"node a": env.nodes["a"].namespace}
	for key, p := range env.pods {
		sources["pod "+key] = p.namespace
	}
	for name, from := range sources {
		for _, v6 := range []bool{false, true} {
			for _, protocol := range []string{"tcp", "udp"} {
				assert.True(t, probe{from, protocol, clusterIP(t, service, v6), 8000}.eventually(true), "%s reaches the Service by %s, IPv6 %t", name, protocol, v6)
			}
		}
	}
	for _, v6 := range []bool{false, true} {
		reached := probe{env.pods["x/a"].namespace, "tcp", clusterIP(t, service, v6), 8000}.servers(t)
		assert.Len(t, reached, 2, "connections are spread over both endpoints")
		source := probe{env.pods["x/a"].namespace, "tcp", clusterIP(t, service, v6), 8000}.sourceSeen(t)
		assert.Equal(t, env.pods["x/a"].address(v6), source, "endpoints see the pod")
	}
}

// testNodePort reaches a Service from outside of the cluster, at both nodes.
func testNodePort(t *testing.T, env *environment) {
	service := env.newService(t, "node-port", []string{"y/b"}, func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeNodePort })
	for _, address := range []string{"10.250.0.11", "10.250.0.12", "fd00:250::11", "fd00:250::12"} {
		for i, protocol := range []string{"tcp", "udp"} {
			p := probe{env.outside(t), protocol, netip.MustParseAddr(address), int(service.Spec.Ports[i].NodePort)}
			assert.True(t, p.eventually(true), "%s by %s", address, protocol)
		}
	}
}

// testAffinity sends connections of a client to one endpoint.
func testAffinity(t *testing.T, env *environment) {
	service := env.newService(t, "affinity", []string{"y/a", "y/b"}, func(s *corev1.Service) { s.Spec.SessionAffinity = corev1.ServiceAffinityClientIP })
	for _, v6 := range []bool{false, true} {
		assert.Len(t, probe{env.pods["x/b"].namespace, "tcp", clusterIP(t, service, v6), 8000}.servers(t), 1)
	}
}

// testNoEndpoints refuses connections at once.
func testNoEndpoints(t *testing.T, env *environment) {
	service := env.newService(t, "no-endpoints", nil)
	for _, v6 := range []bool{false, true} {
		p := probe{env.pods["x/a"].namespace, "tcp", clusterIP(t, service, v6), 8000}
		// A socket that is still busy with its first packet hears only of the rejection of the second, a second later.
		assert.Eventually(t, func() bool { return errors.Is(p.exchange(5*time.Second), syscall.ECONNREFUSED) }, timeout, 100*time.Millisecond, "IPv6 %t", v6)
	}
}

// testLoadBalancer lets only the ranges of a Service in.
func testLoadBalancer(t *testing.T, env *environment) {
	outside := env.outside(t)
	require.NoError(t, exec.CommandContext(t.Context(), "ip", "route", "replace", loadBalancer4+"/32", "via", "10.250.0.11").Run())
	service := env.newService(t, "load-balancer", []string{"y/a", "y/b"}, func(s *corev1.Service) {
		s.Spec.Type, s.Spec.LoadBalancerSourceRanges = corev1.ServiceTypeLoadBalancer, []string{"203.0.113.0/24"}
		s.Spec.Ports = s.Spec.Ports[:1]
	})
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: loadBalancer4}}
	service, err := env.clients.CoreV1().Services("y").UpdateStatus(t.Context(), service, metav1.UpdateOptions{})
	require.NoError(t, err)
	at := probe{outside, "tcp", netip.MustParseAddr(loadBalancer4), 8000}
	assert.True(t, probe{outside, "tcp", netip.MustParseAddr("10.250.0.11"), int(service.Spec.Ports[0].NodePort)}.eventually(true), "the rules are there")
	assert.False(t, at.try(blockedAfter), "the client is in no range")
	service.Spec.LoadBalancerSourceRanges = []string{"10.250.0.0/24"}
	_, err = env.clients.CoreV1().Services("y").Update(t.Context(), service, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.True(t, at.eventually(true), "the client is in a range")
}

// testLocalTrafficPolicy keeps the client's address, and tells load balancers which nodes have endpoints.
func testLocalTrafficPolicy(t *testing.T, env *environment) {
	outside := env.outside(t)
	service := env.newService(t, "local", []string{"y/b"}, func(s *corev1.Service) {
		s.Spec.Type, s.Spec.ExternalTrafficPolicy = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal
	})
	for _, address := range []string{"10.250.0.12", "fd00:250::12"} {
		p := probe{outside, "tcp", netip.MustParseAddr(address), int(service.Spec.Ports[0].NodePort)}
		require.True(t, p.eventually(true), address)
		assert.Contains(t, []string{"10.250.0.1", "fd00:250::1"}, p.sourceSeen(t).String(), "the endpoint sees the client")
	}
	for address, want := range map[string]int{"10.250.0.11": http.StatusServiceUnavailable, "10.250.0.12": http.StatusOK} {
		url := "http://" + net.JoinHostPort(address, strconv.Itoa(int(service.Spec.HealthCheckNodePort))) + "/healthz"
		assert.Eventually(t, func() bool {
			response, err := http.Get(url)
			if err != nil {
				return false
			}
			_ = response.Body.Close()
			return response.StatusCode == want
		}, timeout, 100*time.Millisecond, address)
		assert.NoError(t, env.outside(t).responds("http://"+address+":10256/healthz")(t.Context()), "load balancers learn that the node routes Services")
	}
	assert.False(t, probe{outside, "tcp", netip.MustParseAddr("10.250.0.11"), int(service.Spec.Ports[0].NodePort)}.try(blockedAfter), "no endpoint on that node")
}

// testPolicyBehindService shows that the policies of endpoints hold for connections to their Service.
func testPolicyBehindService(t *testing.T, env *environment) {
	service, err := env.clients.CoreV1().Services("y").Get(t.Context(), "cluster-ip", metav1.GetOptions{})
	require.NoError(t, err)
	env.setPolicies(t, withIngress(policy("y", "from-y", networkingv1.PolicyTypeIngress), "y", corev1.ProtocolTCP, intstr.FromInt32(80)))
	defer env.setPolicies(t)
	for _, v6 := range []bool{false, true} {
		for _, node := range []string{"a", "b"} {
			forbidden := probe{env.pods["x/"+node].namespace, "tcp", clusterIP(t, service, v6), 8000}
			assert.True(t, forbidden.eventually(false), "x/%s is not allowed, IPv6 %t", node, v6)
			for range 4 { // whichever endpoint
				assert.False(t, forbidden.try(blockedAfter), "x/%s is not allowed, IPv6 %t", node, v6)
			}
			assert.True(t, probe{env.pods["y/"+node].namespace, "tcp", clusterIP(t, service, v6), 8000}.eventually(true), "y/%s is allowed, IPv6 %t", node, v6)
		}
	}
}

// testServiceRouter kills a router, starts another one, and takes rules away from it.
func testServiceRouter(t *testing.T, env *environment) {
	service := env.newService(t, "flow", []string{"y/b"}, func(s *corev1.Service) {
		s.Spec.Ports[0].Port, s.Spec.Ports[1].Port = 80, 80 // that of flows
	})
	a := env.nodes["a"]
	reached := probe{env.pods["x/a"].namespace, "tcp", clusterIP(t, service, false), 80}
	require.True(t, reached.eventually(true))
	flows := []*flow{startFlow(t, env.pods["x/a"], "tcp", clusterIP(t, service, false)), startFlow(t, env.pods["x/a"], "tcp", clusterIP(t, service, true))}
	awaitEchoes := func() {
		for _, f := range flows {
			f.awaitEcho(t)
		}
	}
	awaitEchoes()
	before := a.serviceRules(t)
	require.Contains(t, before, "cluster-ips")
	memory, err := a.router.Memory()
	require.NoError(t, err)
	t.Logf("memory of a router: %+v", memory)

	a.killRouter()
	assert.True(t, reached.try(timeout), "the rules stay without a router")
	awaitEchoes()
	a.startRouter(t)
	a.awaitRouter(t)
	assert.Equal(t, before, a.serviceRules(t), "another router makes the same rules")
	awaitEchoes()
	a.endRouter(t)
	assert.Equal(t, before, a.serviceRules(t), "a router withdraws nothing when it ends")

	a.startRouter(t)
	a.awaitRouter(t)
	for _, command := range []string{"delete table ip kube-proxy", "flush chain ip6 kube-proxy services"} {
		time.Sleep(2 * time.Second) // it has seen its rules
		require.NoError(t, a.nft(t, command))
		assert.Eventually(t, func() bool { return a.serviceRules(t) == before }, timeout, 100*time.Millisecond, "after %s", command)
	}
	assert.True(t, reached.eventually(true))
	awaitEchoes()
	testLeftovers(t, a)
	assert.True(t, reached.try(timeout))
}

// testLeftovers removes kube-proxy's chains of iptables, and no others.
func testLeftovers(t *testing.T, n *node) {
	for _, command := range []string{
		"add table ip nat", "add chain ip nat PREROUTING { type nat hook prerouting priority dstnat ; }", "add chain ip nat KUBE-SERVICES", "add chain ip nat KUBE-SVC-A",
		"add chain ip nat KUBE-KUBELET-CANARY", "add rule ip nat KUBE-SERVICES ip daddr 100.64.9.9 jump KUBE-SVC-A", "add rule ip nat KUBE-SVC-A counter",
		"add rule ip nat PREROUTING counter jump KUBE-SERVICES", "add rule ip nat PREROUTING counter accept",
	} {
		require.NoError(t, n.nft(t, command))
	}
	listing := func() string {
		var output []byte
		require.NoError(t, n.do(func() (err error) {
			output, err = exec.CommandContext(t.Context(), "nft", "list", "table", "ip", "nat").Output()
			return err
		}))
		return string(output)
	}
	assert.Eventually(t, func() bool { return !strings.Contains(listing(), "KUBE-S") }, timeout, 100*time.Millisecond)
	assert.Contains(t, listing(), "KUBE-KUBELET-CANARY")
	assert.Contains(t, listing(), "accept")
	require.NoError(t, n.nft(t, "delete table ip nat"))
}

// testHandOver switches kube-proxy on again: each node routes Services by at least one of both.
func testHandOver(t *testing.T, env *environment) {
	a, b := env.nodes["a"], env.nodes["b"]
	service, err := env.clients.CoreV1().Services("y").Get(t.Context(), "flow", metav1.GetOptions{})
	require.NoError(t, err)
	reached := probe{env.pods["x/a"].namespace, "tcp", clusterIP(t, service, false), 80}
	for _, n := range []*node{a, b} {
		n.endRouter(t)
		n.startRouter(t, "--hand-over")
	}
	time.Sleep(time.Second)
	assert.Error(t, a.responds(routerReady)(t.Context()), "kube-proxy does not run")
	assert.True(t, reached.try(timeout))
	assert.Error(t, a.responds(routerHealth)(t.Context()), "kube-proxy gets its port")

	proxies := map[*node]*fakeKubeProxy{a: a.startFakeKubeProxy(t, "iptables"), b: b.startFakeKubeProxy(t, "nftables")}
	// In this mode kube-proxy begins with that.
	require.Eventually(t, func() bool { return a.serviceRules(t) != "" }, timeout, 100*time.Millisecond)
	require.NoError(t, a.nft(t, "delete table ip kube-proxy"))
	assert.True(t, reached.eventually(true), "the router restores rules until kube-proxy has its own")
	assert.Error(t, a.responds(routerReady)(t.Context()), "kube-proxy has no rules yet")
	before := b.serviceRules(t)
	for n, proxy := range proxies {
		proxy.synced.Store(true)
		n.awaitRouter(t)
	}
	assert.Empty(t, a.serviceRules(t), "kube-proxy routes by iptables")
	assert.Equal(t, before, b.serviceRules(t), "kube-proxy uses the same tables")
	for n, proxy := range proxies {
		n.endRouter(t)
		proxy.stop()
		n.startRouter(t)
		n.awaitRouter(t)
	}
	assert.True(t, reached.eventually(true), "the router routes again without kube-proxy")
}
