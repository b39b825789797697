package calico

import (
	"errors"
	"maps"
	"slices"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

func nodeOf(t *testing.T, change func(*settings)) []client.Object {
	t.Helper()
	objects, err := testSettings(change).nodeObjects()
	require.NoError(t, err)
	return objects
}

func calicoNodeOf(t *testing.T, change func(*settings)) *appsv1.DaemonSet {
	t.Helper()
	return named[*appsv1.DaemonSet](t, nodeOf(t, change), "calico-node")
}

func containerOf(t *testing.T, containers []corev1.Container, name string) corev1.Container {
	t.Helper()
	at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == name })
	require.GreaterOrEqual(t, at, 0, "%s is not among %v", name, containerNames(containers))
	return containers[at]
}

func containerNames(containers []corev1.Container) []string {
	var names []string
	for _, container := range containers {
		names = append(names, container.Name)
	}
	return names
}

// What a shoot's settings are like, for all tests of calico-node.

func natively(s *settings) {
	s.form.Backend, s.form.IPIP, s.form.IPv4 = backendNone, false, &encapsulation{IPIP: "Never", VXLAN: "Never"}
	s.config.Overlay = &calicov1alpha1.Overlay{Enabled: false, CreatePodRoutes: new(false)}
	s.config.SnatToUpstreamDNS.Enabled = true
}

func withPodRoutes(s *settings) {
	natively(s)
	s.form.Backend, s.config.Overlay.CreatePodRoutes = backendBird, new(true)
}

func withVXLAN(s *settings) {
	s.form.Backend, s.form.IPAM, s.form.IPIP, s.form.VXLAN = backendVXLAN, calicov1alpha1.IPAMCalico, false, true
	s.form.IPv4 = &encapsulation{IPIP: "Never", VXLAN: "Always"}
	s.config.IPAM = &calicov1alpha1.IPAM{Type: calicov1alpha1.IPAMCalico}
}

func withIPv6(s *settings) {
	s.ipv6, s.podRanges6, s.nodeRanges6 = true, []string{"2001:db8:1::/48"}, []string{"2001:db8:2::/64"}
	s.form.IPv6 = &encapsulation{IPIP: "Never", VXLAN: "Never"}
	s.config.IPv6 = &calicov1alpha1.IPv6{AutoDetectionMethod: new("cidr=2001:db8:2::/64")}
}

func withoutIPv4(s *settings) {
	withIPv6(s)
	s.ipv4, s.ipv6First, s.podRanges4, s.nodeRanges4, s.form.IPv4, s.config.IPv4 = false, true, nil, nil, nil, nil
}

func withBPF(s *settings) { s.form.BPF, s.config.EbpfDataplane.Enabled = true, true }

func withBPFInsteadOfKubeProxy(s *settings) {
	withBPF(s)
	s.kubeProxy = false
}

func withBIRDExporter(s *settings) { s.config.BirdExporter.Enabled = true }

func withEncryption(s *settings) { s.form.WireGuard, s.config.WireguardEncryption = true, true }

func all(changes ...func(*settings)) func(*settings) {
	return func(s *settings) {
		for _, change := range changes {
			change(s)
		}
	}
}

func TestNodeManifests(t *testing.T) {
	for name, change := range map[string]func(*settings){
		"ordinary":                     nil,
		"routed-by-the-cloud":          natively,
		"two-families-with-pod-routes": all(withPodRoutes, withIPv6, withEncryption, withBIRDExporter),
		"ipv6-alone":                   all(natively, withoutIPv4),
		"ebpf-on-azure": all(withVXLAN, withBPFInsteadOfKubeProxy, func(s *settings) {
			s.infrastructure.Type, s.infrastructure.BPFDataInterfaces = "azure", "^eth.*$"
		}),
	} {
		t.Run(name, func(t *testing.T) { checkGolden(t, "node/"+name+".yaml", manifest(t, nodeOf(t, change))) })
	}
}

