package gardenet

import (
	"encoding/json"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/network"
)

func TestDriver_Capabilities(t *testing.T) {
	const remedy = "set spec.networking.providerConfig.serviceRouting.enabled to true"
	assert.Equal(t, network.Capabilities{ServiceRouting: remedy, IPv6: true, DualStack: true}, New().Capabilities(shootOn(t, "aws", "")), "kube-proxy routes Services")
	assert.Equal(t, network.Capabilities{RoutesServices: true, ServiceRouting: remedy, NeedsAPIServerHost: true, IPv6: true, DualStack: true},
		New().Capabilities(shootOn(t, "aws", routing, withoutKubeProxy)))
	assert.Zero(t, New().Capabilities(shootOn(t, "aws", "mtu: large")))
}

func TestDriver_Validate(t *testing.T) {
	for sentence, test := range map[string]struct {
		shoot *network.Shoot
		want  string
	}{
		"the placeholder of Gardener's documentation": {shootOn(t, "aws", "gardenetCustomConfigField: value"), "the fields are bandwidth, hostPorts, ipam, logging"},
		"a value that is not possible":                {shootOn(t, "aws", "mtu: 1"), "spec.networking.providerConfig.mtu: Invalid value: 1"},
		"a range of the second family": {
			shootOn(t, "aws", "masquerade: {nonMasqueradeCIDRs: ['2001:db8::/32']}", withFamilies(ipv4, ipv6), func(s *network.Shoot) { s.Families = s.Families[:1] }), "",
		},
		"no range of pods": {
			shootOn(t, "aws", "", func(s *network.Shoot) { s.Families = []extensionsv1alpha1.IPFamily{ipv4, ipv6} }), "addresses of IPv6, for which there is no range",
		},
		"two ranges of pods": {
			shootOn(t, "aws", "", func(s *network.Shoot) { s.PodRanges = []string{"10.0.0.0/16", "10.1.0.0/16"} }), "there are several ranges of IPv4: give one",
		},
		"a range of pods within another": {
			shootOn(t, "aws", "", func(s *network.Shoot) { s.PodRanges = []string{"10.0.0.0/16", "10.0.0.0/24", "10.0.0.0/16"} }), "",
		},
		"no range of pods at all":  {shootOn(t, "aws", "", func(s *network.Shoot) { s.PodRanges = []string{"all"} }), `"all" is no range: give ranges in CIDR notation`},
		"no range of nodes at all": {shootOn(t, "aws", "", func(s *network.Shoot) { s.NodeRanges = []string{"all"} }), `spec.networking.nodes: Invalid value`},
		"no range of Services at all": {
			shootOn(t, "aws", "", func(s *network.Shoot) { s.ServiceRanges = []string{"all"} }), `spec.networking.services: Invalid value`,
		},
		"Services are routed twice": {shootOn(t, "aws", routing), "spec.networking.providerConfig.serviceRouting.enabled: Forbidden: kube-proxy routes Services already"},
		"Services are routed once":  {shootOn(t, "aws", routing, withoutKubeProxy), ""},
		"the contract refuses this": {shootOn(t, "aws", "", withoutKubeProxy), ""},
		"no ranges of nodes known":  {shootOn(t, "aws", "", func(s *network.Shoot) { s.NodeRanges = nil }), ""},
		"no families of the Network": {
			shootOn(t, "aws", "", func(s *network.Shoot) { s.Network.Spec.IPFamilies = nil }), "",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			errs := New().Validate(test.shoot)
			if test.want == "" {
				require.Empty(t, errs)
				return
			}
			require.Len(t, errs, 1)
			assert.ErrorContains(t, errs[0], test.want)
		})
	}
}

func TestDriver_Render(t *testing.T) {
	rendering, err := New().Render(shootOn(t, "local", "mtu: 1400"))
	require.NoError(t, err)
	status, ok := rendering.Status.(*v1alpha1.NetworkStatus)
	require.True(t, ok)
	assert.True(t, *status.Effective.Overlay.Enabled, "users see the defaults")
	assert.Equal(t, form{Routes: config.RoutesTunnel, Tunnel: &tunnel{ID: 1, Port: 8472}, MTU: 1400}, rendering.Form)
	assert.Empty(t, rendering.Messages)
	assert.Empty(t, rendering.Retired)

	_, err = New().Render(shootOn(t, "local", "mtu: large"))
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	broken := shootOn(t, "local", "")
	broken.Deployed.Form = json.RawMessage(`[]`)
	_, err = New().Render(broken)
	assert.ErrorContains(t, err, "reading the form of the network that is deployed")
}

