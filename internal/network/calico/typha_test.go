package calico

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/golden"
)

// networking-calico #758: a VerticalPodAutoscaler for a Typha that was switched off kept shoots unhealthy.
func TestTyphaObjects_Disabled(t *testing.T) {
	forAllSettings(t, func(t *testing.T, s *settings, objects []client.Object) {
		var ofTypha []string
		for _, object := range objects {
			if strings.Contains(golden.Manifest(t, []client.Object{object}), "typha") {
				ofTypha = append(ofTypha, object.GetName())
			}
		}
		if s.form.Typha {
			require.Contains(t, ofTypha, "calico-typha-deploy")
			require.Contains(t, ofTypha, "calico-typha-horizontal-autoscaler")
		} else {
			require.Empty(t, ofTypha)
		}
	})
}

func TestTyphaObjects_NotYetUsed(t *testing.T) {
	objects, err := testSettings(func(s *settings) { s.form.NodesUseTypha = false }).typhaObjects()
	require.NoError(t, err)
	require.Equal(t, golden.Manifest(t, mustTypha(t, nil)), golden.Manifest(t, objects))
}

func mustTypha(t *testing.T, change func(*settings)) []client.Object {
	t.Helper()
	objects, err := testSettings(change).typhaObjects()
	require.NoError(t, err)
	return objects
}

func typhaPodOf(t *testing.T, change func(*settings)) corev1.PodSpec {
	t.Helper()
	return named[*appsv1.Deployment](t, mustTypha(t, change), "calico-typha-deploy").Spec.Template.Spec
}

func TestTyphaPod_HostNetwork(t *testing.T) {
	pod := typhaPodOf(t, nil)
	assert.True(t, pod.HostNetwork)
	assert.Equal(t, corev1.DNSDefault, pod.DNSPolicy)
	for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
		assert.Contains(t, pod.Tolerations, corev1.Toleration{Effect: effect, Operator: corev1.TolerationOpExists})
	}
}

func TestTyphaPod_GracePeriod(t *testing.T) {
	pod := typhaPodOf(t, nil)
	require.EqualValues(t, 300, *pod.TerminationGracePeriodSeconds)
	require.Equal(t, "300", valueOf(pod.Containers[0].Env, "TYPHA_SHUTDOWNTIMEOUTSECS"))
}

func TestTyphaPod_TopologySpread(t *testing.T) {
	var topologies []string
	for _, constraint := range typhaPodOf(t, nil).TopologySpreadConstraints {
		topologies = append(topologies, constraint.TopologyKey)
		require.Equal(t, corev1.ScheduleAnyway, constraint.WhenUnsatisfiable, "a shoot with one zone has Typha, too")
	}
	require.Equal(t, []string{corev1.LabelTopologyZone, corev1.LabelHostname}, topologies)
}

func TestTyphaEnv_APIServer(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*settings)
		host   string
	}{
		"by its Service where kube-proxy routes it": {nil, ""},
		"by its Service where kube-proxy routes it next to eBPF": {
			func(s *settings) { s.form.BPF = true }, "",
		},
		"directly where calico-node, which waits for Typha, would route it": {
			func(s *settings) { s.form.BPF, s.kubeProxy = true, false }, "api.one.dev.example.org",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := typhaPodOf(t, test.change).Containers[0].Env
			require.Equal(t, test.host, valueOf(env, "KUBERNETES_SERVICE_HOST"))
			require.Equal(t, test.host != "", valueOf(env, "KUBERNETES_SERVICE_PORT") == "443")
		})
	}
}

func TestTyphaEnv_UsePodCIDR(t *testing.T) {
	require.Equal(t, "true", valueOf(typhaPodOf(t, nil).Containers[0].Env, "USE_POD_CIDR"))
	require.Empty(t, valueOf(typhaPodOf(t, func(s *settings) { s.form.IPAM = "calico-ipam" }).Containers[0].Env, "USE_POD_CIDR"))
}

func TestTyphaObjects_Service(t *testing.T) {
	objects := mustOtherObjects(t, testSettings(nil))
	container := typhaPodOf(t, nil).Containers[0]
	service := named[*corev1.Service](t, objects, "calico-typha")
	port := container.Ports[slices.IndexFunc(container.Ports, func(port corev1.ContainerPort) bool {
		return port.Name == service.Spec.Ports[0].TargetPort.StrVal
	})]
	require.EqualValues(t, 5473, port.ContainerPort)
	require.Equal(t, "calico-typha", service.Spec.Ports[0].Name, "Typha and nodes look for a port of this name")

	policy := named[*networkingv1.NetworkPolicy](t, objects, "gardener.cloud--allow-from-calico-node")
	require.Equal(t, port.ContainerPort, policy.Spec.Ingress[0].Ports[0].Port.IntVal)
	require.Equal(t, map[string]string{"k8s-app": "calico-node"}, policy.Spec.Ingress[0].From[0].PodSelector.MatchLabels)
}

func TestTyphaObjects_Metrics(t *testing.T) {
	container := typhaPodOf(t, nil).Containers[0]
	service := named[*corev1.Service](t, mustTypha(t, nil), typhaMetricsService)
	require.Equal(t, typhaMetricsPortName, service.Spec.Ports[0].Name)
	require.Equal(t, service.Spec.Ports[0].Name, container.Ports[1].Name)
	require.Equal(t, service.Spec.Ports[0].TargetPort.IntVal, container.Ports[1].ContainerPort)
	require.Equal(t, "true", valueOf(container.Env, "TYPHA_PROMETHEUSMETRICSENABLED"))
	require.Equal(t, "9093", valueOf(container.Env, "TYPHA_PROMETHEUSMETRICSPORT"))
}

func TestTyphaRules(t *testing.T) {
	role := named[*rbacv1.ClusterRole](t, mustTypha(t, nil), "calico-typha")
	verbs := map[string][]string{}
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, name := range rule.Resources {
				verbs[name+"."+group] = append(verbs[name+"."+group], rule.Verbs...)
			}
		}
	}
	// What the syncers of Calico v3.28 list, and what they list since.
	for _, name := range []string{
		"clusterinformations", "felixconfigurations", "globalnetworkpolicies", "globalnetworksets", "ippools", "networkpolicies",
		"networksets", "hostendpoints", "bgpconfigurations", "bgppeers", "bgpfilters", "blockaffinities", "ipamblocks",
		"caliconodestatuses", "tiers", "stagedglobalnetworkpolicies", "stagedkubernetesnetworkpolicies", "stagednetworkpolicies",
	} {
		require.Subset(t, verbs[name+".crd.projectcalico.org"], []string{"get", "list", "watch"}, name)
	}
	for _, name := range []string{
		"nodes.", "pods.", "namespaces.", "serviceaccounts.", "services.", "endpointslices.discovery.k8s.io",
		"networkpolicies.networking.k8s.io", "clusternetworkpolicies.policy.networking.k8s.io", "virtualmachineinstancemigrations.kubevirt.io",
	} {
		require.Subset(t, verbs[name], []string{"list", "watch"}, name)
	}
	for name, allowed := range verbs {
		if name != "clusterinformations.crd.projectcalico.org" && name != "tiers.crd.projectcalico.org" {
			require.Subset(t, []string{"get", "list", "watch"}, allowed, name)
		}
	}
}

func valueOf(env []corev1.EnvVar, name string) string {
	for _, variable := range env {
		if variable.Name == name {
			return variable.Value
		}
	}
	return ""
}
