package worker

import (
	"encoding/json"
	"maps"
	"testing"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackmachinev1alpha1 "github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// testTakeOver takes over machines that the upstream extension has had made. None is replaced, although their pool has a data volume,
// which that extension ignores.
func testTakeOver(t *testing.T, w *world) {
	w.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
	pool := openstack.NewPool(cpu, 2, 2)
	pool.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "data", VolumeSize: "10Gi"}}
	w.Shoot.Workers = []gardencorev1beta1.Worker{pool}
	w.startController(t)
	w.prepare(t) // the machine controller gets where the upstream webhook would put it
	w.stopController(t)
	require.NoError(t, w.component(t).Deploy(t.Context()))
	w.makeAsUpstream(t)
	groundtest.Eventually(t, "the machines run", func() bool { return len(w.listMachines(t)) == 2 && w.running(t) })
	servers, classes := ids(w.servers("")), w.classes(t)
	before := w.machineSets(t)
	require.Len(t, before, 1)

	w.startController(t)
	w.fulfil(t)
	assert.Equal(t, servers, ids(w.servers("")))
	assert.Equal(t, classes, w.classes(t))
	assert.Equal(t, before, w.machineSets(t))
	w.assertMachines(t)
	w.assertNodes(t)
	assert.Empty(t, w.Cloud.StandIn.State(w.Account.Project).Volumes)
	assert.Contains(t, w.object(t).Status.LastOperation.Description, "data volume", "whoever reads it learns when they come")
}

// machineSets returns the UIDs of all sets of machines.
func (w *world) machineSets(t *testing.T) (uids []string) {
	t.Helper()
	list := &machinev1alpha1.MachineSetList{}
	w.list(t, list)
	for _, set := range list.Items {
		uids = append(uids, string(set.UID))
	}
	return uids
}

// makeAsUpstream makes for the only pool what the upstream extension makes, under a name that Gardener's library has computed.
func (w *world) makeAsUpstream(t *testing.T) {
	t.Helper()
	object := w.object(t)
	pool := object.Spec.Pools[0]
	cluster := &extensionscontroller.Cluster{Shoot: &gardencorev1beta1.Shoot{}}
	hash, err := extensionsworker.WorkerPoolHash(pool, cluster, nil, nil)
	require.NoError(t, err)
	name := w.deployment(pool.Name)
	w.makeClassAsUpstream(t, name+"-"+hash, pool)

	labels := map[string]string{"name": name}
	nodeLabels := map[string]string{
		"topology.cinder.csi.openstack.org/zone": openstack.Zone, "topology.manila.csi.openstack.org/zone": openstack.Zone,
	}
	maps.Copy(nodeLabels, pool.Labels)
	deployment := &machinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: w.Shoot.Namespace(), Labels: map[string]string{v1beta1constants.LabelWorkerPool: pool.Name},
	}}
	deployment.Spec = machinev1alpha1.MachineDeploymentSpec{
		Replicas: pool.Minimum, MinReadySeconds: 500, RevisionHistoryLimit: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Strategy: machinev1alpha1.MachineDeploymentStrategy{
			Type: machinev1alpha1.RollingUpdateMachineDeploymentStrategyType,
			RollingUpdate: &machinev1alpha1.RollingUpdateMachineDeployment{
				UpdateConfiguration: machinev1alpha1.UpdateConfiguration{MaxSurge: &pool.MaxSurge, MaxUnavailable: &pool.MaxUnavailable},
			},
		},
		Template: machinev1alpha1.MachineTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: machinev1alpha1.MachineSpec{
				Class:                machinev1alpha1.ClassSpec{Kind: "MachineClass", Name: name + "-" + hash},
				NodeTemplateSpec:     machinev1alpha1.NodeTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: nodeLabels}},
				MachineConfiguration: &machinev1alpha1.MachineConfiguration{},
			},
		},
	}
	require.NoError(t, w.seed.Client.Create(t.Context(), deployment))

	patch := client.MergeFrom(object.DeepCopy())
	object.Finalizers = []string{"extensions.gardener.cloud/worker"}
	require.NoError(t, w.seed.Client.Patch(t.Context(), object, patch))
}

func (w *world) makeClassAsUpstream(t *testing.T, name string, pool extensionsv1alpha1.WorkerPool) {
	t.Helper()
	encoded, err := json.Marshal(map[string]any{
		"apiVersion": "openstack.machine.gardener.cloud/v1alpha1", "kind": "MachineProviderConfig",
		"spec": map[string]any{
			"imageName": openstack.GlanceImage(pool.MachineImage.Version), "region": w.Cloud.Region(), "availabilityZone": openstack.Zone,
			"flavorName": pool.MachineType, "keyName": w.site.Node.KeyName, "securityGroups": []string{w.site.SecurityGroups[0].Name},
			"tags": map[string]string{
				openstackmachinev1alpha1.TagClusterPrefix + w.Shoot.Namespace(): "1", openstackmachinev1alpha1.TagRolePrefix + "node": "1",
			},
			"networkID": w.site.Networks.ID, "subnetIDs": []string{w.site.Networks.Subnets[0].ID}, "podNetworkCIDRs": []string{"100.96.0.0/11"},
		},
	})
	require.NoError(t, err)
	userData := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: pool.UserDataSecretRef.Name, Namespace: w.Shoot.Namespace()}}
	require.True(t, groundtest.Get(t, w.seed.Client, userData))
	meta := metav1.ObjectMeta{Name: name, Namespace: w.Shoot.Namespace()}
	meta.Labels = map[string]string{v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass}
	secret := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"userData": userData.Data[pool.UserDataSecretRef.Key]}}
	require.NoError(t, w.seed.Client.Create(t.Context(), secret))
	require.NoError(t, w.seed.Client.Create(t.Context(), &machinev1alpha1.MachineClass{
		ObjectMeta: meta, Provider: openstackmachinev1alpha1.Provider, ProviderSpec: runtime.RawExtension{Raw: encoded},
		SecretRef:            &corev1.SecretReference{Name: name, Namespace: meta.Namespace},
		CredentialsSecretRef: &corev1.SecretReference{Name: v1beta1constants.SecretNameCloudProvider, Namespace: meta.Namespace},
		NodeTemplate: &machinev1alpha1.NodeTemplate{
			InstanceType: pool.MachineType, Region: w.Cloud.Region(), Zone: openstack.Zone, Capacity: pool.NodeTemplate.Capacity,
			Architecture: pool.Architecture,
		},
	}))
}
