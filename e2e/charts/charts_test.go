package charts

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/grm"
	"github.com/trellis-garden/trellis/e2e/internal/kcm"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

const (
	// timeout bounds each wait. It is long, because it only takes time if a test fails.
	timeout  = 5 * time.Minute
	interval = 100 * time.Millisecond
)

// environment is a seed without installations.
type environment struct {
	*clusters.Seed
	// programs is the folder of other projects' programs.
	programs string
}

// TestCharts tests all charts in one seed. The parts do not depend on one another.
func TestCharts(t *testing.T) {
	started := clusterstest.New(t, clusters.Options{Bare: true, Programs: []string{kcm.Name, grm.Name}})
	env := &environment{Seed: started.Source, programs: started.Programs}
	env.setUp(t)
	require.NoError(t, env.Client.Create(t.Context(), writers()))
	require.NoError(t, env.Client.Create(t.Context(), writersBinding()))
	checker, err := kcm.Start(t.Context(), started.Programs, t.TempDir(), env.Kubeconfig, "validatingadmissionpolicy-status-controller")
	require.NoError(t, err)
	t.Cleanup(checker.Kill)

	for _, part := range []struct {
		name string
		run  func(*testing.T, *environment)
	}{
		{"DryRun", testDryRun},
		{"HandOver", testHandOver},
		{"StatusGuard", testStatusGuard},
		{"SecretGuard", testSecretGuard},
		{"UninstallSecondary", testUninstallSecondary},
		{"CommandLines", testCommandLines},
		{"Types", testTypes},
		{"Metrics", testMetrics},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, env) })
	}
}

// setUp creates the objects that charts need in a seed. Pods in the namespaces of extensions must satisfy the strictest pod security standard.
func (env *environment) setUp(t *testing.T) {
	t.Helper()
	require.NoError(t, seed.Define(t.Context(), env.Client))
	for _, class := range append(seed.PriorityClasses(),
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: v1beta1constants.PriorityClassNameGardenSystem200}, Value: 999999200},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: v1beta1constants.PriorityClassNameGardenSystem400}, Value: 999999400},
	) {
		require.NoError(t, env.Client.Create(t.Context(), class))
	}
	namespaces := []string{"garden", "heartbeats", "shoot--local--guarded"}
	for _, name := range all() {
		namespaces = append(namespaces, release(name).Namespace)
	}
	for _, name := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if strings.HasPrefix(name, "extension-") {
			namespace.Labels = map[string]string{
				"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "latest",
			}
		}
		require.NoError(t, client.IgnoreAlreadyExists(env.Client.Create(t.Context(), namespace)))
	}
}

// all lists the charts of controllers, of admission and of the operator.
func all() []string {
	return slices.Concat(charts.Names(), charts.AdmissionNames(), charts.InstallationNames())
}

func release(name string) charts.Release {
	return charts.Release{Name: "of-" + name, Namespace: "extension-of-" + name}
}

func typesOf(name string) []string {
	switch name {
	case "network-controller":
		return []string{"calico", "gardenet"}
	case charts.AdmissionRuntime, charts.AdmissionApplication:
		return []string{"openstack", "aws", "calico", "gardenet", "registrations"}
	case charts.InstallationSeed, charts.InstallationRuntime, charts.InstallationApplication:
		return []string{"trellis"}
	default:
		return []string{"openstack", "aws"}
	}
}

// render renders a chart with its types, and with other values.
func render(t *testing.T, name string, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	return renderAs(t, release(name), name, values)
}

func renderAs(t *testing.T, release charts.Release, name string, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	archive, err := charts.Archive(name, "v0.1.0")
	require.NoError(t, err)
	types := typesOf(name)
	if values["role"] == "secondary" && name == "infrastructure-controller" {
		types = []string{"openstack"} // the only one with an observer
	}
	all := map[string]any{"types": types}
	maps.Copy(all, values)
	objects, err := charts.Render(archive, release, all)
	require.NoError(t, err)
	return objects
}

// only returns the only object of a kind.
func only(t *testing.T, objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() == kind {
			found = append(found, object)
		}
	}
	require.Len(t, found, 1, kind)
	return found[0]
}

