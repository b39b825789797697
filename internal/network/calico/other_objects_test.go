package calico

import (
	"errors"
	"slices"
	"strings"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/golden"
)

// otherObjects are the objects of everything besides calico-node.
func otherObjects(s *settings) ([]client.Object, error) {
	var objects []client.Object
	for _, build := range []func() ([]client.Object, error){
		s.typhaObjects, s.kubeControllersObjects, s.autoscalingObjects, s.policyObjects, s.tierObjects, s.multusObjects,
	} {
		some, err := build()
		if err != nil {
			return nil, err
		}
		objects = append(objects, some...)
	}
	return objects, nil
}

func mustOtherObjects(t *testing.T, s *settings) []client.Object {
	t.Helper()
	objects, err := otherObjects(s)
	require.NoError(t, err)
	return objects
}

func scaledBy(mode calicov1alpha1.AutoscalingMode, resources *calicov1alpha1.Resources) func(*settings) {
	return func(s *settings) {
		s.config.AutoScaling = &calicov1alpha1.AutoScaling{Mode: mode, Resources: resources}
	}
}

func withoutTypha(s *settings) {
	s.config.Typha.Enabled, s.form.Typha, s.form.NodesUseTypha = false, false, false
}

func withMultus(s *settings) { s.config.Multus.Enabled = true }

// settingsVariants are shoots that differ in what the other parts of Calico look at, by a sentence.
func settingsVariants() map[string]*settings {
	enough := &calicov1alpha1.Resources{
		Node:  new(requests("300m", "500Mi")),
		Typha: &corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
	}
	tooMuch := &calicov1alpha1.Resources{Node: new(requests("2", "5Gi")), Typha: new(requests("2", "6Gi"))}
	both := func(changes ...func(*settings)) *settings {
		return testSettings(func(s *settings) {
			for _, change := range changes {
				change(s)
			}
		})
	}
	native := func(s *settings) { s.form.Backend, s.form.IPv4 = "none", &encapsulation{IPIP: "Never", VXLAN: "Never"} }
	noVPA := func(s *settings) { s.verticalAutoscaling = false }
	return map[string]*settings{
		"defaults":                     testSettings(nil),
		"no vertical pod autoscaler":   both(noVPA),
		"vpa":                          both(scaledBy("vpa", nil)),
		"vpa with resources":           both(scaledBy("vpa", enough)),
		"vpa with more than the limit": both(scaledBy("vpa", tooMuch)),
		"vpa without an autoscaler":    both(scaledBy("vpa", enough), noVPA),
		"static":                       both(scaledBy("static", nil), noVPA),
		"static with resources":        both(scaledBy("static", enough)),
		"static over the limit":        both(scaledBy("static", tooMuch)),
		"proportional with resources":  both(scaledBy("cluster-proportional", enough)),
		"no Typha":                     both(withoutTypha),
		"no Typha, vpa":                both(withoutTypha, scaledBy("vpa", enough)),
		"no Typha, static":             both(withoutTypha, scaledBy("static", enough)),
		"native routing":               both(native),
		"native routing with blocks":   both(native, func(s *settings) { s.form.IPAM = "calico-ipam" }),
		"VXLAN": both(func(s *settings) {
			s.form = form{IPAM: "calico-ipam", Backend: "vxlan", VXLAN: true, IPv4: &encapsulation{IPIP: "Never", VXLAN: "Always"}, Typha: true, NodesUseTypha: true}
		}),
		"no kube-proxy": both(func(s *settings) { s.form.BPF, s.kubeProxy = true, false }),
		"Multus":        both(withMultus),
		"Multus with plugins": both(withMultus, func(s *settings) {
			s.config.Multus.InstallCNIPlugins = new(true)
		}),
	}
}

// forAllSettings runs a test on the objects of every one of settingsVariants.
func forAllSettings(t *testing.T, check func(t *testing.T, s *settings, objects []client.Object)) {
	t.Helper()
	for sentence, s := range settingsVariants() {
		t.Run(sentence, func(t *testing.T) { check(t, s, mustOtherObjects(t, s)) })
	}
}

func TestOtherManifests(t *testing.T) {
	variants, folder := settingsVariants(), golden.Open(t, "testdata/others")
	for file, test := range map[string]struct{ base, sentence string }{
		"defaults.yaml":            {"", "defaults"},
		"static.diff":              {"defaults.yaml", "static with resources"},
		"vpa.diff":                 {"static.diff", "vpa with resources"},
		"no-typha.yaml":            {"", "no Typha"},
		"native.diff":              {"defaults.yaml", "native routing"},
		"native-calico-ipam.diff":  {"defaults.yaml", "native routing with blocks"},
		"no-kube-proxy.diff":       {"defaults.yaml", "no kube-proxy"},
		"multus-and-plugins.diff":  {"defaults.yaml", "Multus with plugins"},
		"no-vpa-in-the-shoot.diff": {"defaults.yaml", "vpa without an autoscaler"},
	} {
		t.Run(file, func(t *testing.T) {
			checkManifest(t, folder, file, test.base, mustOtherObjects(t, variants[test.sentence]))
		})
	}
}

func TestRender_Deterministic(t *testing.T) {
	again := settingsVariants()
	for sentence, s := range settingsVariants() {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, golden.Manifest(t, mustOtherObjects(t, s)), golden.Manifest(t, mustOtherObjects(t, again[sentence])))
		})
	}
}

func TestRender_UnknownImage(t *testing.T) {
	for _, missing := range []string{"calico-typha", "calico-kube-controllers", "calico-cpa", "calico-cpva", "multus-cni", "cni-plugins", "calico-node"} {
		t.Run(missing, func(t *testing.T) {
			_, err := otherObjects(testSettings(func(s *settings) {
				withMultus(s)
				s.config.Multus.InstallCNIPlugins = new(true)
				s.image = func(name string) (string, error) {
					if name == missing {
						return "", errors.New("no such image")
					}
					return name, nil
				}
			}))
			require.ErrorContains(t, err, "no such image")
		})
	}
}

