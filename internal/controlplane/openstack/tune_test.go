package openstack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
	"github.com/trellis-garden/trellis/internal/golden"
)

// clusterWith returns a shoot in RegionOne, of a cloud profile with some configuration or, for nil, none.
func clusterWith(t *testing.T, config *openstackv1alpha1.CloudProfileConfig) *contract.Cluster {
	t.Helper()
	cluster := &contract.Cluster{
		Shoot:        &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{Region: "RegionOne"}},
		CloudProfile: &gardencorev1beta1.CloudProfile{},
	}
	if config != nil {
		config.APIVersion, config.Kind = openstackv1alpha1.GroupVersion().String(), "CloudProfileConfig"
		raw, err := json.Marshal(config)
		require.NoError(t, err)
		cluster.CloudProfile.Spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	}
	return cluster
}

func tune(object client.Object, tuned *tuning.Tuning) error {
	switch object := object.(type) {
	case *extensionsv1alpha1.OperatingSystemConfig:
		return tuning.TuneOperatingSystemConfig(object, *tuned)
	case *appsv1.Deployment:
		if object.Name == "kube-apiserver" {
			return tuning.TuneKubeAPIServer(object, tuned.KubeAPIServer)
		}
		return tuning.TuneKubeControllerManager(object, tuned.KubeControllerManager)
	default:
		return nil
	}
}

// The objects in the files before are what Gardener renders: package components of e2e writes them, and fails when Gardener's change.
func TestDriver_TuneGoldenFiles(t *testing.T) {
	cluster := clusterWith(t, &openstackv1alpha1.CloudProfileConfig{ResolvConfOptions: []string{"rotate", "timeout:1"}})
	tuned, err := (&Driver{}).Tune(&controlplane.TuneRequest{Scope: tuning.Nodes, Cluster: cluster})
	require.NoError(t, err)
	ofControlPlane, err := (&Driver{}).Tune(&controlplane.TuneRequest{Scope: tuning.ControlPlane, Cluster: cluster})
	require.NoError(t, err)
	tuned.KubeAPIServer, tuned.KubeControllerManager = ofControlPlane.KubeAPIServer, ofControlPlane.KubeControllerManager
	for _, version := range []string{"1.32", "1.36"} {
		for name, object := range map[string]client.Object{
			"kube-apiserver": &appsv1.Deployment{}, "kube-controller-manager": &appsv1.Deployment{},
			"osc-provision": &extensionsv1alpha1.OperatingSystemConfig{}, "osc-reconcile": &extensionsv1alpha1.OperatingSystemConfig{},
		} {
			t.Run(version+"/"+name, func(t *testing.T) {
				file := filepath.Join("testdata", "tuning", version, name)
				before, err := os.ReadFile(file + ".before.yaml")
				require.NoError(t, err)
				require.NoError(t, yaml.UnmarshalStrict(before, object))
				require.NoError(t, tune(object, tuned))
				got, err := yaml.Marshal(object)
				require.NoError(t, err)
				golden.CheckYAML(t, file+".after.yaml", string(got))

				once, ok := object.DeepCopyObject().(client.Object)
				require.True(t, ok)
				require.NoError(t, tune(object, tuned))
				assert.Empty(t, cmp.Diff(once, object), "a second pass")
			})
		}
	}
}