func TestStepsOfANode(t *testing.T) {
	const keeper, tidier, confirmer = "add-snat-rule-to-upstream-dns", "cleanup-snat-rule-to-upstream-dns", "network-unavailable-condition-ensurer"
	for sentence, test := range map[string]struct {
		change           func(*settings)
		initial, running []string
	}{
		"an ordinary node gets the plugin and confirms its network": {
			nil, []string{tidier, "log-mtu-issues", "install-cni"}, []string{"calico-node", confirmer},
		},
		"a node that the cloud routes to forgets BIRD's routes and leaves its condition to the cloud": {
			natively, []string{"cleanup-routes", "log-mtu-issues", "install-cni"}, []string{"calico-node", keeper},
		},
		"a node without the overlay that runs BIRD keeps BIRD's routes": {
			withPodRoutes, []string{"log-mtu-issues", "install-cni"}, []string{"calico-node", keeper, confirmer},
		},
		"a node with VXLAN takes over addresses that host-local gave, and forgets BIRD's routes": {
			withVXLAN, []string{"upgrade-ipam", "cleanup-routes", tidier, "log-mtu-issues", "install-cni"}, []string{"calico-node", confirmer},
		},
		"a node with eBPF mounts file systems for it": {
			withBPF, []string{tidier, "log-mtu-issues", "install-cni", "ebpf-bootstrap"}, []string{"calico-node", confirmer},
		},
		"BIRD's metrics are shown": {
			withBIRDExporter, []string{tidier, "log-mtu-issues", "install-cni"}, []string{"calico-node", confirmer, "bird-exporter"},
		},
		"without BIRD there are no metrics of it": {
			all(withVXLAN, withBIRDExporter), []string{"upgrade-ipam", "cleanup-routes", tidier, "log-mtu-issues", "install-cni"}, []string{"calico-node", confirmer},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			pod := calicoNodeOf(t, test.change).Spec.Template.Spec
			assert.Equal(t, test.initial, containerNames(pod.InitContainers))
			assert.Equal(t, test.running, containerNames(pod.Containers))
		})
	}
}

func TestCalicoNodeIsWhatANodeCannotDoWithout(t *testing.T) {
	daemonSet := calicoNodeOf(t, nil)
	pod := daemonSet.Spec.Template
	for _, labels := range []map[string]string{daemonSet.Labels, pod.Labels} {
		assert.Equal(t, "true", labels[v1beta1constants.LabelNodeCriticalComponent])
	}
	assert.Equal(t, "system-node-critical", pod.Spec.PriorityClassName)
	assert.True(t, pod.Spec.HostNetwork)
	for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
		assert.Contains(t, pod.Spec.Tolerations, corev1.Toleration{Effect: effect, Operator: corev1.TolerationOpExists})
	}
	assert.Equal(t, map[string]string{"k8s-app": "calico-node"}, daemonSet.Spec.Selector.MatchLabels, "selectors of upstream's DaemonSet cannot be changed")
}

// Who may do what on a node: only what says why is privileged.
func TestPrivilegeIsTheException(t *testing.T) {
	change := all(withVXLAN, withBPF, func(s *settings) { s.config.SnatToUpstreamDNS.Enabled = true })
	changes := []func(*settings){nil, natively, withPodRoutes, all(withPodRoutes, withBIRDExporter), change}
	may := []string{"upgrade-ipam", "install-cni", "ebpf-bootstrap", "calico-node"}
	for _, change := range changes {
		pod := calicoNodeOf(t, change).Spec.Template.Spec
		for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
			context := container.SecurityContext
			require.NotNil(t, context, container.Name)
			if slices.Contains(may, container.Name) {
				assert.True(t, *context.Privileged, container.Name)
				continue
			}
			assert.False(t, context.Privileged != nil && *context.Privileged, container.Name)
			assert.False(t, *context.AllowPrivilegeEscalation, container.Name)
			assert.Equal(t, []corev1.Capability{"ALL"}, context.Capabilities.Drop, container.Name)
			for _, capability := range context.Capabilities.Add {
				assert.Contains(t, []corev1.Capability{"NET_ADMIN", "NET_RAW"}, capability, container.Name)
			}
		}
	}
}

