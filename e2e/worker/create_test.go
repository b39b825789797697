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
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// Pools of the shoots.
const (
	cpu    = "cpu"
	memory = "mem"
)

// testCreate brings the machines of two pools into being, as gardenlet does for a new shoot.
func testCreate(t *testing.T, env *environment) {
	env.Shoot.Workers = []gardencorev1beta1.Worker{openstack.NewPool(cpu, 2, 2), openstack.NewPool(memory, 1, 1)}
	env.startController(t)
	before := time.Now()
	component := env.reconcile(t)
	t.Logf("the machines took %s", time.Since(before).Round(time.Second))

	object := env.object(t)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeCreate, object.Status.LastOperation.Type)
	assert.EqualValues(t, 100, object.Status.LastOperation.Progress)
	assert.Equal(t, []string{"extensions.gardener.cloud/worker"}, object.Finalizers)
	assert.Equal(t, []extensionsv1alpha1.MachineDeployment{
		{Name: env.deployment(cpu), Minimum: 2, Maximum: 2}, {Name: env.deployment(memory), Minimum: 1, Maximum: 1},
	}, component.MachineDeployments())
	var status openstackv1alpha1.WorkerStatus
	require.NoError(t, json.Unmarshal(object.Status.ProviderStatus.Raw, &status))
	assert.Len(t, status.MachineImages, 1)
	assert.Empty(t, status.ServerGroupDependencies)

	env.assertMachines(t)
	env.assertServers(t)
	env.assertNodes(t)
	env.assertSidecar(t)
	clusterstest.Eventually(t, "the Worker is well", func() bool {
		for _, condition := range env.object(t).Status.Conditions {
			if condition.Type == gardencorev1beta1.ShootEveryNodeReady {
				return condition.Status == gardencorev1beta1.ConditionTrue
			}
		}
		return false
	})
}

// deployment returns the name of the only machine deployment of a pool.
func (env *environment) deployment(pool string) string {
	return env.Shoot.Namespace() + "-" + pool + "-z1"
}

// assertServers makes sure that servers and their ports are as the shoot wants them.
func (env *environment) assertServers(t *testing.T) {
	t.Helper()
	for _, server := range env.servers("") {
		assert.Equal(t, "1", server.Metadata["kubernetes.io-cluster-"+env.Shoot.Namespace()], server.Name)
		assert.Equal(t, "1", server.Metadata["kubernetes.io-role-node"], server.Name)
		assert.Equal(t, env.site.Node.KeyName, server.KeyName)
		assert.Equal(t, openstack.Zone, server.AvailabilityZone)
		assert.NotEmpty(t, server.UserData)
		for _, port := range env.portsOf(server.ID) {
			assert.Equal(t, server.Name, port.Name)
			assert.NotEmpty(t, port.Description, "a port tells whose it is")
			assert.Equal(t, env.site.Networks.ID, port.NetworkID)
			assert.Equal(t, []string{env.site.SecurityGroups[0].ID}, port.SecurityGroups)
			require.Len(t, port.AllowedAddressPairs, 1)
			assert.Equal(t, "100.96.0.0/11", port.AllowedAddressPairs[0].IPAddress, "pods send from their own addresses")
		}
	}
}

// assertNodes makes sure that Nodes carry what their pools say.
func (env *environment) assertNodes(t *testing.T) {
	t.Helper()
	for _, pool := range env.Shoot.Workers {
		clusterstest.Eventually(t, "the nodes of pool "+pool.Name+" have its labels", func() bool {
			return len(env.listNodes(t, pool.Name)) == int(pool.Minimum)
		})
		for _, node := range env.listNodes(t, pool.Name) {
			assert.Equal(t, openstack.Zone, node.Labels["topology.cinder.csi.openstack.org/zone"])
		}
	}
}

