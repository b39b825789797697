package openstack

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/golden"
)

func TestManila(t *testing.T) {
	folder := golden.Open(t, "testdata/manila")
	for minor, version := range kubernetesVersions() {
		in := storageInputs(true)
		seed, shoot := rendered(t, driverNamed(t, in, manilaDriver), version)
		checkVersion(t, folder, minor, "seed", seed)
		own, err := in.manilaShootObjects()
		require.NoError(t, err)
		checkVersion(t, folder, minor, "shoot", append(shoot, own...))
	}
}

// The objects of a shoot that comes from upstream's extension must be updated, not replaced: a Deployment's selector cannot change,
// and a VerticalPodAutoscaler of another name has to learn anew.
func TestManila_UpstreamNames(t *testing.T) {
	seed, shoot := rendered(t, driverNamed(t, storageInputs(true), manilaDriver), "1.36.3")

	deployment := seed[0].(*appsv1.Deployment)
	assert.Equal(t, "csi-driver-manila-controller", deployment.Name)
	assert.Equal(t, map[string]string{"app": "csi", "role": "driver-manila-controller"}, deployment.Spec.Selector.MatchLabels)
	autoscaler := findObject[*vpaautoscalingv1.VerticalPodAutoscaler](t, seed)
	assert.Equal(t, "csi-driver-manila-controller", autoscaler.Name)
	assert.Equal(t, deployment.Name, autoscaler.Spec.TargetRef.Name)

	daemonSet := findObject[*appsv1.DaemonSet](t, shoot)
	assert.Equal(t, "csi-driver-manila-node", daemonSet.Name)
	assert.Equal(t, map[string]string{"app": "csi", "role": "driver-manila-node"}, daemonSet.Spec.Selector.MatchLabels)
}