func TestContainersMountWhatThereIs(t *testing.T) {
	for _, change := range []func(*settings){nil, natively, withVXLAN, withBPF, all(withPodRoutes, withBIRDExporter)} {
		pod := calicoNodeOf(t, change).Spec.Template.Spec
		mounted := map[string]bool{}
		for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
			for _, mount := range container.VolumeMounts {
				mounted[mount.Name] = true
			}
		}
		var volumes []string
		for _, volume := range pod.Volumes {
			volumes = append(volumes, volume.Name)
		}
		assert.ElementsMatch(t, volumes, slices.Collect(maps.Keys(mounted)))
	}
}

// networking-calico #13: in big shoots, calico-node was killed for its memory and for answers that came late.
func TestCalicoNodeMayGrowWithTheShoot(t *testing.T) {
	scaled := calicoNodeOf(t, scaledBy(calicov1alpha1.AutoscalingModeClusterProportional, nil))
	assert.Equal(t, "true", scaled.Annotations[resourcesv1alpha1.PreserveResources], "gardener-resource-manager would undo what the scaler does")

	felix := containerOf(t, scaled.Spec.Template.Spec.Containers, "calico-node")
	assert.Equal(t, resource.MustParse("2800Mi"), felix.Resources.Limits[corev1.ResourceMemory])
	assert.NotContains(t, felix.Resources.Limits, corev1.ResourceCPU)
	for _, probe := range []*corev1.Probe{felix.LivenessProbe, felix.ReadinessProbe} {
		assert.EqualValues(t, 10, probe.TimeoutSeconds)
	}
	assert.EqualValues(t, 6, felix.LivenessProbe.FailureThreshold)
}

func TestResourcesThatTheUserGaveAreCalicoNodes(t *testing.T) {
	huge := &calicov1alpha1.Resources{Node: &corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("3Gi")}}
	static := calicoNodeOf(t, scaledBy(calicov1alpha1.AutoscalingModeStatic, huge))
	felix := containerOf(t, static.Spec.Template.Spec.Containers, "calico-node")
	assert.NotContains(t, static.Annotations, resourcesv1alpha1.PreserveResources)
	assert.Equal(t, resource.MustParse("250m"), felix.Resources.Requests[corev1.ResourceCPU], "the default of what the user did not give")
	assert.Equal(t, resource.MustParse("3Gi"), felix.Resources.Requests[corev1.ResourceMemory])
	assert.Equal(t, resource.MustParse("3Gi"), felix.Resources.Limits[corev1.ResourceMemory], "a pod that requests more than its limit is refused")
}

func TestProbesAskBIRDOnlyWhereItRuns(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*settings)
		bird   bool
	}{
		"BIRD": {nil, true}, "pod routes": {withPodRoutes, true}, "none": {natively, false}, "VXLAN": {withVXLAN, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			felix := containerOf(t, calicoNodeOf(t, test.change).Spec.Template.Spec.Containers, "calico-node")
			live, ready := felix.LivenessProbe.Exec.Command, felix.ReadinessProbe.Exec.Command
			assert.Contains(t, live, "-felix-live")
			assert.Contains(t, ready, "-felix-ready")
			assert.Equal(t, test.bird, slices.Contains(live, "-bird-live"))
			assert.Equal(t, test.bird, slices.Contains(ready, "-bird-ready"))
		})
	}
}

func TestPodsFollowTheirConfiguration(t *testing.T) {
	annotations := func(change func(*settings)) map[string]string {
		return calicoNodeOf(t, change).Spec.Template.Annotations
	}
	ordinary := annotations(nil)
	require.Contains(t, ordinary, "checksum/configmap-calico-config")
	assert.Equal(t, ordinary, annotations(nil))
	assert.NotEqual(t, ordinary, annotations(func(s *settings) { s.form.NodesUseTypha = false }))
	assert.NotEqual(t, ordinary, annotations(func(s *settings) { s.config.VethMTU = new("1400") }))

	moved := func(s *settings) {
		withBPFInsteadOfKubeProxy(s)
		s.apiServerHost = "api.elsewhere.example.org"
	}
	assert.NotEqual(t, annotations(withBPFInsteadOfKubeProxy), annotations(moved))
}