// assertSidecar makes sure that the webhooks have put our container beside Gardener's as Gardener's library would.
func (env *environment) assertSidecar(t *testing.T) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: v1beta1constants.DeploymentNameMachineControllerManager, Namespace: env.Shoot.Namespace()}
	deployment := &appsv1.Deployment{ObjectMeta: meta}
	require.True(t, clusterstest.Get(t, env.seed.Client, deployment))
	containers := deployment.Spec.Template.Spec.Containers
	require.Len(t, containers, 2)
	wanted := machinecontrollermanager.ProviderSidecarContainer(&gardencorev1beta1.Shoot{}, env.Shoot.Namespace(), "provider-openstack", containers[1].Image)
	assert.Equal(t, openstack.MachineController, wanted.Name)
	assert.Equal(t, wanted.Args, containers[1].Args)
	assert.Equal(t, wanted.VolumeMounts, containers[1].VolumeMounts)

	vpa := &vpaautoscalingv1.VerticalPodAutoscaler{ObjectMeta: meta}
	vpa.Name = machinecontrollermanager.VPAName
	require.True(t, clusterstest.Get(t, env.seed.Client, vpa))
	assert.Contains(t, vpa.Spec.ResourcePolicy.ContainerPolicies, machinecontrollermanager.ProviderSidecarVPAContainerPolicy("provider-openstack"))
}

// testNoOp counts what a reconcile costs that finds nothing to do.
func testNoOp(t *testing.T, env *environment) {
	env.stopController(t)
	before := len(env.writes(t))
	there := env.inventory(t)
	env.startController(t)
	env.Cloud.ResetLog()
	updated := env.object(t).Status.MachineDeploymentsLastUpdateTime
	env.waitNextSecond(t)
	component := env.component(t) // machine-controller-manager stays as it is
	require.NoError(t, component.Deploy(t.Context()))
	env.await(t, component)
	env.stopController(t)

	writes := audit.WithoutProgress(env.writes(t)[before:])
	if assert.Len(t, writes, 2, "order taken, result reported; no third write, and no Event") {
		assert.Equal(t, "patch workers", writes[0].Verb+" "+writes[0].Resource)
		assert.Equal(t, "patch workers/status", writes[1].Verb+" "+writes[1].Resource)
	}
	assert.Empty(t, env.Cloud.Log(), "the cloud is not asked")
	assert.Equal(t, there, env.inventory(t))
	assert.True(t, updated.Before(env.object(t).Status.MachineDeploymentsLastUpdateTime), "the cluster-autoscaler waits for that")
	env.startController(t)
}

// testCreateInGroup brings the machines of a pool into being that are to be kept apart, and have volumes of their own.
func testCreateInGroup(t *testing.T, env *environment) {
	pool := openstack.NewPool(cpu, 2, 2)
	pool.Volume = &gardencorev1beta1.Volume{VolumeSize: "25Gi"}
	pool.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "data", VolumeSize: "10Gi"}}
	pool.ProviderConfig = workerConfig(t, &openstackv1alpha1.WorkerConfig{ServerGroup: &openstackv1alpha1.ServerGroup{Policy: "soft-anti-affinity"}})
	env.Shoot.Workers = []gardencorev1beta1.Worker{pool}
	env.startController(t)
	env.reconcile(t)
	env.assertMachines(t)
	env.assertGroup(t)
	env.assertVolumes(t)
}

// assertVolumes makes sure that each machine has those of its pool, which go with it, and that there are no others.
func (env *environment) assertVolumes(t *testing.T) {
	t.Helper()
	volumes := env.openstack.Cloud.Fake.State(env.openstack.Account.Project).Volumes
	assert.Len(t, volumes, 2*len(env.servers("")))
	for _, server := range env.servers("") {
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
func (env *environment) assertGroup(t *testing.T) string {
	t.Helper()
	groups := env.openstack.Cloud.Fake.State(env.openstack.Account.Project).ServerGroups
	require.Len(t, groups, 1)
	assert.ElementsMatch(t, ids(env.servers("")), groups[0].Members)
	var status openstackv1alpha1.WorkerStatus
	require.NoError(t, json.Unmarshal(env.object(t).Status.ProviderStatus.Raw, &status))
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
func (env *environment) running(t *testing.T) bool {
	t.Helper()
	for _, machine := range env.listMachines(t) {
		if machine.Status.CurrentStatus.Phase != machinev1alpha1.MachineRunning {
			return false
		}
	}
	return true
}