// A family that is not deployed yet has no part in the configuration of agents.
func TestDriver_Render_SecondFamilyLater(t *testing.T) {
	shoot := shootOn(t, "aws", "masquerade: {nonMasqueradeCIDRs: ['2001:db8::/32', 172.16.0.0/12]}", withFamilies(ipv4, ipv6))
	shoot.Families = shoot.Families[:1]
	first := decided(t, shoot).agentConfig()
	assert.Len(t, first.PodRanges, 1)
	assert.Len(t, first.NodeRanges, 1)
	assert.Len(t, first.Masquerade.Except, 1)
	shoot.Families = shoot.Network.Spec.IPFamilies
	both := decided(t, shoot).agentConfig()
	assert.Len(t, both.PodRanges, 2)
	assert.Len(t, both.Masquerade.Except, 2)
}

func TestMessages(t *testing.T) {
	const changes = "the MTU of pods changes: those that run keep theirs until they are created anew"
	native, wrapped := form{Routes: config.RoutesCloud}, form{Routes: config.RoutesTunnel, Tunnel: &tunnel{ID: 1, Port: 8472}}
	for sentence, test := range map[string]struct {
		config   string
		deployed *form
		want     []string
	}{
		"a new shoot":     {"mtu: 1400", nil, nil},
		"another MTU":     {"mtu: 1400", &native, []string{changes}},
		"the same MTU":    {"mtu: 0", &native, nil},
		"the overlay on":  {"overlay: {enabled: true}", &native, []string{changes}},
		"the overlay off": {"overlay: {enabled: false}", &wrapped, []string{changes}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var variations []variation
			if test.deployed != nil {
				variations = append(variations, withDeployed(t, *test.deployed, false))
			}
			rendering, err := New().Render(shootOn(t, "aws", test.config, variations...))
			require.NoError(t, err)
			assert.Equal(t, test.want, rendering.Messages)
		})
	}
}

// The agent may do nothing on its node that it does not need.
func TestDaemonSet_Privileges(t *testing.T) {
	rendering, err := New().Render(shootOn(t, "aws", ""))
	require.NoError(t, err)
	pod := find[*appsv1.DaemonSet](t, rendering.Shoot).Spec.Template.Spec
	assert.True(t, pod.HostNetwork)
	assert.False(t, pod.HostPID)
	assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
	for _, container := range append(pod.InitContainers, pod.Containers...) {
		security := container.SecurityContext
		assert.False(t, *security.Privileged, container.Name)
		assert.False(t, *security.AllowPrivilegeEscalation, container.Name)
		assert.True(t, *security.ReadOnlyRootFilesystem, container.Name)
		assert.Equal(t, []corev1.Capability{"ALL"}, security.Capabilities.Drop, container.Name)
	}
	assert.Empty(t, pod.InitContainers[0].SecurityContext.Capabilities.Add)
	assert.Equal(t, []corev1.Capability{"NET_ADMIN", "NET_RAW"}, pod.Containers[0].SecurityContext.Capabilities.Add)
	writable := map[string]bool{}
	for _, volume := range pod.Volumes {
		if volume.HostPath != nil {
			writable[volume.HostPath.Path] = true
		}
	}
	for _, mount := range pod.Containers[0].VolumeMounts {
		if mount.ReadOnly {
			delete(writable, mount.MountPath[len(hostRoot):])
		}
	}
	assert.Equal(t, map[string]bool{"/etc/cni/net.d": true, "/opt/cni/bin": true, "/proc/sys/net": true}, writable)
}

// A router may change the network of its node and watch what it routes. Nothing of it can be reached from outside but what load balancers ask.
func TestServiceRouter_Privileges(t *testing.T) {
	s := decided(t, shootOn(t, "aws", routing, withoutKubeProxy))
	objects := s.serviceRouter()
	daemonSet, role := find[*appsv1.DaemonSet](t, objects), find[*rbacv1.ClusterRole](t, objects)
	pod := daemonSet.Spec.Template.Spec
	assert.Equal(t, find[*corev1.ServiceAccount](t, objects).Name, pod.ServiceAccountName)
	assert.NotEqual(t, agentName, pod.ServiceAccountName)
	assert.True(t, pod.HostNetwork)
	assert.Empty(t, pod.Volumes)
	require.Len(t, pod.Containers, 1)
	container := pod.Containers[0]
	assert.Equal(t, &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"NET_ADMIN"}}, container.SecurityContext.Capabilities)
	assert.Empty(t, container.Ports)
	assert.Contains(t, container.Args, "--bind-address=127.0.0.1:19082")
	for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe} {
		assert.Equal(t, "127.0.0.1", probe.HTTPGet.Host)
		assert.EqualValues(t, 19082, probe.HTTPGet.Port.IntVal)
	}
	assert.Equal(t, []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes", "services"}, Verbs: []string{"list", "watch"}},
		{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: []string{"list", "watch"}},
	}, role.Rules)
}

