package charts

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestSecondary_CommandLine(t *testing.T) {
	for sentence, test := range map[string]struct {
		chart      string
		values     map[string]any
		want, less []string
	}{
		"by default": {
			"infrastructure-controller", secondaryValues(nil),
			[]string{"--role=secondary", "--observation-interval=10m", "--cleanup-configmap=gardener-extension-infrastructure-observations"},
			[]string{"--observations", "--full-check-interval", "--extension-classes", "--webhook-config"},
		},
		"with some observations": {
			"infrastructure-controller", secondaryValues(map[string]any{"observations": []string{"quota", "deletion-blockers"}, "observationInterval": "90s"}),
			[]string{"--observations=quota,deletion-blockers", "--observation-interval=90s"},
			nil,
		},
		"of a binary with webhooks": {
			"worker-controller", secondaryValues(nil),
			[]string{"--role=secondary", "--cleanup-configmap=gardener-extension-worker-observations"},
			[]string{"--webhook-config", "--disable-webhooks", "--machine-controller"},
		},
		"in a runtime cluster": {
			"worker-controller", func() map[string]any {
				values := runtimeClusterValues()
				values["role"] = "secondary"
				return values
			}(), nil, []string{"--extension-classes"},
		},
		"of a primary": {
			"infrastructure-controller", seedValues(),
			[]string{"--role=primary"},
			[]string{"--observation", "--observation-interval", "--cleanup-configmap"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			args := deploymentOf(t, test.chart, test.values).Spec.Template.Spec.Containers[0].Args
			for _, want := range test.want {
				assert.Contains(t, args, want)
			}
			for _, flag := range test.less {
				assert.False(t, slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, flag) }), "%s in %s", flag, args)
			}
		})
	}
}

// What the controller needs to remove its conditions is kept when a ManagedResource is deleted, and nothing else.
func TestSecondary_KeptObjects(t *testing.T) {
	kept := []string{"ClusterRole", "ClusterRoleBinding", "Deployment", "Role", "RoleBinding", "Secret", "ServiceAccount"}
	for _, name := range observing() {
		for sentence, values := range map[string]map[string]any{"secondary": allSecondaryValues(name), "primary": allValues(name)} {
			t.Run(name+" "+sentence, func(t *testing.T) {
				objects, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, values))
				require.NoError(t, err)
				found := map[string]bool{}
				for _, object := range objects {
					annotated := object.GetAnnotations()["resources.gardener.cloud/keep-object"] == "true"
					own := object.GetNamespace() == "" || object.GetNamespace() == releaseOf(name).Namespace
					isImages := object.GetKind() == "ConfigMap" && strings.Contains(object.GetName(), "-images-")
					wanted := sentence == "secondary" && own && (slices.Contains(kept, object.GetKind()) || isImages)
					assert.Equal(t, wanted, annotated, "%s %s", object.GetKind(), object.GetName())
					found[object.GetKind()] = true
				}
				for _, kind := range kept {
					assert.True(t, found[kind], kind)
				}
			})
		}
	}
}

// A secondary writes conditions, Events, its Leases, and what is necessary to uninstall it.
func TestSecondary_Rights(t *testing.T) {
	for _, name := range observing() {
		t.Run(name, func(t *testing.T) {
			objects, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, secondaryValues(nil)))
			require.NoError(t, err)
			resource := map[string]string{
				"infrastructure-controller": "infrastructures", "controlplane-controller": "controlplanes", "network-controller": "networks", "worker-controller": "workers",
			}[name]
			clusterName := "extensions.gardener.cloud:trellis:" + releaseOf(name).Name
			assert.Equal(t, map[string][]string{
				resource + "/status":                 {"patch"},
				"events":                             {"create", "patch"},
				"clusterroles " + clusterName:        {"patch", "delete"},
				"clusterrolebindings " + clusterName: {"patch", "delete"},
			}, writesOf(t, only(t, objects, "ClusterRole")))
			registered := strings.TrimSuffix(name, "-controller")
			assert.Equal(t, map[string][]string{
				"leases": {"create"},
				"leases " + registered + "-leader-election": {"update"},
				"leases gardener-extension-heartbeat":       {"update"},
				"events":                                    {"create", "patch"},
				"configmaps gardener-extension-" + registered + "-observations": {"patch"},
			}, writesOf(t, only(t, objects, "Role")))
			for _, kind := range []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"} {
				for _, object := range objects {
					assert.NotEqual(t, kind, object.GetKind(), object.GetName())
				}
			}
		})
	}
}

// What other secondaries than that of Infrastructures observe is in the seed. That of ControlPlanes reads Secrets there.
func TestSecondary_Clouds(t *testing.T) {
	for _, name := range observing() {
		want := name == "infrastructure-controller"
		objects, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, secondaryValues(nil)))
		require.NoError(t, err)
		var role rbacv1.ClusterRole
		into(t, only(t, objects, "ClusterRole"), &role)
		secrets := slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "secrets") })
		assert.Equal(t, want || name == "controlplane-controller", secrets, "%s reads Secrets", name)
		labels := deploymentOf(t, name, secondaryValues(nil)).Spec.Template.Labels
		assert.Equal(t, want, labels["networking.gardener.cloud/to-private-networks"] == "allowed", "%s reaches clouds", name)
		assert.Equal(t, "allowed", labels["networking.gardener.cloud/to-runtime-apiserver"], name)
		assert.NotContains(t, labels, "networking.resources.gardener.cloud/to-all-shoots-kube-apiserver-tcp-443", name)
		assert.Equal(t, want, slices.ContainsFunc(expressionsOf(alertRulesOf(t, objects)), func(query string) bool {
			return strings.Contains(query, "trellis_cloud_requests_total")
		}), "%s has alerts about clouds", name)
	}
}

// writesOf returns the verbs of a role that change something, by resource and name.
func writesOf(t *testing.T, role *unstructured.Unstructured) map[string][]string {
	t.Helper()
	var decoded rbacv1.Role
	into(t, role, &decoded)
	writes := map[string][]string{}
	for _, rule := range decoded.Rules {
		changing := slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return slices.Contains([]string{"get", "list", "watch"}, verb) })
		for _, resource := range rule.Resources {
			names := rule.ResourceNames
			if len(names) == 0 {
				names = []string{""}
			}
			for _, name := range names {
				if key := strings.TrimSpace(resource + " " + name); len(changing) > 0 {
					writes[key] = append(writes[key], changing...)
				}
			}
		}
	}
	return writes
}

func TestSecondary_AgeLimit(t *testing.T) {
	for interval, want := range map[string]string{"10s": "> 3600", "10m": "> 3600", "30m": "> 10800", "2h": "> 43200", "1000s": "> 6000"} {
		objects, err := Render(archiveOf(t, "worker-controller"), releaseOf("worker-controller"),
			withTypes("worker-controller", secondaryValues(map[string]any{"observationInterval": interval})))
		require.NoError(t, err)
		assert.True(t, slices.ContainsFunc(expressionsOf(alertRulesOf(t, objects)), func(query string) bool {
			return strings.Contains(query, "trellis_observation_timestamp_seconds") && strings.HasSuffix(query, want)
		}), interval)
	}
}
