package worker

import (
	"encoding/json"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/component/nodemanagement/machinecontrollermanager"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// Pools of the shoots.
const (
	cpu    = "cpu"
	memory = "mem"
)

// testCreate brings the machines of two pools into being, as gardenlet does for a new shoot.
func testCreate(t *testing.T, w *world) {
	w.Shoot.Workers = []gardencorev1beta1.Worker{openstack.NewPool(cpu, 2, 2), openstack.NewPool(memory, 1, 1)}
	w.startController(t)
	before := time.Now()
	component := w.fulfil(t)
	t.Logf("the machines took %s", time.Since(before).Round(time.Second))

	object := w.object(t)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeCreate, object.Status.LastOperation.Type)
	assert.EqualValues(t, 100, object.Status.LastOperation.Progress)
	assert.Equal(t, []string{"extensions.gardener.cloud/worker"}, object.Finalizers)
	assert.Equal(t, []extensionsv1alpha1.MachineDeployment{
		{Name: w.deployment(cpu), Minimum: 2, Maximum: 2}, {Name: w.deployment(memory), Minimum: 1, Maximum: 1},
	}, component.MachineDeployments())
	var status openstackv1alpha1.WorkerStatus
	require.NoError(t, json.Unmarshal(object.Status.ProviderStatus.Raw, &status))
	assert.Len(t, status.MachineImages, 1)
	assert.Empty(t, status.ServerGroupDependencies)

	w.assertMachines(t)
	w.assertServers(t)
	w.assertNodes(t)
	w.assertSidecar(t)
	groundtest.Eventually(t, "the Worker is well", func() bool {
		for _, condition := range w.object(t).Status.Conditions {
			if condition.Type == gardencorev1beta1.ShootEveryNodeReady {
				return condition.Status == gardencorev1beta1.ConditionTrue
			}
		}
		return false
	})
}

// deployment returns the name of the only machine deployment of a pool.
func (w *world) deployment(pool string) string { return w.Shoot.Namespace() + "-" + pool + "-z1" }

// assertServers makes sure that servers and their ports are as the shoot wants them.
func (w *world) assertServers(t *testing.T) {
	t.Helper()
	for _, server := range w.servers("") {
		assert.Equal(t, "1", server.Metadata["kubernetes.io-cluster-"+w.Shoot.Namespace()], server.Name)
		assert.Equal(t, "1", server.Metadata["kubernetes.io-role-node"], server.Name)
		assert.Equal(t, w.site.Node.KeyName, server.KeyName)
		assert.Equal(t, openstack.Zone, server.AvailabilityZone)
		assert.NotEmpty(t, server.UserData)
		for _, port := range w.portsOf(server.ID) {
			assert.Equal(t, server.Name, port.Name)
			assert.NotEmpty(t, port.Description, "a port tells whose it is")
			assert.Equal(t, w.site.Networks.ID, port.NetworkID)
			assert.Equal(t, []string{w.site.SecurityGroups[0].ID}, port.SecurityGroups)
			require.Len(t, port.AllowedAddressPairs, 1)
			assert.Equal(t, "100.96.0.0/11", port.AllowedAddressPairs[0].IPAddress, "pods send from their own addresses")
		}
	}
}

// assertNodes makes sure that Nodes carry what their pools say.
func (w *world) assertNodes(t *testing.T) {
	t.Helper()
	for _, pool := range w.Shoot.Workers {
		groundtest.Eventually(t, "the nodes of pool "+pool.Name+" have its labels", func() bool {
			return len(w.listNodes(t, pool.Name)) == int(pool.Minimum)
		})
		for _, node := range w.listNodes(t, pool.Name) {
			assert.Equal(t, openstack.Zone, node.Labels["topology.cinder.csi.openstack.org/zone"])
		}
	}
}

// assertSidecar makes sure that the webhooks have put our container beside Gardener's as Gardener's library would.
func (w *world) assertSidecar(t *testing.T) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: v1beta1constants.DeploymentNameMachineControllerManager, Namespace: w.Shoot.Namespace()}
	deployment := &appsv1.Deployment{ObjectMeta: meta}
	require.True(t, groundtest.Get(t, w.seed.Client, deployment))
	containers := deployment.Spec.Template.Spec.Containers
	require.Len(t, containers, 2)
	wanted := machinecontrollermanager.ProviderSidecarContainer(&gardencorev1beta1.Shoot{}, w.Shoot.Namespace(), "provider-openstack", containers[1].Image)
	assert.Equal(t, mcm.MachineController, wanted.Name)
	assert.Equal(t, wanted.Args, containers[1].Args)
	assert.Equal(t, wanted.VolumeMounts, containers[1].VolumeMounts)

	vpa := &vpaautoscalingv1.VerticalPodAutoscaler{ObjectMeta: meta}
	vpa.Name = machinecontrollermanager.VPAName
	require.True(t, groundtest.Get(t, w.seed.Client, vpa))
	assert.Contains(t, vpa.Spec.ResourcePolicy.ContainerPolicies, machinecontrollermanager.ProviderSidecarVPAContainerPolicy("provider-openstack"))
}

