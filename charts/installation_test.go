package charts

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// gardenCharts are the two halves of the operator that works from the garden.
func gardenCharts() []string { return []string{InstallationRuntime, InstallationApplication} }

// operatorInstallationValues are the values that gardener-operator mixes in for a half of the operator in the garden, which it takes for an admission.
func operatorInstallationValues(name string) map[string]any {
	if name == InstallationRuntime {
		return map[string]any{"gardener": map[string]any{
			"runtimeCluster": map[string]any{"priorityClassName": "gardener-garden-system-400"},
			"virtualCluster": map[string]any{"enabled": true, "namespace": "extension-controllerinstallation-garden"},
		}}
	}
	return map[string]any{"gardener": map[string]any{"virtualCluster": map[string]any{
		"enabled": true, "serviceAccount": map[string]any{"name": "extension-admission-controllerinstallation-garden", "namespace": "kube-system"},
	}}}
}

// oneClusterInstallationValues are those for a garden that is the cluster that the pods run in, without gardener-operator.
func oneClusterInstallationValues() map[string]any {
	return map[string]any{
		"serviceAccount": map[string]any{"mountToken": true},
		"gardener": map[string]any{
			"runtimeCluster": map[string]any{"priorityClassName": ""},
			"virtualCluster": map[string]any{"serviceAccount": map[string]any{
				"name": "gardener-extension-controllerinstallation-controller-garden", "namespace": "garden",
			}},
		},
	}
}

// twoClusterInstallationValues are those for a garden that is another cluster, without gardener-operator.
func twoClusterInstallationValues() map[string]any {
	return map[string]any{
		"serviceAccount": map[string]any{"mountToken": true},
		"garden":         map[string]any{"kubeconfigSecret": "installations-garden"},
		"gardenAddress":  "https://api.garden.example.org",
		"gardener":       map[string]any{"virtualCluster": map[string]any{"serviceAccount": map[string]any{"name": "installations", "namespace": "trellis"}}},
	}
}

// allInstallationValues switches on and changes what can be.
func allInstallationValues(name string) map[string]any {
	values := map[string]any{
		"syncPeriod": "1m30s", "concurrentSyncs": 50, "replicaCount": 3,
		"image":            map[string]any{"repository": "registry.example.org/operator", "tag": "v9", "digest": digest, "pullPolicy": "Always"},
		"imagePullSecrets": []string{"registry"},
		"podLabels":        map[string]string{"networking.gardener.cloud/to-blocked-cidrs": "allowed"},
		"resources":        map[string]any{"requests": map[string]any{"cpu": "100m"}, "limits": map[string]any{"memory": 1073741825}},
		"vpa":              map[string]any{"updateMode": "Initial", "minAllowed": map[string]any{"cpu": "10m"}, "maxAllowed": map[string]any{"memory": "2Gi"}},
		"serviceAccount":   map[string]any{"mountToken": true},
		"leaderElection":   map[string]any{"id": "another"},
		"logLevel":         "debug",
	}
	maps.Copy(values, placementValues())
	if name == InstallationSeed {
		maps.Copy(values, seedValues())
		values["usablePorts"] = []int{41001, 41002, 41003, 41004, 41005}
	} else {
		values["seedSelector"] = `operator=garden,stage in (dev,live)`
		values["gardenAddress"] = "https://api.garden.example.org:6443"
	}
	return values
}

// minimalInstallationValues switches off what can be.
func minimalInstallationValues() map[string]any {
	return map[string]any{
		"replicaCount": 0,
		"vpa":          map[string]any{"enabled": false},
		"logFormat":    "text",
		"metrics":      map[string]any{"scrape": false, "alerts": false, "dashboard": false},
		"gardener":     nil,
	}
}

// For a seed, and for gardener-operator, testdata has all that is rendered; for all else, what is different from that.
func TestRender_InstallationGolden(t *testing.T) {
	compareAll(t, InstallationSeed, "seed", seedValues(), map[string]map[string]any{
		"self-hosted-shoot": selfHostedShootValues(),
		"everything":        allInstallationValues(InstallationSeed),
		"nothing":           minimalInstallationValues(),
	})
	for _, name := range gardenCharts() {
		compareAll(t, name, "operator", operatorInstallationValues(name), map[string]map[string]any{
			"one-cluster":  oneClusterInstallationValues(),
			"two-clusters": twoClusterInstallationValues(),
			"everything":   allInstallationValues(name),
			"nothing":      minimalInstallationValues(),
		})
	}
}

