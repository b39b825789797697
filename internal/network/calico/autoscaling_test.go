package calico

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

func scalersOf(objects []client.Object) []string {
	var names []string
	for _, deployment := range allOf[*appsv1.Deployment](objects) {
		if strings.HasSuffix(deployment.Name, "-autoscaler") {
			names = append(names, deployment.Name)
		}
	}
	for _, autoscaler := range allOf[*vpaautoscalingv1.VerticalPodAutoscaler](objects) {
		names = append(names, "vpa/"+autoscaler.Name)
	}
	return names
}

func TestAutoscalingObjects(t *testing.T) {
	const horizontal, typha, node = "calico-typha-horizontal-autoscaler", "calico-typha-vertical-autoscaler", "calico-node-vertical-autoscaler"
	for sentence, test := range map[string]struct {
		mode   calicov1alpha1.AutoscalingMode
		change func(*settings)
		want   []string
	}{
		"the number of nodes by default": {"", nil, []string{horizontal, typha, node, "vpa/calico-kube-controllers"}},
		"the number of nodes":            {"cluster-proportional", nil, []string{horizontal, typha, node, "vpa/calico-kube-controllers"}},
		"the use": {
			"vpa", nil, []string{horizontal, "vpa/calico-typha", "vpa/calico-node", "vpa/calico-kube-controllers"},
		},
		"the number of nodes where nobody measures the use": {
			"vpa", func(s *settings) { s.verticalAutoscaling = false }, []string{horizontal, typha, node},
		},
		"the user, but for the number of Typhas": {"static", nil, []string{horizontal, "vpa/calico-kube-controllers"}},
		"without Typha, the number of nodes":     {"cluster-proportional", withoutTypha, []string{node, "vpa/calico-kube-controllers"}},
		"without Typha, the use":                 {"vpa", withoutTypha, []string{"vpa/calico-node", "vpa/calico-kube-controllers"}},
		"without Typha and controllers, the use": {
			"vpa", func(s *settings) {
				withoutTypha(s)
				s.form.Backend = "none"
			},
			[]string{"vpa/calico-node"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects := mustOtherObjects(t, testSettings(func(s *settings) {
				scaledBy(test.mode, nil)(s)
				if test.change != nil {
					test.change(s)
				}
			}))
			require.Equal(t, test.want, scalersOf(objects))
		})
	}
}

func TestAutoscalingObjects_TargetsExist(t *testing.T) {
	forAllSettings(t, func(t *testing.T, _ *settings, objects []client.Object) {
		containers := map[string]bool{"DaemonSet/calico-node/calico-node": true}
		for _, each := range workloadsOf(objects) {
			for _, container := range each.template.Spec.Containers {
				containers[each.kind+"/"+each.name+"/"+container.Name] = true
			}
		}
		for _, autoscaler := range allOf[*vpaautoscalingv1.VerticalPodAutoscaler](objects) {
			policies := autoscaler.Spec.ResourcePolicy.ContainerPolicies
			target := fmt.Sprintf("%s/%s/%s", autoscaler.Spec.TargetRef.Kind, autoscaler.Spec.TargetRef.Name, policies[0].ContainerName)
			require.True(t, containers[target], target)
			require.Equal(t, vpaautoscalingv1.ContainerControlledValuesRequestsOnly, *policies[0].ControlledValues)
			least, most := policies[0].MinAllowed[corev1.ResourceMemory], policies[0].MaxAllowed[corev1.ResourceMemory]
			require.LessOrEqual(t, least.Cmp(most), 0, "%s: at least %s, at most %s", target, least.String(), most.String())
			require.Equal(t, vpaautoscalingv1.ContainerScalingModeOff, *policies[1].Mode, "side containers stay as they are")
		}
	})
}