// Whoever reaches the kube-apiserver by a Service that nobody routes yet waits for ever.
func TestNodesReachTheAPIServerWithoutKubeProxy(t *testing.T) {
	objects := nodeOf(t, all(withBPFInsteadOfKubeProxy, withVXLAN))
	assert.Equal(t, map[string]string{
		"KUBERNETES_SERVICE_HOST": "api.one.dev.example.org", "KUBERNETES_SERVICE_PORT": "443",
	}, named[*corev1.ConfigMap](t, objects, "kubernetes-services-endpoint").Data)
	pod := named[*appsv1.DaemonSet](t, objects, "calico-node").Spec.Template.Spec
	for _, name := range []string{"upgrade-ipam", "install-cni", "calico-node", "network-unavailable-condition-ensurer"} {
		container := containerOf(t, slices.Concat(pod.InitContainers, pod.Containers), name)
		require.Len(t, container.EnvFrom, 1, name)
		assert.Equal(t, "kubernetes-services-endpoint", container.EnvFrom[0].ConfigMapRef.Name)
	}
	for _, change := range []func(*settings){nil, withBPF} {
		assert.False(t, has(nodeOf(t, change), "ConfigMap", "kubernetes-services-endpoint"), "with kube-proxy the Service leads there")
	}
}

func TestWhatNodesMayDo(t *testing.T) {
	objects := nodeOf(t, nil)
	for _, name := range []string{"calico-node", "calico-cni-plugin"} {
		require.True(t, has(objects, "ServiceAccount", name))
		binding := named[*rbacv1.ClusterRoleBinding](t, objects, name)
		assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: name, Namespace: "kube-system"}}, binding.Subjects)
		assert.Equal(t, name, binding.RoleRef.Name)
		for _, rule := range named[*rbacv1.ClusterRole](t, objects, name).Rules {
			for _, word := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs) {
				assert.NotEqual(t, "*", word)
				assert.NotEqual(t, "secrets", word)
			}
			if slices.Contains(rule.Resources, "serviceaccounts/token") {
				assert.Equal(t, "calico-node", name, "the CNI plugin needs no tokens but its own")
				assert.Equal(t, []string{"calico-cni-plugin"}, rule.ResourceNames)
				assert.Equal(t, []string{"create"}, rule.Verbs)
			}
		}
	}
}

func TestMetricsOfNodesAreFound(t *testing.T) {
	objects := nodeOf(t, withBIRDExporter)
	pod := named[*appsv1.DaemonSet](t, objects, "calico-node").Spec.Template
	for service, container := range map[string]string{"calico-felix-monitoring": "calico-node", "calico-bird-monitoring": "bird-exporter"} {
		found := named[*corev1.Service](t, objects, service)
		for key, value := range found.Spec.Selector {
			assert.Equal(t, value, pod.Labels[key])
		}
		ports := containerOf(t, pod.Spec.Containers, container).Ports
		require.Len(t, ports, 1)
		assert.Equal(t, ports[0].ContainerPort, found.Spec.Ports[0].TargetPort.IntVal)
	}
	assert.False(t, has(nodeOf(t, nil), "Service", "calico-bird-monitoring"))
}

func TestBIRDExporterFindsTheSocketsThatThereAre(t *testing.T) {
	args := func(change func(*settings)) []string {
		return containerOf(t, calicoNodeOf(t, change).Spec.Template.Spec.Containers, "bird-exporter").Args
	}
	assert.Contains(t, args(withBIRDExporter), "-bird.ipv6=false")
	both := args(all(withBIRDExporter, withPodRoutes, withIPv6))
	assert.Contains(t, both, "-bird.socket6=/var/run/calico/bird6.ctl")
	assert.NotContains(t, both, "-bird.ipv6=false")
}

func TestAnImageThatIsMissingIsAnError(t *testing.T) {
	for _, missing := range []string{"calico-node", "calico-cni", "bird-exporter"} {
		unknown := errors.New("no such image")
		_, err := testSettings(all(withBIRDExporter, func(s *settings) {
			s.image = func(name string) (string, error) {
				if name == missing {
					return "", unknown
				}
				return name, nil
			}
		})).nodeObjects()
		require.ErrorIs(t, err, unknown, missing)
	}
}