// gardener-operator gives one set of values to both charts.
func TestInstallationCharts_SameValues(t *testing.T) {
	for _, file := range []string{"values.yaml", "values.schema.json"} {
		var contents []string
		for _, name := range gardenCharts() {
			content, err := os.ReadFile(filepath.Join(folder(name), file))
			require.NoError(t, err)
			contents = append(contents, string(content))
		}
		assert.Equal(t, contents[0], contents[1], "%s of both charts; change one and copy it", file)
	}
}

func TestRender_InstallationInvalidValues(t *testing.T) {
	for sentence, test := range map[string]struct {
		charts []string
		values map[string]any
		want   []string
	}{
		"no types":                 {InstallationNames(), map[string]any{"types": []string{}}, []string{"'/types'", "minItems"}},
		"the type of gardenlet":    {InstallationNames(), map[string]any{"types": []string{"trellis", "helm"}}, []string{"'/types/1'"}},
		"a period without a unit":  {InstallationNames(), map[string]any{"syncPeriod": "30"}, []string{"'/syncPeriod'"}},
		"a period of nothing":      {InstallationNames(), map[string]any{"syncPeriod": ""}, []string{"'/syncPeriod'"}},
		"no workers":               {InstallationNames(), map[string]any{"concurrentSyncs": 0}, []string{"'/concurrentSyncs'", "minimum"}},
		"a name that is none":      {InstallationNames(), map[string]any{"concurrentSync": 1}, []string{"concurrentSync: there is no such value; if it is to be concurrentSyncs"}},
		"a selector in a seed":     {[]string{InstallationSeed}, map[string]any{"seedSelector": "a=b"}, []string{"seedSelector: this chart has no such value"}},
		"an address without https": {gardenCharts(), map[string]any{"gardenAddress": "api.example.org"}, []string{"'/gardenAddress'"}},
		"a selector that is a map": {gardenCharts(), map[string]any{"seedSelector": map[string]any{"a": "b"}}, []string{"'/seedSelector'", "want string"}},
		"a Secret that cannot be":  {gardenCharts(), map[string]any{"garden": map[string]any{"kubeconfigSecret": "a b"}}, []string{"'/garden/kubeconfigSecret'"}},
		"an account that cannot be": {
			gardenCharts(), gardenerValue("virtualCluster", map[string]any{"serviceAccount": map[string]any{"name": "a b"}}),
			[]string{"'/gardener/virtualCluster/serviceAccount/name'"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, name := range test.charts {
				_, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, test.values))
				require.Error(t, err, name)
				for _, want := range test.want {
					assert.ErrorContains(t, err, want, name)
				}
			}
		})
	}
}

func TestInstallationCharts_CommandLine(t *testing.T) {
	for sentence, test := range map[string]struct {
		chart      string
		values     map[string]any
		want, less []string
	}{
		"in a seed, which its environment names": {
			InstallationSeed, seedValues(),
			[]string{"--types=trellis", "--sync-period=30s", "--max-concurrent-reconciles=5"},
			[]string{"--seed-name", "--seed-selector", "--garden-address"},
		},
		"in the garden, for all seeds": {
			InstallationRuntime, nil,
			[]string{"--types=trellis", "--leader-election-namespace=garden"},
			[]string{"--seed-name", "--seed-selector", "--garden-address"},
		},
		"in the garden, for some": {
			InstallationRuntime, allInstallationValues(InstallationRuntime), []string{
				"--seed-selector=operator=garden,stage in (dev,live)", "--garden-address=https://api.garden.example.org:6443",
				"--sync-period=1m30s", "--max-concurrent-reconciles=50",
			}, nil,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			args := deploymentOf(t, test.chart, test.values).Spec.Template.Spec.Containers[0].Args
			for _, want := range test.want {
				assert.Contains(t, args, want)
			}
			for _, flag := range test.less {
				assert.False(t, slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, flag) }), flag)
			}
		})
	}
}

// Without a name of a seed the binary would take itself for the operator of all seeds.
func TestInstallationCharts_SelfHostedShoot(t *testing.T) {
	both := selfHostedShootValues()
	both["gardener"].(map[string]any)["seed"] = seedValues()["gardener"].(map[string]any)["seed"]
	for sentence, test := range map[string]struct {
		values map[string]any
		want   int32
	}{
		"in a seed":              {seedValues(), 2},
		"in a self-hosted shoot": {selfHostedShootValues(), 0},
		"in a self-hosted shoot that is a seed as well": {both, 0},
		"where nobody says":                             {nil, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, *deploymentOf(t, InstallationSeed, test.values).Spec.Replicas)
		})
	}
}