// What there was before clouds left Kubernetes, as old Deployments and other webhooks may still have it.
func TestDriver_TuneOldKubeControllerManager(t *testing.T) {
	old := &appsv1.Deployment{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(`
metadata: {name: kube-controller-manager}
spec:
  selector: {matchLabels: {role: controller-manager}}
  template:
    metadata:
      labels:
        role: controller-manager
        networking.gardener.cloud/to-dns: allowed
        networking.gardener.cloud/to-blocked-cidrs: allowed
        networking.gardener.cloud/to-public-networks: allowed
        networking.gardener.cloud/to-private-networks: allowed
    spec:
      containers:
      - name: kube-controller-manager
        command: [/kcm, --cloud-provider=openstack, --cloud-config=/etc/a, --external-cloud-volume-plugin=openstack, --v=2]
        volumeMounts:
        - {name: etc-ssl, mountPath: /etc/ssl}
        - {name: ca, mountPath: /srv/kubernetes/ca}
        - {name: usr-share-ca-certificates, mountPath: /usr/share/ca-certificates}
      volumes:
      - {name: usr-share-ca-certificates, hostPath: {path: /usr/share/ca-certificates}}
      - {name: ca, secret: {secretName: ca}}
      - {name: etc-ssl, hostPath: {path: /etc/ssl}}
`), old))
	tuned, err := (&Driver{}).Tune(&controlplane.TuneRequest{Scope: tuning.ControlPlane, Cluster: clusterWith(t, nil)})
	require.NoError(t, err)
	require.NoError(t, tune(old, tuned))
	got, err := yaml.Marshal(old.Spec.Template)
	require.NoError(t, err)
	assert.YAMLEq(t, `
metadata: {labels: {role: controller-manager, networking.gardener.cloud/to-dns: allowed}}
spec:
  containers:
  - name: kube-controller-manager
    command: [/kcm, --cloud-provider=external, --v=2]
    resources: {}
    volumeMounts: [{name: ca, mountPath: /srv/kubernetes/ca}]
  volumes: [{name: ca, secret: {secretName: ca}}]
`, string(got))
}

func TestDriver_TuneKubelet(t *testing.T) {
	config := &extensionsv1alpha1.OperatingSystemConfig{}
	after, err := os.ReadFile(filepath.Join("testdata", "tuning", "1.36", "osc-reconcile.after.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(after, config))

	unit := slices.IndexFunc(config.Spec.Units, func(u extensionsv1alpha1.Unit) bool { return u.Name == "kubelet.service" })
	assert.True(t, strings.HasSuffix(*config.Spec.Units[unit].Content, " $KUBELET_EXTRA_ARGS \\\n    --cloud-provider=external"),
		"the last word on the cloud is ours: %s", *config.Spec.Units[unit].Content)
	file := slices.IndexFunc(config.Spec.Files, func(f extensionsv1alpha1.File) bool { return f.Path == "/var/lib/kubelet/config/kubelet" })
	require.Equal(t, "b64", config.Spec.Files[file].Content.Inline.Encoding)
	var kubelet struct {
		EnableControllerAttachDetach bool
		ResolvConf                   string
		ClusterDomain                string
	}
	require.NoError(t, yaml.Unmarshal(decoded(t, config.Spec.Files[file].Content.Inline.Data), &kubelet))
	assert.True(t, kubelet.EnableControllerAttachDetach)
	assert.Equal(t, "/etc/resolv-for-kubelet.conf", kubelet.ResolvConf)
	assert.Equal(t, "cluster.local", kubelet.ClusterDomain, "Gardener's own")
}

func TestDriver_TuneDeterministic(t *testing.T) {
	cluster := clusterWith(t, &openstackv1alpha1.CloudProfileConfig{ResolvConfOptions: []string{"rotate"}})
	first, err := (&Driver{}).Tune(&controlplane.TuneRequest{Scope: tuning.Nodes, Cluster: cluster})
	require.NoError(t, err)
	second, err := (&Driver{}).Tune(&controlplane.TuneRequest{Scope: tuning.Nodes, Cluster: cluster})
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(first, second))
}

func TestDriver_TuneInvalidCloudProfile(t *testing.T) {
	cluster := clusterWith(t, nil)
	cluster.CloudProfile.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"kind":"Other"}`)}
	_, err := (&Driver{}).Tune(&controlplane.TuneRequest{Scope: tuning.Nodes, Cluster: cluster})
	require.ErrorContains(t, err, "decoding cloudProfile.spec.providerConfig: ")
}
