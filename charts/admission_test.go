package charts

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// operatorValues are the values that gardener-operator mixes in for a half of admission (gardener/pkg/operator/controller/extension/extension/admission).
func operatorValues(name string) map[string]any {
	if name == AdmissionRuntime {
		return map[string]any{"gardener": map[string]any{
			"runtimeCluster": map[string]any{"priorityClassName": "gardener-garden-system-400"},
			"virtualCluster": map[string]any{"enabled": true, "namespace": "extension-admission"},
		}}
	}
	return map[string]any{"gardener": map[string]any{"virtualCluster": map[string]any{
		"enabled": true, "serviceAccount": map[string]any{"name": "extension-admission-admission", "namespace": "kube-system"},
	}}}
}

// oneClusterValues are those for a garden that is the cluster that the pods run in, without gardener-operator.
func oneClusterValues() map[string]any {
	return map[string]any{
		"serviceAccount": map[string]any{"mountToken": true},
		"gardener": map[string]any{
			"runtimeCluster": map[string]any{"priorityClassName": ""},
			"virtualCluster": map[string]any{"serviceAccount": map[string]any{"name": "gardener-extension-admission", "namespace": "garden"}},
		},
	}
}

// twoClusterValues are those for a garden that is another cluster, without gardener-operator.
func twoClusterValues() map[string]any {
	return map[string]any{
		"serviceAccount": map[string]any{"mountToken": true},
		"garden":         map[string]any{"kubeconfigSecret": "admission-garden", "webhookURL": "admission.example.org:8443"},
		"gardener":       map[string]any{"virtualCluster": map[string]any{"namespace": "trellis", "serviceAccount": map[string]any{"name": "admission"}}},
	}
}

// allAdmissionValues switches on and changes what can be.
func allAdmissionValues() map[string]any {
	values := map[string]any{
		"defaults":         map[string]any{"overlayOff": []string{}, "podRoutes": []string{"openstack", "local"}, "nodeLocalDNSWithoutTCP": false},
		"image":            map[string]any{"repository": "registry.example.org/admission", "tag": "v9", "digest": digest, "pullPolicy": "Always"},
		"imagePullSecrets": []string{"registry"},
		"replicaCount":     3,
		"podLabels":        map[string]string{"networking.gardener.cloud/to-private-networks": "allowed"},
		"resources":        map[string]any{"requests": map[string]any{"cpu": "100m"}, "limits": map[string]any{"memory": "1.5G"}},
		"vpa":              map[string]any{"updateMode": "Initial", "minAllowed": map[string]any{"cpu": "10m"}, "maxAllowed": map[string]any{"memory": "2Gi"}},
		"service":          map[string]any{"topologyAwareRouting": map[string]any{"enabled": true}},
		"serviceAccount":   map[string]any{"mountToken": true},
		"leaderElection":   map[string]any{"id": "another"},
		"disableWebhooks":  []string{"shootdefaults.openstack"},
		"logLevel":         "debug",
	}
	maps.Copy(values, placementValues())
	return values
}

// minimalAdmissionValues switches off what can be.
func minimalAdmissionValues() map[string]any {
	return map[string]any{
		"replicaCount": 0,
		"vpa":          map[string]any{"enabled": false},
		"logFormat":    "text",
		"metrics":      map[string]any{"scrape": false, "alerts": false, "dashboard": false},
		"gardener":     nil,
	}
}

// typesOnly are those that gardener-operator mixes in, for some types.
func typesOnly(name string, types ...string) map[string]any {
	values := operatorValues(name)
	values["types"] = types
	return values
}

// For gardener-operator, testdata has all that is rendered; for all else, what is different from that.
func TestRender_AdmissionGolden(t *testing.T) {
	for _, name := range AdmissionNames() {
		compareAll(t, name, "operator", operatorValues(name), map[string]map[string]any{
			"one-cluster":        oneClusterValues(),
			"two-clusters":       twoClusterValues(),
			"everything":         allAdmissionValues(),
			"nothing":            minimalAdmissionValues(),
			"only-openstack":     typesOnly(name, "openstack"),
			"only-aws":           typesOnly(name, "aws"),
			"only-calico":        typesOnly(name, "calico"),
			"only-registrations": typesOnly(name, "registrations"),
		})
	}
}

// gardener-operator gives one set of values to both charts.
func TestAdmissionCharts_SameValues(t *testing.T) {
	for _, file := range []string{"values.yaml", "values.schema.json"} {
		var contents []string
		for _, name := range AdmissionNames() {
			content, err := os.ReadFile(filepath.Join(folder(name), file))
			require.NoError(t, err)
			contents = append(contents, string(content))
		}
		assert.Equal(t, contents[0], contents[1], "%s of both charts; change one and copy it", file)
	}
}

