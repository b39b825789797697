package charts

import (
	"maps"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// typesOf are the types that a chart is rendered for in tests.
func typesOf(name string) []string {
	switch name {
	case "network-controller":
		return []string{"calico"}
	case AdmissionRuntime, AdmissionApplication:
		return []string{"openstack", "aws", "calico", "registrations"}
	case InstallationSeed, InstallationRuntime, InstallationApplication:
		return []string{"trellis"}
	default:
		return []string{"openstack", "aws"}
	}
}

// releaseOf is what gardenlet would install a registration as, and gardener-operator admission.
func releaseOf(name string) Release {
	switch name {
	case AdmissionRuntime:
		return Release{Name: "admission", Namespace: "garden"}
	case AdmissionApplication:
		return Release{Name: "admission", Namespace: "extension-admission"}
	case InstallationSeed:
		return Release{Name: "controllerinstallation", Namespace: "extension-controllerinstallation-x7k2p"}
	case InstallationRuntime:
		return Release{Name: "controllerinstallation-garden", Namespace: "garden"}
	case InstallationApplication:
		return Release{Name: "controllerinstallation-garden", Namespace: "extension-controllerinstallation-garden"}
	}
	registration := strings.TrimSuffix(name, "-controller")
	return Release{Name: registration, Namespace: "extension-" + registration + "-x7k2p"}
}

// observedTypesOf are those of a chart's types that a secondary observes.
func observedTypesOf(name string) []string {
	if name == "infrastructure-controller" {
		return []string{"openstack"}
	}
	return typesOf(name)
}

// withTypes adds the one value that a chart cannot do without.
func withTypes(name string, values map[string]any) map[string]any {
	all := map[string]any{"types": typesOf(name)}
	if values["role"] == "secondary" {
		all["types"] = observedTypesOf(name)
	}
	maps.Copy(all, values)
	return all
}

// seedValues are the values that gardenlet mixes in for a seed, field by field
// (gardener/pkg/gardenlet/controller/controllerinstallation/controllerinstallation/reconciler.go).
func seedValues() map[string]any {
	identity, domain := "seed-identity", "ingress.seed.example.org"
	seed := &gardencorev1beta1.Seed{
		ObjectMeta: metav1.ObjectMeta{
			Name: "seed", Labels: map[string]string{"region": "eu"}, Annotations: map[string]string{"note": "a seed"},
		},
		Spec: gardencorev1beta1.SeedSpec{
			Provider: gardencorev1beta1.SeedProvider{Type: "openstack", Region: "eu-1", Zones: []string{"eu-1a", "eu-1b"}},
			Networks: gardencorev1beta1.SeedNetworks{
				Pods: "100.96.0.0/11", Services: "100.64.0.0/13", BlockCIDRs: []string{"169.254.169.254/32"},
			},
			Taints:  []gardencorev1beta1.SeedTaint{{Key: gardencorev1beta1.SeedTaintProtected}},
			Ingress: &gardencorev1beta1.Ingress{Domain: domain},
			Volume:  &gardencorev1beta1.SeedVolume{Providers: []gardencorev1beta1.SeedVolumeProvider{{Purpose: "etcd-main", Name: "fast"}}},
		},
		Status: gardencorev1beta1.SeedStatus{ClusterIdentity: &identity},
	}
	return map[string]any{"gardener": map[string]any{
		"version":   "v1.149.3",
		"garden":    map[string]any{"clusterIdentity": "garden-identity", "genericKubeconfigSecretName": "generic-garden-kubeconfig-8f2b"},
		"gardenlet": map[string]any{"featureGates": map[string]bool{"IstioTLSTermination": false}},
		"seed": map[string]any{
			"name":            seed.Name,
			"clusterIdentity": *seed.Status.ClusterIdentity,
			"annotations":     seed.Annotations,
			"labels":          seed.Labels,
			"provider":        seed.Spec.Provider.Type,
			"region":          seed.Spec.Provider.Region,
			"volumeProvider":  seed.Spec.Volume.Providers[0].Name,
			"volumeProviders": seed.Spec.Volume.Providers,
			"ingressDomain":   &seed.Spec.Ingress.Domain,
			"protected":       true,
			"visible":         true,
			"taints":          seed.Spec.Taints,
			"networks":        seed.Spec.Networks,
			"blockCIDRs":      seed.Spec.Networks.BlockCIDRs,
			"spec":            seed.Spec,
		},
	}}
}

// selfHostedShootValues are those for a shoot that is its own seed, whose first node is just being made: there is no seed, and no pod network.
func selfHostedShootValues() map[string]any {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "root", Namespace: "garden"}}
	return map[string]any{
		"gardener": map[string]any{
			"version":                "v1.149.3",
			"garden":                 map[string]any{"clusterIdentity": "garden-identity"},
			"gardenlet":              map[string]any{"featureGates": map[string]bool{}},
			"selfHostedShootCluster": true,
			"shoot": map[string]any{
				"name": shoot.Name, "namespace": shoot.Namespace, "labels": shoot.Labels, "annotations": shoot.Annotations, "spec": shoot.Spec,
			},
		},
		"usablePorts": []int{41001, 41002, 41003, 41004, 41005},
	}
}