// allValues enable what a chart leaves out by default.
func allValues(name string) map[string]any {
	if slices.Contains(charts.AdmissionNames(), name) {
		return map[string]any{
			"defaults":         map[string]any{"overlayOff": []string{}, "podRoutes": []string{"openstack", "local"}, "nodeLocalDNSWithoutTCP": false},
			"service":          map[string]any{"topologyAwareRouting": map[string]any{"enabled": true}},
			"serviceAccount":   map[string]any{"mountToken": true},
			"imagePullSecrets": []string{"registry"},
			"garden":           map[string]any{"kubeconfigSecret": "garden", "webhookURL": "admission.example.org:8443"},
			"gardener":         map[string]any{"virtualCluster": map[string]any{"namespace": "extension-admission"}},
			"disableWebhooks":  []string{"shoot.openstack", "extension.registrations"},
			"logLevel":         "debug",
			"logFormat":        "text",
		}
	}
	switch name {
	case charts.InstallationSeed:
		return allOperatorValues(map[string]any{"usablePorts": []int{41001, 41002, 41003, 41004, 41005}})
	case charts.InstallationRuntime:
		return allOperatorValues(map[string]any{
			"seedSelector": "stage in (canary, early),!legacy", "gardenAddress": "https://garden.example.org:443",
			"garden": map[string]any{"kubeconfigSecret": "garden"},
		})
	case charts.InstallationApplication:
		return map[string]any{"gardener": map[string]any{"virtualCluster": map[string]any{"namespace": "extension-operator"}}}
	}
	values := map[string]any{
		"extensionClasses": []string{"shoot", "seed"},
		"serviceAccount":   map[string]any{"mountToken": true},
		"heartbeat":        map[string]any{"namespace": "heartbeats"},
		"imagePullSecrets": []string{"registry"},
		"gardener":         map[string]any{"version": "v1.149.3"},
		"usablePorts":      []int{41001, 41002, 41003, 41004, 41005},
		"logLevel":         "debug",
		"logFormat":        "text",
		"statusGuard":      map[string]any{"users": []string{`o'neill "the" <admin>`}},
	}
	maps.Copy(values, placementValues())
	if name != "infrastructure-controller" {
		values["secretGuard"] = map[string]any{"namespaces": []string{"garden"}}
		values["imageVectorOverwrite"] = "images: [{name: something, ref: registry.example.org/something}]"
	}
	switch name {
	case "controlplane-controller":
		values["disableWebhooks"] = []string{"etcd.openstack", "cloudprovider.openstack"}
		values["etcd"] = map[string]any{
			"main":   map[string]any{"storageClass": "fast", "storageCapacity": "25Gi"},
			"events": map[string]any{"storageClass": "slow", "storageCapacity": "5Gi"},
		}
	case "worker-controller":
		values["disableWebhooks"] = []string{"*"}
		values["machineController"] = map[string]any{"images": map[string]any{"openstack": map[string]any{"tag": "v9"}}}
	}
	return values
}

// allOperatorValues is allValues for the operator's charts, without values that only one of them has.
func allOperatorValues(own map[string]any) map[string]any {
	maps.Copy(own, map[string]any{
		"syncPeriod": "1m", "concurrentSyncs": 7, "imagePullSecrets": []string{"registry"}, "serviceAccount": map[string]any{"mountToken": true},
		"logLevel": "debug", "logFormat": "text",
	})
	return own
}

// placementValues are values for scheduling and for pods' metadata.
func placementValues() map[string]any {
	return map[string]any{
		"podAnnotations":            map[string]string{"example.org/backup": "none"},
		"extraEnv":                  []any{map[string]any{"name": "NO_PROXY", "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "status.hostIP"}}}},
		"nodeSelector":              map[string]string{"node.kubernetes.io/purpose": "extensions"},
		"tolerations":               []any{map[string]any{"key": "extensions", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}},
		"priorityClassName":         "gardener-garden-system-400",
		"imageRegistries":           map[string]any{"registry.example.org": map[string]any{"username": "puller", "password": "secret"}},
		"topologySpreadConstraints": []any{map[string]any{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}},
		"affinity": map[string]any{"podAntiAffinity": map[string]any{"preferredDuringSchedulingIgnoredDuringExecution": []any{map[string]any{
			"weight": 100, "podAffinityTerm": map[string]any{"topologyKey": "kubernetes.io/hostname", "labelSelector": map[string]any{}},
		}}}},
	}
}