// Who routes Services must not need one, and the agent must not either when there may be none.
func TestServiceRouter_APIServer(t *testing.T) {
	address := func(pod corev1.PodSpec) string {
		values := map[string]string{}
		for _, variable := range pod.Containers[0].Env {
			values[variable.Name] = variable.Value
		}
		return values["KUBERNETES_SERVICE_HOST"] + ":" + values["KUBERNETES_SERVICE_PORT"]
	}
	elsewhere := func(shoot *network.Shoot) { shoot.APIServerPort = 6443 }
	rendering, err := New().Render(shootOn(t, "aws", routing, withoutKubeProxy, elsewhere))
	require.NoError(t, err)
	found := 0
	for _, object := range rendering.Shoot {
		if daemonSet, ok := object.(*appsv1.DaemonSet); ok {
			found++
			assert.Equal(t, "api.one.dev.example.org:6443", address(daemonSet.Spec.Template.Spec), daemonSet.Name)
		}
	}
	assert.Equal(t, 2, found)
	rendering, err = New().Render(shootOn(t, "aws", ""))
	require.NoError(t, err)
	assert.Equal(t, ":", address(find[*appsv1.DaemonSet](t, rendering.Shoot).Spec.Template.Spec), "Gardener decides")
}

func TestRules(t *testing.T) {
	for sentence, test := range map[string]struct {
		infrastructure, config string
		waits                  bool
		want                   []string
	}{
		"routes of the cloud":                            {"aws", "", false, []string{"nodes", "events", "namespaces", "pods", "networkpolicies"}},
		"the overlay":                                    {"local", "", false, []string{"nodes", "events", "nodes/status", "namespaces", "pods", "networkpolicies"}},
		"the overlay without policies":                   {"local", "networkPolicy: {enabled: false}", false, []string{"nodes", "events", "nodes/status"}},
		"routes of nodes, while the cloud reports its":   {"openstack", "", false, []string{"nodes", "events", "namespaces", "pods", "networkpolicies"}},
		"routes of nodes, where no cloud has any":        {"local", "overlay: {enabled: false, createPodRoutes: true}", false, []string{"nodes", "events", "nodes/status", "namespaces", "pods", "networkpolicies"}},
		"the stage in which agents cede their condition": {"aws", "overlay: {enabled: true}", true, []string{"nodes", "events", "nodes/status", "namespaces", "pods", "networkpolicies"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := decided(t, shootOn(t, test.infrastructure, test.config))
			s.form.WaitsForRoutes = test.waits
			var got []string
			for _, rule := range s.rules() {
				got = append(got, rule.Resources...)
				assert.NotContains(t, rule.Verbs, rbacv1.VerbAll)
			}
			assert.Equal(t, test.want, got)
			assert.False(t, test.waits && s.agentConfig().ReportsNetwork)
			assert.Equal(t, test.waits, s.agentConfig().WithdrawsNetwork)
		})
	}
}

func TestReportsNetwork(t *testing.T) {
	for sentence, test := range map[string]struct {
		infrastructure, config string
		families               []extensionsv1alpha1.IPFamily
		want                   bool
	}{
		"the overlay":                              {"openstack", "overlay: {enabled: true}", []extensionsv1alpha1.IPFamily{ipv4}, true},
		"routes of the cloud":                      {"azure", "overlay: {enabled: false}", []extensionsv1alpha1.IPFamily{ipv4}, false},
		"routes of nodes, the cloud reports its":   {"openstack", "overlay: {enabled: false, createPodRoutes: true}", []extensionsv1alpha1.IPFamily{ipv4}, false},
		"routes of nodes, nobody else reports":     {"local", "overlay: {enabled: false, createPodRoutes: true}", []extensionsv1alpha1.IPFamily{ipv4}, true},
		"routes of nodes, nothing is known":        {"ironcore", "overlay: {enabled: false, createPodRoutes: true}", []extensionsv1alpha1.IPFamily{ipv4}, true},
		"routes of nodes for addresses of the VPC": {"aws", "overlay: {enabled: false, createPodRoutes: true}", []extensionsv1alpha1.IPFamily{ipv6}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := decided(t, shootOn(t, test.infrastructure, test.config, withFamilies(test.families...)))
			assert.Equal(t, test.want, s.agentConfig().ReportsNetwork)
		})
	}
}

func TestImageVector(t *testing.T) {
	assert.Equal(t, []string{agentName, routerName}, vector(t).Names())
	assert.Equal(t, "ghcr.io/trellis-garden/trellis/gardenet-agent:v0.1.0", decided(t, shootOn(t, "aws", "")).image)
	shoot := shootOn(t, "aws", "")
	shoot.Image = func(string) (string, error) { return "", assert.AnError }
	_, err := New().Render(shoot)
	assert.ErrorIs(t, err, assert.AnError)
}
