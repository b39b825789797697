package worker

import (
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/upstream"
)

// adoption is what adoptions in a cloud differ in.
type adoption struct {
	// pools are the shoot's.
	pools func() []gardencorev1beta1.Worker
	// apply creates or updates the machine classes and deployments of a pool as the cloud's extension of upstream.
	apply func(t *testing.T, env *environment, pool extensionsv1alpha1.WorkerPool)
	// servers returns the IDs of the shoot's servers in the cloud, sorted.
	servers func(t *testing.T, env *environment) []string
	// check makes further assertions about an adopted shoot.
	check func(t *testing.T, env *environment)
}

// adoptionFromOpenStack has a pool with a data volume, which upstream's extension ignores.
func adoptionFromOpenStack() adoption {
	return adoption{
		pools: func() []gardencorev1beta1.Worker {
			pool := openstack.NewPool(cpu, 2, 2)
			pool.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "data", VolumeSize: "10Gi"}}
			return []gardencorev1beta1.Worker{pool}
		},
		apply: func(t *testing.T, env *environment, pool extensionsv1alpha1.WorkerPool) {
			t.Helper()
			by := &upstream.Shoot{Shoot: env.Shoot, Gardenlet: env.seed.Gardenlet, Account: env.openstack.Account, Cloud: env.openstack.Cloud}
			_, err := by.MakeMachines(t.Context(), pool)
			require.NoError(t, err)
		},
		servers: func(_ *testing.T, env *environment) []string { return ids(env.servers("")) },
		check: func(t *testing.T, env *environment) {
			t.Helper()
			env.assertMachines(t)
			env.assertNodes(t)
			assert.Empty(t, env.openstack.Cloud.Fake.State(env.openstack.Account.Project).Volumes)
			assert.Contains(t, env.object(t).Status.LastOperation.Description, "data volume", "whoever reads it learns when they come")
		},
	}
}

// testAdoption adopts machines of upstream's extension. None is replaced, neither now, nor when that extension adopts them again.
func testAdoption(t *testing.T, env *environment) {
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
	env.Shoot.Workers = env.adoption.pools()
	env.startController(t)
	env.prepare(t) // the machine controller gets where the upstream webhook would put it
	env.stopController(t)
	require.NoError(t, env.component(t).Deploy(t.Context()))
	env.applyAsUpstream(t)
	wanted := 0
	for _, pool := range env.Shoot.Workers {
		wanted += int(pool.Minimum)
	}
	clusterstest.Eventually(t, "the machines run", func() bool { return len(env.listMachines(t)) == wanted && env.running(t) })
	there := env.machinesThere(t)
	require.Len(t, there.Servers, wanted)

	env.startController(t)
	env.reconcile(t)
	assert.Equal(t, there, env.machinesThere(t))
	env.adoption.check(t, env)

	env.stopController(t)
	env.applyAsUpstream(t)
	env.awaitObserved(t)
	assert.Equal(t, there, env.machinesThere(t), "upstream's extension replaces none")
	env.startController(t)
	env.reconcile(t)
	assert.Equal(t, there, env.machinesThere(t))
}

// machinesThere names all that a replacement of nodes would replace.
type machinesThere struct {
	// Servers are the IDs in the cloud, Classes the names of machine classes.
	Servers, Classes []string
	// Objects are the UIDs of MachineDeployments, MachineSets and Machines with their classes.
	Objects []string
}

func (env *environment) machinesThere(t *testing.T) machinesThere {
	t.Helper()
	there := machinesThere{Servers: env.adoption.servers(t, env), Classes: env.classes(t)}
	deployments, sets := &machinev1alpha1.MachineDeploymentList{}, &machinev1alpha1.MachineSetList{}
	env.list(t, deployments)
	env.list(t, sets)
	add := func(kind string, object client.Object, class machinev1alpha1.ClassSpec) {
		there.Objects = append(there.Objects, kind+" "+object.GetName()+" "+string(object.GetUID())+" "+class.Name)
	}
	for _, one := range deployments.Items {
		add("MachineDeployment", &one, one.Spec.Template.Spec.Class)
	}
	for _, one := range sets.Items {
		add("MachineSet", &one, one.Spec.Template.Spec.Class)
	}
	for _, one := range env.listMachines(t) {
		add("Machine", &one, one.Spec.Class)
	}
	slices.Sort(there.Objects)
	return there
}

// applyAsUpstream makes for all pools what upstream's extension makes. Its Worker has the same finalizer.
func (env *environment) applyAsUpstream(t *testing.T) {
	t.Helper()
	object := env.object(t)
	for _, pool := range object.Spec.Pools {
		env.adoption.apply(t, env, pool)
	}
	patch := client.MergeFrom(object.DeepCopy())
	object.Finalizers = []string{"extensions.gardener.cloud/worker"}
	require.NoError(t, env.seed.Client.Patch(t.Context(), object, patch))
}

// awaitObserved waits until machine-controller-manager has acted on all deployments.
func (env *environment) awaitObserved(t *testing.T) {
	t.Helper()
	clusterstest.Eventually(t, "the deployments are observed", func() bool {
		list := &machinev1alpha1.MachineDeploymentList{}
		env.list(t, list)
		return !slices.ContainsFunc(list.Items, func(one machinev1alpha1.MachineDeployment) bool {
			return one.Status.ObservedGeneration < one.Generation
		})
	})
}