// runtimeClusterValues are those that gardener-operator mixes in for the cluster that the garden runs in
// (gardener/pkg/operator/controller/extension/extension/runtime).
func runtimeClusterValues() map[string]any {
	return map[string]any{"gardener": map[string]any{
		"runtimeCluster": map[string]any{
			"enabled": "true", "priorityClassName": "gardener-garden-system-200",
		},
	}}
}

// usualValues are the values that are mixed in where a chart is installed most of the time.
func usualValues(name string) map[string]any {
	switch {
	case slices.Contains(AdmissionNames(), name):
		return operatorValues(name)
	case slices.Contains(gardenCharts(), name):
		return operatorInstallationValues(name)
	default:
		return seedValues()
	}
}

// allValues switches on and changes what can be.
func allValues(name string) map[string]any {
	switch {
	case slices.Contains(AdmissionNames(), name):
		return allAdmissionValues()
	case slices.Contains(InstallationNames(), name):
		return allInstallationValues(name)
	}
	values := map[string]any{
		"extensionClasses": []string{"shoot", "seed"}, "concurrentSyncs": 50, "replicaCount": 3,
		"image":            map[string]any{"repository": "registry.example.org/controller", "tag": "v9", "digest": digest, "pullPolicy": "Always"},
		"imagePullSecrets": []string{"registry"},
		"podLabels":        map[string]string{"networking.gardener.cloud/to-blocked-cidrs": "allowed", "networking.gardener.cloud/to-dns": "otherwise"},
		"resources":        map[string]any{"requests": map[string]any{"cpu": "100m"}, "limits": map[string]any{"memory": "300Mi"}},
		"vpa":              map[string]any{"updateMode": "Initial", "minAllowed": map[string]any{"cpu": "10m"}, "maxAllowed": map[string]any{"memory": "2Gi"}},
		"serviceAccount":   map[string]any{"mountToken": true},
		"leaderElection":   map[string]any{"id": "another"},
		"heartbeat":        map[string]any{"namespace": "heartbeats", "renewIntervalSeconds": 10},
		"logLevel":         "debug",
		"statusGuard":      map[string]any{"users": []string{"system:serviceaccount:garden:gardenlet", `o'neill "the" <admin>`}, "groups": []string{"landscape-admins"}},
	}
	maps.Copy(values, placementValues())
	if name != "infrastructure-controller" {
		values["secretGuard"] = map[string]any{"namespaces": []string{"istio-ingress"}}
		values["imageVectorOverwrite"] = map[string]any{"images": []any{map[string]any{"name": "something", "ref": "registry.example.org/something@" + digest}}}
	}
	if name == "infrastructure-controller" {
		values["fullCheckInterval"] = "1h30m"
	}
	if name == "controlplane-controller" {
		values["disableWebhooks"] = []string{"etcd.openstack"}
		values["etcd"] = map[string]any{"main": map[string]any{"storageClass": "fast", "storageCapacity": "25Gi"}, "events": map[string]any{"storageClass": "slow"}}
	}
	if name == "network-controller" {
		values["gardenetAgent"] = map[string]any{"image": map[string]any{"digest": digest}}
		values["gardenetServiceRouter"] = map[string]any{"image": map[string]any{"repository": "registry.example.org/service-router", "tag": "v9"}}
	}
	if name == "worker-controller" {
		values["disableWebhooks"] = []string{"*"}
		values["machineController"] = map[string]any{
			"images": map[string]any{
				"openstack": map[string]any{"repository": "registry.example.org/machine-controller-openstack", "tag": "v9"},
				"aws":       map[string]any{"digest": digest},
			},
			"resources": map[string]any{"limits": map[string]any{"memory": "512Mi"}},
		}
	}
	return values
}