// A scaler that may not do what it is told to is as good as none.
func TestAutoscalingObjects_Permissions(t *testing.T) {
	forAllSettings(t, func(t *testing.T, _ *settings, objects []client.Object) {
		for _, each := range workloadsOf(objects) {
			command := each.template.Spec.Containers[0].Command
			target, found := flagOf(command, "--target=")
			if !found {
				continue
			}
			kind, name, _ := strings.Cut(target, "/")
			wantResource, wantVerb := kind+"s", "patch"
			if strings.HasSuffix(command[0], "cluster-proportional-autoscaler") {
				wantResource, wantVerb = kind+"s/scale", "update"
			}
			account := each.template.Spec.ServiceAccountName
			binding := named[*rbacv1.RoleBinding](t, objects, account)
			require.Equal(t, account, binding.Subjects[0].Name)
			rules := named[*rbacv1.Role](t, objects, binding.RoleRef.Name).Rules
			rule := rules[slices.IndexFunc(rules, func(rule rbacv1.PolicyRule) bool { return rule.APIGroups[0] == "apps" })]
			assert.Equal(t, []string{wantResource}, rule.Resources, each.name)
			assert.Equal(t, []string{name}, rule.ResourceNames, each.name)
			assert.Contains(t, rule.Verbs, wantVerb, each.name)
			nodes := named[*rbacv1.ClusterRole](t, objects, account).Rules
			assert.Equal(t, []string{"nodes"}, nodes[0].Resources)
			assert.Contains(t, nodes[0].Verbs, "list")
			assert.Len(t, nodes, 1)
		}
	})
}

func flagOf(command []string, name string) (string, bool) {
	for _, word := range command {
		if value, found := strings.CutPrefix(word, name); found {
			return value, true
		}
	}
	return "", false
}

// networking-calico #13: with the same memory in shoots of every size, calico-node failed its probes in big ones.
func TestVerticalScaler_MemoryByNodes(t *testing.T) {
	for name, test := range map[string]struct {
		key, container string
		limit          string
		want           map[int]string
	}{
		"calico-node-vertical-autoscaler": {
			"node-autoscaler", "calico-node", nodeMemoryLimit,
			map[int]string{1: "100Mi", 10: "100Mi", 11: "150Mi", 100: "550Mi", 250: "1300Mi", 1000: "1400Mi"},
		},
		"calico-typha-vertical-autoscaler": {
			"typha-autoscaler", "calico-typha", typhaMemoryLimit,
			map[int]string{1: "250Mi", 17: "250Mi", 18: "320Mi", 100: "600Mi", 250: "1230Mi", 1000: "2000Mi"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			configuration := named[*corev1.ConfigMap](t, mustOtherObjects(t, testSettings(nil)), name)
			var containers map[string]struct {
				Requests map[string]growth `json:"requests"`
			}
			require.NoError(t, json.Unmarshal([]byte(configuration.Data[test.key]), &containers))
			memory := containers[test.container].Requests["memory"]
			got := map[int]string{}
			for nodes := range test.want {
				got[nodes] = memory.at(nodes).String()
			}
			require.Equal(t, test.want, got)
			most := memory.at(1_000_000)
			require.Negative(t, most.Cmp(resource.MustParse(test.limit)), "a pod that requests more than its limit is refused")
		})
	}
}

// at computes as cluster-proportional-vertical-autoscaler does: a step for every nodesPerStep nodes that have begun.
func (g growth) at(nodes int) *resource.Quantity {
	base, step, most := resource.MustParse(g.Base), resource.MustParse(g.Step), resource.MustParse(g.Max)
	steps := int64((nodes + g.NodesPerStep - 1) / g.NodesPerStep)
	sum := resource.NewQuantity(base.Value()+steps*step.Value(), resource.BinarySI)
	if sum.Cmp(most) > 0 {
		return &most
	}
	return sum
}