// testAgain counts what a reconcile costs that finds nothing to do.
func testAgain(t *testing.T, w *world) {
	w.stopController(t)
	before := len(w.writes(t))
	there := w.inventory(t)
	w.startController(t)
	w.Cloud.ResetLog()
	updated := w.object(t).Status.MachineDeploymentsLastUpdateTime
	w.passSecond(t)
	component := w.component(t) // machine-controller-manager stays as it is
	require.NoError(t, component.Deploy(t.Context()))
	w.await(t, component)
	w.stopController(t)

	writes := audit.WithoutProgress(w.writes(t)[before:])
	if assert.Len(t, writes, 2, "order taken, result reported; no third write, and no Event") {
		assert.Equal(t, "patch workers", writes[0].Verb+" "+writes[0].Resource)
		assert.Equal(t, "patch workers/status", writes[1].Verb+" "+writes[1].Resource)
	}
	assert.Empty(t, w.Cloud.Log(), "the cloud is not asked")
	assert.Equal(t, there, w.inventory(t))
	assert.True(t, updated.Before(w.object(t).Status.MachineDeploymentsLastUpdateTime), "the cluster-autoscaler waits for that")
	w.startController(t)
}

// testCreateInGroup brings the machines of a pool into being that are to be kept apart, and have volumes of their own.
func testCreateInGroup(t *testing.T, w *world) {
	pool := openstack.NewPool(cpu, 2, 2)
	pool.Volume = &gardencorev1beta1.Volume{VolumeSize: "25Gi"}
	pool.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "data", VolumeSize: "10Gi"}}
	pool.ProviderConfig = workerConfig(t, &openstackv1alpha1.WorkerConfig{ServerGroup: &openstackv1alpha1.ServerGroup{Policy: "soft-anti-affinity"}})
	w.Shoot.Workers = []gardencorev1beta1.Worker{pool}
	w.startController(t)
	w.fulfil(t)
	w.assertMachines(t)
	w.assertGroup(t)
	w.assertVolumes(t)
}

// assertVolumes makes sure that each machine has those of its pool, which go with it, and that there are no others.
func (w *world) assertVolumes(t *testing.T) {
	t.Helper()
	volumes := w.Cloud.StandIn.State(w.Account.Project).Volumes
	assert.Len(t, volumes, 2*len(w.servers("")))
	for _, server := range w.servers("") {
		var sizes []int
		for _, disk := range server.Disks {
			for _, volume := range volumes {
				if volume.ID == disk.VolumeID {
					sizes = append(sizes, volume.Size)
				}
			}
		}
		assert.ElementsMatch(t, []int{10, 25}, sizes)
	}
}

// assertGroup makes sure that there is one server group, with all servers in it, and returns its ID.
func (w *world) assertGroup(t *testing.T) string {
	t.Helper()
	groups := w.Cloud.StandIn.State(w.Account.Project).ServerGroups
	require.Len(t, groups, 1)
	assert.ElementsMatch(t, ids(w.servers("")), groups[0].Members)
	var status openstackv1alpha1.WorkerStatus
	require.NoError(t, json.Unmarshal(w.object(t).Status.ProviderStatus.Raw, &status))
	assert.Equal(t, []openstackv1alpha1.ServerGroupDependency{{PoolName: cpu, ID: groups[0].ID, Name: groups[0].Name}}, status.ServerGroupDependencies)
	return groups[0].ID
}

func workerConfig(t *testing.T, config *openstackv1alpha1.WorkerConfig) *runtime.RawExtension {
	t.Helper()
	config.TypeMeta = metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: "WorkerConfig"}
	encoded, err := json.Marshal(config)
	require.NoError(t, err)
	return &runtime.RawExtension{Raw: encoded}
}

// running tells whether all Machines are.
func (w *world) running(t *testing.T) bool {
	t.Helper()
	for _, machine := range w.listMachines(t) {
		if machine.Status.CurrentStatus.Phase != machinev1alpha1.MachineRunning {
			return false
		}
	}
	return true
}