// observing lists the charts of binaries that can be secondaries.
func observing() []string {
	return []string{"infrastructure-controller", "controlplane-controller", "network-controller", "worker-controller"}
}

// secondaryValues are those of a secondary in a seed.
func secondaryValues(more map[string]any) map[string]any {
	values := seedValues()
	values["role"] = "secondary"
	maps.Copy(values, more)
	return values
}

// allSecondaryValues are allValues for a secondary.
func allSecondaryValues(name string) map[string]any {
	values := allValues(name)
	values["extensionClasses"] = []string{"shoot"}
	values["observations"], values["observationInterval"] = map[string][]string{
		"infrastructure-controller": {"drift", "quota"}, "controlplane-controller": {"certificates"}, "network-controller": {"pod-range"}, "worker-controller": {"images"},
	}[name], "2h"
	return secondaryValues(values)
}

// placementValues says where pods run, and what is around them.
func placementValues() map[string]any {
	return map[string]any{
		"imageRegistries": map[string]any{"registry.example.org:5000": map[string]any{"username": "puller", "password": `p:a"ss`}},
		"podAnnotations":  map[string]string{"example.org/backup": "none"},
		"extraEnv": []any{
			env("HTTPS_PROXY", "http://proxy.example.org:3128"),
			map[string]any{"name": "NO_PROXY", "valueFrom": map[string]any{"configMapKeyRef": map[string]any{"name": "proxy", "key": "none"}}},
		},
		"nodeSelector":      map[string]string{"node.kubernetes.io/purpose": "extensions"},
		"tolerations":       []any{map[string]any{"key": "extensions", "operator": "Exists", "effect": "NoSchedule"}},
		"priorityClassName": "extensions",
		"affinity": map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{
			"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{map[string]any{"key": "kubernetes.io/arch", "operator": "In", "values": []string{"amd64"}}}}},
		}}},
		"topologySpreadConstraints": []any{
			map[string]any{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"},
			map[string]any{
				"maxSkew": 2, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
				"labelSelector": map[string]any{"matchLabels": map[string]string{"app.kubernetes.io/part-of": "trellis"}},
			},
		},
	}
}

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// minimalValues switches off what can be.
func minimalValues(name string) map[string]any {
	values := map[string]any{
		"replicaCount": 0,
		"vpa":          map[string]any{"enabled": false},
		"logFormat":    "text",
		"metrics":      map[string]any{"scrape": false, "alerts": false, "dashboard": false},
		"statusGuard":  map[string]any{"enabled": false},
		"resources":    map[string]any{"limits": map[string]any{"memory": 0}},
		"gardener":     nil,
	}
	switch name {
	case "infrastructure-controller":
		return values
	case "worker-controller":
		values["machineController"] = map[string]any{"resources": map[string]any{"limits": map[string]any{"memory": "0"}}}
	}
	values["secretGuard"] = map[string]any{"enabled": false}
	return values
}

func archiveOf(t *testing.T, name string) []byte {
	t.Helper()
	archive, err := Archive(name, "v0.1.0")
	require.NoError(t, err)
	return archive
}