func TestHorizontalScaler_ReplicasByNodes(t *testing.T) {
	var decoded struct {
		CoresToReplicas [][2]int `json:"coresToReplicas"`
		NodesToReplicas [][2]int `json:"nodesToReplicas"`
	}
	configuration := named[*corev1.ConfigMap](t, mustOtherObjects(t, testSettings(nil)), "calico-typha-horizontal-autoscaler")
	require.NoError(t, json.Unmarshal([]byte(configuration.Data["ladder"]), &decoded))
	require.Empty(t, decoded.CoresToReplicas)
	require.NotNil(t, decoded.CoresToReplicas, "the scaler wants a list")
	for nodes, want := range map[int]int{1: 1, 2: 2, 99: 2, 100: 3, 249: 3, 250: 4, 500: 5, 1000: 6, 1500: 7, 2000: 8, 10000: 8} {
		got := 0
		for _, step := range decoded.NodesToReplicas {
			if nodes >= step[0] {
				got = step[1]
			}
		}
		require.Equal(t, want, got, "%d nodes", nodes)
	}
}

func TestTyphaResources(t *testing.T) {
	gigabyte := &calicov1alpha1.Resources{Typha: &corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
	huge := &calicov1alpha1.Resources{Typha: &corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("6Gi")}}
	for sentence, test := range map[string]struct {
		mode          calicov1alpha1.AutoscalingMode
		resources     *calicov1alpha1.Resources
		cpu           string
		memory, limit string
		preserved     bool
	}{
		"whoever counts nodes, from a default":     {"cluster-proportional", gigabyte, "200m", "100Mi", "4000Mi", true},
		"the user, and a default for the rest":     {"static", gigabyte, "200m", "1Gi", "4000Mi", false},
		"a default where the user says nothing":    {"static", nil, "200m", "100Mi", "4000Mi", false},
		"the user, who lifts the limit with it":    {"static", huge, "200m", "6Gi", "6Gi", false},
		"whoever measures the use, never below it": {"vpa", gigabyte, "200m", "1Gi", "4000Mi", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects := mustTypha(t, scaledBy(test.mode, test.resources))
			deployment := named[*appsv1.Deployment](t, objects, "calico-typha-deploy")
			resources := deployment.Spec.Template.Spec.Containers[0].Resources
			assert.Equal(t, test.cpu, resources.Requests.Cpu().String())
			assert.Equal(t, test.memory, resources.Requests.Memory().String())
			assert.Equal(t, test.limit, resources.Limits.Memory().String())
			assert.Equal(t, test.preserved, deployment.Annotations["resources.gardener.cloud/preserve-resources"] == "true")
			assert.Equal(t, "true", deployment.Annotations["resources.gardener.cloud/preserve-replicas"])
			assert.Nil(t, deployment.Spec.Replicas, "the horizontal scaler says how many, in all modes")
		})
	}
}

func TestNodeResources(t *testing.T) {
	resources := &calicov1alpha1.Resources{Node: &corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}
	for sentence, test := range map[string]struct {
		change func(*settings)
		cpu    string
	}{
		"whoever counts nodes, from a default": {scaledBy("cluster-proportional", resources), "250m"},
		"the user":                             {scaledBy("static", resources), "500m"},
		"whoever measures the use, never below what the user says": {scaledBy("vpa", resources), "500m"},
		"whoever counts nodes where nobody measures the use": {
			func(s *settings) {
				scaledBy("vpa", resources)(s)
				s.verticalAutoscaling = false
			},
			"250m",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := testSettings(test.change).nodeResources()
			assert.Equal(t, test.cpu, got.Requests.Cpu().String())
			assert.Equal(t, "100Mi", got.Requests.Memory().String())
			assert.Equal(t, "2800Mi", got.Limits.Memory().String())
		})
	}
}

func TestGivenResources_NotModified(t *testing.T) {
	resources := &calicov1alpha1.Resources{Node: &corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}
	s := testSettings(scaledBy("vpa", resources))
	mustOtherObjects(t, s)
	s.nodeResources()
	require.Len(t, *resources.Node, 1)
}