func TestRender_AdmissionInvalidValues(t *testing.T) {
	for sentence, test := range map[string]struct {
		values map[string]any
		want   []string
	}{
		"no types":                    {map[string]any{"types": []string{}}, []string{"'/types'", "minItems"}},
		"an unknown type":             {map[string]any{"types": []string{"azure"}}, []string{"'/types/0'", "'openstack', 'aws', 'calico', 'gardenet', 'registrations'"}},
		"a type twice":                {map[string]any{"types": []string{"calico", "calico"}}, []string{"'/types'"}},
		"a name that is none":         {map[string]any{"concurrentSyncs": 3}, []string{"concurrentSyncs: this chart has no such value"}},
		"a role":                      {map[string]any{"role": "primary"}, []string{"role: this chart has no such value"}},
		"a default that there is not": {map[string]any{"defaults": map[string]any{"overlay": false}}, []string{"'/defaults'", "'overlay'"}},
		"a default that is no list":   {map[string]any{"defaults": map[string]any{"podRoutes": "openstack"}}, []string{"'/defaults/podRoutes'", "want array"}},
		"a Secret that cannot be one": {map[string]any{"garden": map[string]any{"kubeconfigSecret": "a b"}}, []string{"'/garden/kubeconfigSecret'"}},
		"a URL with what is too much": {map[string]any{"garden": map[string]any{"webhookURL": "https://x"}}, []string{"'/garden/webhookURL'"}},
		"a namespace that is none":    {gardenerValue("virtualCluster", map[string]any{"namespace": "A"}), []string{"'/gardener/virtualCluster/namespace'"}},
		"a priority that is no name":  {gardenerValue("runtimeCluster", map[string]any{"priorityClassName": 400}), []string{"'/gardener/runtimeCluster/priorityClassName'"}},
		"a limit of CPU":              {map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": 1}}}, []string{"'/resources/limits'", "'cpu'"}},
		"routing that is neither":     {map[string]any{"service": map[string]any{"topologyAwareRouting": map[string]any{"enabled": "yes"}}}, []string{"want boolean"}},
		"an account that cannot be": {
			gardenerValue("virtualCluster", map[string]any{"serviceAccount": map[string]any{"name": "a b"}}),
			[]string{"'/gardener/virtualCluster/serviceAccount/name'"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, name := range AdmissionNames() {
				_, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, test.values))
				require.Error(t, err, name)
				for _, want := range test.want {
					assert.ErrorContains(t, err, want, name)
				}
			}
		})
	}
}

func gardenerValue(key string, value any) map[string]any {
	return map[string]any{"gardener": map[string]any{key: value}}
}

func TestRender_AdmissionUnknownGardenerValues(t *testing.T) {
	for _, name := range AdmissionNames() {
		values := operatorValues(name)
		grown := values["gardener"].(map[string]any)
		grown["version"] = "v2"
		grown["virtualCluster"].(map[string]any)["domain"] = "example.org"
		assert.Equal(t, manifest(t, name, withTypes(name, operatorValues(name))), manifest(t, name, withTypes(name, values)))
	}
}

// What is in both halves must be told apart: the garden may be the cluster that the pods run in.
func TestAdmissionCharts_OneCluster(t *testing.T) {
	known := map[string]bool{}
	for _, name := range AdmissionNames() {
		objects, err := Render(archiveOf(t, name), Release{Name: name, Namespace: "garden"}, withTypes(name, oneClusterValues()))
		require.NoError(t, err)
		for _, object := range objects {
			key := object.GetKind() + " " + object.GetName()
			assert.False(t, known[key], key)
			known[key] = true
		}
	}
}

// Pods of one cluster work as the ServiceAccount that the chart for the garden gives rights to.
func TestAdmissionCharts_OneClusterRBAC(t *testing.T) {
	runtimeHalf, err := Render(archiveOf(t, AdmissionRuntime), releaseOf(AdmissionRuntime), withTypes(AdmissionRuntime, oneClusterValues()))
	require.NoError(t, err)
	gardenHalf, err := Render(archiveOf(t, AdmissionApplication), releaseOf(AdmissionApplication), withTypes(AdmissionApplication, oneClusterValues()))
	require.NoError(t, err)
	var deployment appsv1.Deployment
	var binding rbacv1.ClusterRoleBinding
	into(t, only(t, runtimeHalf, "Deployment"), &deployment)
	into(t, only(t, gardenHalf, "ClusterRoleBinding"), &binding)
	want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: deployment.Spec.Template.Spec.ServiceAccountName, Namespace: deployment.Namespace}}
	assert.Equal(t, want, binding.Subjects)
}

// gardener-operator leaves pods alone that have a kubeconfig of the garden already.
func TestAdmissionCharts_OperatorKubeconfig(t *testing.T) {
	for sentence, test := range map[string]struct {
		values map[string]any
		want   string
	}{
		"with gardener-operator": {values: operatorValues(AdmissionRuntime)},
		"without it":             {values: twoClusterValues(), want: "/etc/trellis/garden/kubeconfig"},
		"in one cluster":         {values: oneClusterValues()},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects, err := Render(archiveOf(t, AdmissionRuntime), releaseOf(AdmissionRuntime), withTypes(AdmissionRuntime, test.values))
			require.NoError(t, err)
			var deployment appsv1.Deployment
			into(t, only(t, objects, "Deployment"), &deployment)
			got := ""
			for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
				if variable.Name == "GARDEN_KUBECONFIG" {
					got = variable.Value
				}
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestAdmissionCharts_ValueDescriptions(t *testing.T) {
	// There are other types, and other things are mixed in.
	own := map[string]bool{"types": true, "gardener": true}
	var admission, worker struct {
		Properties map[string]any `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(schemaOf(t, AdmissionRuntime), &admission))
	require.NoError(t, json.Unmarshal(schemaOf(t, "worker-controller"), &worker))
	for field := range maps.Keys(admission.Properties) {
		if meaning, ok := worker.Properties[field]; ok && !own[field] {
			assert.Empty(t, cmp.Diff(meaning, admission.Properties[field]), field)
		}
	}
}

func into(t *testing.T, object *unstructured.Unstructured, target any) {
	t.Helper()
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, target))
}
