package seednode

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// serviceAt returns a Service with a ClusterIP and ports.
func serviceAt(namespace, name, ip string, ports ...corev1.ServicePort) corev1.Service {
	return corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.ServiceSpec{ClusterIP: ip, Ports: ports}}
}

func externalName(namespace, name, to string) corev1.Service {
	service := serviceAt(namespace, name, "")
	service.Spec.Type, service.Spec.ExternalName = corev1.ServiceTypeExternalName, to
	return service
}

// sliceOf returns the endpoints of a Service at ports.
func sliceOf(service *corev1.Service, ports map[string]int32, endpoints ...discoveryv1.Endpoint) discoveryv1.EndpointSlice {
	slice := discoveryv1.EndpointSlice{Endpoints: endpoints}
	slice.Namespace, slice.Labels = service.Namespace, map[string]string{discoveryv1.LabelServiceName: service.Name}
	for name, port := range ports {
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &name, Port: &port})
	}
	return slice
}

func endpoint(address string, ready bool) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}
}

func all(*discoveryv1.Endpoint) bool { return true }

func TestNames(t *testing.T) {
	headless := serviceAt("b", "etcd", corev1.ClusterIPNone)
	first := endpoint("10.1.0.9", true)
	first.Hostname = new("etcd-0")
	view := newServiceView([]corev1.Service{
		externalName("a", "address", "192.0.2.1"), externalName("a", "api", "kubernetes.default.svc.cluster.local."), externalName("a", "nowhere", "example.org"),
		externalName("a", "registry", "other.example.org"),
		serviceAt("default", "kubernetes", "10.0.0.1"), headless,
	}, []discoveryv1.EndpointSlice{sliceOf(&headless, nil, first, endpoint("10.1.0.8", false))}, all)
	names := view.names(localhost + "192.0.2.7 registry.example.org other.example.org\n")
	assert.Equal(t, `192.0.2.1 address.a address.a.svc address.a.svc.cluster.local
10.0.0.1 api.a api.a.svc api.a.svc.cluster.local
192.0.2.7 registry.a registry.a.svc registry.a.svc.cluster.local
10.1.0.9 etcd-0.etcd.b etcd-0.etcd.b.svc etcd-0.etcd.b.svc.cluster.local
10.1.0.9 etcd.b etcd.b.svc etcd.b.svc.cluster.local
10.0.0.1 kubernetes.default kubernetes.default.svc kubernetes.default.svc.cluster.local
`, names.text)

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod"}}
	pod.Spec.HostAliases = []corev1.HostAlias{{IP: "10.0.0.7", Hostnames: []string{"one.example.org", "two.example.org"}}}
	assert.Equal(t, `127.0.0.1 localhost
::1 localhost
10.0.0.7 one.example.org two.example.org
10.1.0.3 pod
10.0.0.1 kubernetes kubernetes.default kubernetes.default.svc kubernetes.default.svc.cluster.local
`, podHosts(pod, "10.1.0.3", view.only("default", "kubernetes").names("")))
}

// only returns a view of one Service.
func (v *serviceView) only(namespace, name string) *serviceView {
	for _, service := range v.services {
		if service.Namespace == namespace && service.Name == name {
			return newServiceView([]corev1.Service{service}, nil, v.runs)
		}
	}
	return nil
}

func TestWriteHosts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	s := &services{node: &node{Config: Config{Hosts: path}}}
	require.NoError(t, s.writeHosts("10.0.0.1 kubernetes.default\n10.0.0.2 other.default\n"))
	read := func() string {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(content)
	}
	assert.Equal(t, localhost+marker+"10.0.0.1 kubernetes.default\n10.0.0.2 other.default\n", read())

	require.NoError(t, os.WriteFile(path, []byte("192.0.2.1 registry.example.org\n"+read()), 0o600))
	before, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, s.writeHosts("10.0.0.1 kubernetes.default\n"))
	assert.Equal(t, "192.0.2.1 registry.example.org\n"+localhost+marker+"10.0.0.1 kubernetes.default\n", read(), "what others have written stays")
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after), "it may be mounted")
}