// workload is a Deployment or DaemonSet.
type workload struct {
	kind, name string
	selector   *metav1.LabelSelector
	template   corev1.PodTemplateSpec
}

func workloadsOf(objects []client.Object) []workload {
	var found []workload
	for _, object := range objects {
		switch object := object.(type) {
		case *appsv1.Deployment:
			found = append(found, workload{"Deployment", object.Name, object.Spec.Selector, object.Spec.Template})
		case *appsv1.DaemonSet:
			found = append(found, workload{"DaemonSet", object.Name, object.Spec.Selector, object.Spec.Template})
		}
	}
	return found
}

func allOf[T client.Object](objects []client.Object) []T {
	var found []T
	for _, object := range objects {
		if typed, is := object.(T); is {
			found = append(found, typed)
		}
	}
	return found
}

func named[T client.Object](t *testing.T, objects []client.Object, name string) T {
	t.Helper()
	all := allOf[T](objects)
	index := slices.IndexFunc(all, func(object T) bool { return object.GetName() == name })
	require.GreaterOrEqual(t, index, 0, "there is no %s", name)
	return all[index]
}

func TestPods_NetworkPolicyLabels(t *testing.T) {
	const policies = "networking.gardener.cloud/"
	forAllSettings(t, func(t *testing.T, _ *settings, objects []client.Object) {
		for _, each := range workloadsOf(objects) {
			policyLabels := map[string]string{}
			for label, value := range each.template.Labels {
				if strings.HasPrefix(label, policies) {
					policyLabels[label] = value
				}
			}
			require.Equal(t, map[string]string{
				v1beta1constants.LabelNetworkPolicyShootToAPIServer: "allowed",
				v1beta1constants.LabelNetworkPolicyToDNS:            "allowed",
			}, policyLabels, each.name)
		}
	})
}

func TestPods_GardenerConventions(t *testing.T) {
	forAllSettings(t, func(t *testing.T, _ *settings, objects []client.Object) {
		accounts := map[string]bool{}
		for _, account := range allOf[*corev1.ServiceAccount](objects) {
			require.False(t, *account.AutomountServiceAccountToken, "%s: tokens are for gardener-resource-manager to mount", account.Name)
			accounts[account.Name] = true
		}
		for _, each := range workloadsOf(objects) {
			pod := each.template.Spec
			assert.True(t, accounts[pod.ServiceAccountName], "%s has no ServiceAccount %q", each.name, pod.ServiceAccountName)
			assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type, each.name)
			assert.Contains(t, []string{"system-cluster-critical", "system-node-critical"}, pod.PriorityClassName, each.name)
			for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
				assert.NotEmpty(t, container.Resources.Requests, container.Name)
				assert.NotContains(t, container.Resources.Limits, corev1.ResourceCPU, container.Name)
				for name, limit := range container.Resources.Limits {
					requested := container.Resources.Requests[name]
					assert.LessOrEqual(t, requested.Cmp(limit), 0, "%s requests more %s than its limit", container.Name, name)
				}
			}
		}
	})
}

func TestPods_Selectors(t *testing.T) {
	forAllSettings(t, func(t *testing.T, _ *settings, objects []client.Object) {
		finds := func(name string, selector map[string]string) {
			require.NotEmpty(t, selector, name)
			require.True(t, slices.ContainsFunc(workloadsOf(objects), func(each workload) bool {
				return labels.SelectorFromSet(selector).Matches(labels.Set(each.template.Labels))
			}), "%s selects no pods", name)
		}
		for _, each := range workloadsOf(objects) {
			require.True(t, labels.SelectorFromSet(each.selector.MatchLabels).Matches(labels.Set(each.template.Labels)), each.name)
			for _, constraint := range each.template.Spec.TopologySpreadConstraints {
				require.Equal(t, each.selector.MatchLabels, constraint.LabelSelector.MatchLabels, each.name)
			}
		}
		for _, service := range allOf[*corev1.Service](objects) {
			finds(service.Name, service.Spec.Selector)
		}
		for _, budget := range allOf[*policyv1.PodDisruptionBudget](objects) {
			finds(budget.Name, budget.Spec.Selector.MatchLabels)
		}
		for _, policy := range allOf[*networkingv1.NetworkPolicy](objects) {
			finds(policy.Name, policy.Spec.PodSelector.MatchLabels)
		}
	})
}

func TestRoles_NoWildcards(t *testing.T) {
	forAllSettings(t, func(t *testing.T, _ *settings, objects []client.Object) {
		var rules []rbacv1.PolicyRule
		for _, role := range allOf[*rbacv1.ClusterRole](objects) {
			rules = append(rules, role.Rules...)
		}
		for _, role := range allOf[*rbacv1.Role](objects) {
			rules = append(rules, role.Rules...)
		}
		for _, rule := range rules {
			for _, names := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs} {
				require.NotEmpty(t, names)
				require.NotContains(t, names, "*")
			}
			require.NotContains(t, rule.Resources, "secrets")
			require.NotContains(t, rule.Resources, "nodes/status")
			if slices.Contains(rule.Resources, "nodes") {
				require.Subset(t, []string{"get", "list", "watch"}, rule.Verbs, "only calico-node writes nodes")
			}
			if slices.Contains(rule.Verbs, "patch") && rule.APIGroups[0] == "apps" {
				require.Len(t, rule.ResourceNames, 1, "whoever writes workloads writes one")
			}
		}
	})
}