// findObject returns the one object of its kind.
func findObject[Object client.Object](t *testing.T, objects []client.Object) Object {
	t.Helper()
	var found []Object
	for _, object := range objects {
		if typed, is := object.(Object); is {
			found = append(found, typed)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

func TestManila_Enabled(t *testing.T) {
	for sentence, storage := range map[string]*openstackv1alpha1.Storage{
		"nothing is said about storage":     nil,
		"nothing is said about Manila":      {},
		"Manila is mentioned, but not on":   {CSIManila: &openstackv1alpha1.CSIManila{}},
		"Manila is off, in spite of a name": {CSIManila: &openstackv1alpha1.CSIManila{CredentialsRef: &openstackv1alpha1.CredentialsReference{Name: "shares"}}},
	} {
		t.Run("not when "+sentence, func(t *testing.T) {
			in := storageInputs(false)
			in.config.Storage = storage
			assert.Nil(t, in.manila())
			objects, err := in.manilaShootObjects()
			require.NoError(t, err)
			assert.Empty(t, objects)
			drivers, err := in.csiDrivers()
			require.NoError(t, err)
			assert.Len(t, drivers, 1)
		})
	}
	assert.NotNil(t, storageInputs(true).manila())
}

// Whoever wrote a StorageClass could have them sent to a Keystone of their own.
func TestManila_ControllerWithoutCredentials(t *testing.T) {
	seed, _ := rendered(t, driverNamed(t, storageInputs(true), manilaDriver), "1.36.3")
	pod := seed[0].(*appsv1.Deployment).Spec.Template.Spec
	for _, volume := range pod.Volumes {
		assert.Nil(t, volume.Secret, volume.Name)
	}
	for _, container := range pod.Containers {
		for _, variable := range container.Env {
			assert.Equal(t, "CSI_ENDPOINT", variable.Name, container.Name)
		}
	}
}

// Whoever administers the shoot decides where the controller logs in. What it can reach is what a cloud's API needs, and no more: neither
// the seed's API server nor the ranges that the Seed blocks.
func TestManila_Egress(t *testing.T) {
	seed, _ := rendered(t, driverNamed(t, storageInputs(true), manilaDriver), "1.36.3")
	egress := []string{}
	for label := range seed[0].(*appsv1.Deployment).Spec.Template.Labels {
		if strings.HasPrefix(label, "networking.") {
			egress = append(egress, label)
		}
	}
	assert.ElementsMatch(t, []string{
		"networking.gardener.cloud/to-dns",
		"networking.gardener.cloud/to-private-networks",
		"networking.gardener.cloud/to-public-networks",
		"networking.resources.gardener.cloud/to-kube-apiserver-tcp-443",
	}, egress)
}

func TestManila_UserCredentials(t *testing.T) {
	objects, err := storageInputs(true).manilaShootObjects()
	require.NoError(t, err)
	secret := objects[0].(*corev1.Secret)
	assert.Equal(t, "manila-csi-plugin", secret.Name)
	assert.Equal(t, "shares-only", string(secret.Data["os-applicationCredentialSecret"]))
	assert.Nil(t, secret.Immutable, "it is named by volumes, so it must be able to change")
}

// Volumes that are in use name the Secret. Without it nobody could mount them any more.
func TestManila_InfrastructureCredentials(t *testing.T) {
	in := storageInputs(true)
	in.config.Storage.CSIManila.CredentialsRef, in.manilaCredentials = nil, nil
	objects, err := in.manilaShootObjects()
	require.NoError(t, err)
	assert.Equal(t, infrastructurePassword, string(objects[0].(*corev1.Secret).Data["os-password"]))
}

// A class that differs from upstream's would be deleted and made again.
func TestManila_UpstreamStorageClasses(t *testing.T) {
	objects, err := storageInputs(true).manilaShootObjects()
	require.NoError(t, err)
	var names []string
	for _, object := range objects {
		class, is := object.(*storagev1.StorageClass)
		if !is {
			continue
		}
		names = append(names, class.Name)
		assert.Equal(t, "10.250.0.0/16", class.Parameters["nfs-shareClient"])
		assert.Equal(t, "a9dc1f93-6c58-4b1e-a1e8-6c1d6a3bd6a5", class.Parameters["shareNetworkID"])
	}
	assert.Equal(t, []string{"csi-manila-nfs", "csi-manila-nfs-auto", "csi-manila-nfs-zone-1", "csi-manila-nfs-zone-2"}, names)
}

func TestCSIDrivers_NoDuplicateObjects(t *testing.T) {
	in := storageInputs(true)
	drivers, err := in.csiDrivers()
	require.NoError(t, err)
	images := func(name string) (string, error) { return name, nil }
	objects, err := csi.ShootObjects(drivers, csi.Shoot{Image: images})
	require.NoError(t, err)
	own, err := in.manilaShootObjects()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, object := range append(objects, own...) {
		name := object.GetObjectKind().GroupVersionKind().Kind + " " + object.GetName()
		assert.False(t, seen[name], "%s is there twice", name)
		seen[name] = true
	}
}

func TestNodeRangeOf(t *testing.T) {
	status := func(cidr string) *openstackv1alpha1.InfrastructureStatus {
		return &openstackv1alpha1.InfrastructureStatus{Networks: openstackv1alpha1.NetworkStatus{Subnets: []openstackv1alpha1.Subnet{
			{Purpose: openstackv1alpha1.PurposeNodesIPv6, CIDR: "2001:db8::/64"}, {Purpose: openstackv1alpha1.PurposeNodes, CIDR: cidr},
		}}}
	}
	config := `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"InfrastructureConfig","floatingPoolName":"public","networks":{"workers":"10.250.0.0/19"}}`
	for sentence, test := range map[string]struct {
		status *openstackv1alpha1.InfrastructureStatus
		config string
		want   string
	}{
		"the infrastructure says it":             {status("10.250.0.0/20"), config, "10.250.0.0/20"},
		"the user said it":                       {status(""), config, "10.250.0.0/19"},
		"the user said it under its former name": {status(""), `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"InfrastructureConfig","floatingPoolName":"public","networks":{"worker":"10.250.8.0/24"}}`, "10.250.8.0/24"},
		"only Gardener knows":                    {status(""), `{}`, "10.250.0.0/16"},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := &controlplane.Shoot{Cluster: &contract.Cluster{Shoot: &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{
				Provider:   gardencorev1beta1.Provider{InfrastructureConfig: &runtime.RawExtension{Raw: []byte(test.config)}},
				Networking: &gardencorev1beta1.Networking{Nodes: new("10.250.0.0/16")},
			}}}}
			assert.Equal(t, test.want, nodeRangeOf(test.status, shoot))
		})
	}
}

func TestZonesOf(t *testing.T) {
	shoot := &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{Provider: gardencorev1beta1.Provider{
		Workers: []gardencorev1beta1.Worker{{Zones: []string{"zone-b", "zone-a"}}, {}, {Zones: []string{"zone-b", "zone-c"}}},
	}}}
	assert.Equal(t, []string{"zone-a", "zone-b", "zone-c"}, zonesOf(shoot))
}