// The garden's runtime cluster may be the garden, and a seed too.
func TestInstallationCharts_OneCluster(t *testing.T) {
	known := map[string]bool{}
	for name, values := range map[string]map[string]any{
		InstallationSeed: seedValues(), InstallationRuntime: oneClusterInstallationValues(), InstallationApplication: oneClusterInstallationValues(),
	} {
		objects, err := Render(archiveOf(t, name), Release{Name: name, Namespace: "garden"}, withTypes(name, values))
		require.NoError(t, err)
		for _, object := range objects {
			key := object.GetKind() + " " + object.GetName()
			assert.False(t, known[key], key)
			known[key] = true
		}
	}
}

// Pods of one cluster work as the ServiceAccount that the chart for the garden gives rights to.
func TestInstallationCharts_OneClusterRBAC(t *testing.T) {
	deployment := deploymentOf(t, InstallationRuntime, oneClusterInstallationValues())
	want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: deployment.Spec.Template.Spec.ServiceAccountName, Namespace: deployment.Namespace}}
	rights, err := Render(archiveOf(t, InstallationApplication), releaseOf(InstallationApplication), withTypes(InstallationApplication, oneClusterInstallationValues()))
	require.NoError(t, err)
	bound := 0
	for _, object := range rights {
		if !strings.HasSuffix(object.GetKind(), "Binding") {
			continue
		}
		var binding rbacv1.RoleBinding
		into(t, object, &binding)
		assert.Equal(t, want, binding.Subjects, binding.Name)
		assert.True(t, slices.ContainsFunc(rights, func(role *unstructured.Unstructured) bool {
			return role.GetKind() == binding.RoleRef.Kind && role.GetName() == binding.RoleRef.Name && role.GetNamespace() == binding.Namespace
		}), "%s is of a role there is", binding.Name)
		bound++
	}
	assert.Equal(t, len(rights), 2*bound, "every role is bound")
}

func TestInstallationCharts_GardenKubeconfig(t *testing.T) {
	for sentence, test := range map[string]struct {
		chart  string
		values map[string]any
		want   string
	}{
		"in a seed":              {chart: InstallationSeed, values: seedValues()},
		"with gardener-operator": {chart: InstallationRuntime, values: operatorInstallationValues(InstallationRuntime)},
		"without it":             {chart: InstallationRuntime, values: twoClusterInstallationValues(), want: "/etc/trellis/garden/kubeconfig"},
		"in one cluster":         {chart: InstallationRuntime, values: oneClusterInstallationValues()},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := ""
			for _, variable := range deploymentOf(t, test.chart, test.values).Spec.Template.Spec.Containers[0].Env {
				if variable.Name == "GARDEN_KUBECONFIG" {
					got = variable.Value
				}
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestInstallationCharts_ValueDescriptions(t *testing.T) {
	// There are other types, other things are mixed in, and who looks at something else is described otherwise.
	own := map[string]bool{"types": true, "gardener": true, "garden": true}
	type described struct {
		Properties map[string]any `json:"properties"`
	}
	read := func(name string) map[string]any {
		var values described
		require.NoError(t, json.Unmarshal(schemaOf(t, name), &values))
		return values.Properties
	}
	worker, inGarden := read("worker-controller"), read(InstallationRuntime)
	for field, meaning := range read(InstallationSeed) {
		if elsewhere, ok := inGarden[field]; ok && field != "gardener" {
			assert.Empty(t, cmp.Diff(elsewhere, meaning), field)
		}
	}
	for field, meaning := range inGarden {
		if elsewhere, ok := worker[field]; ok && !own[field] {
			assert.Empty(t, cmp.Diff(elsewhere, meaning), field)
		}
	}
}

func deploymentOf(t *testing.T, chart string, values map[string]any) appsv1.Deployment {
	t.Helper()
	objects, err := Render(archiveOf(t, chart), releaseOf(chart), withTypes(chart, values))
	require.NoError(t, err)
	var deployment appsv1.Deployment
	into(t, only(t, objects, "Deployment"), &deployment)
	return deployment
}
