package worker

import (
	"maps"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// inventory names all that the shoot's account has in the cloud.
func (env *environment) inventory(t *testing.T) []string {
	t.Helper()
	if env.openstack != nil {
		names := env.openstack.Cloud.Fake.State(env.openstack.Account.Project).List()
		slices.Sort(names)
		return names
	}
	names, err := env.Account.ResourceNames(t.Context())
	require.NoError(t, err)
	return names
}

// servers lists those of a pool that the cloud has, by their IDs; of all pools where the name is empty.
func (env *environment) servers(pool string) map[string]fake.Server {
	servers := map[string]fake.Server{}
	for _, server := range env.openstack.Cloud.Fake.State(env.openstack.Account.Project).Servers {
		if strings.HasPrefix(server.Name, env.Shoot.Namespace()+"-"+pool) {
			servers[server.ID] = server
		}
	}
	return servers
}

// ids returns the IDs of servers, sorted.
func ids(servers map[string]fake.Server) []string { return slices.Sorted(maps.Keys(servers)) }

// portsOf lists the ports of a server.
func (env *environment) portsOf(server string) []fake.Port {
	ports := env.openstack.Cloud.Fake.State(env.openstack.Account.Project).Ports
	return slices.DeleteFunc(ports, func(p fake.Port) bool { return p.DeviceID != server })
}

// pool returns the shoot's pool of a name, to be changed.
func (env *environment) pool(t *testing.T, name string) *gardencorev1beta1.Worker {
	t.Helper()
	for i := range env.Shoot.Workers {
		if env.Shoot.Workers[i].Name == name {
			return &env.Shoot.Workers[i]
		}
	}
	require.FailNow(t, "there is no pool "+name)
	return nil
}

// list reads all objects of a kind in the shoot's namespace.
func (env *environment) list(t *testing.T, list client.ObjectList, options ...client.ListOption) {
	t.Helper()
	require.NoError(t, env.seed.Client.List(t.Context(), list, append(options, client.InNamespace(env.Shoot.Namespace()))...))
}

// listMachines reads all Machines.
func (env *environment) listMachines(t *testing.T) []machinev1alpha1.Machine {
	t.Helper()
	list := &machinev1alpha1.MachineList{}
	env.list(t, list)
	return list.Items
}

// listNodes reads all Nodes of a pool, or of all pools.
func (env *environment) listNodes(t *testing.T, pool string) []corev1.Node {
	t.Helper()
	list := &corev1.NodeList{}
	var options []client.ListOption
	if pool != "" {
		options = append(options, client.MatchingLabels{v1beta1constants.LabelWorkerPool: pool})
	}
	require.NoError(t, env.Cluster.Client.List(t.Context(), list, options...))
	return list.Items
}

// classes returns the names of all machine classes. Each has a Secret of the same name, and there is no other.
func (env *environment) classes(t *testing.T) []string {
	t.Helper()
	list := &machinev1alpha1.MachineClassList{}
	env.list(t, list)
	names, secrets := []string{}, []string{}
	for _, class := range list.Items {
		names = append(names, class.Name)
	}
	of := &corev1.SecretList{}
	env.list(t, of, client.MatchingLabels{v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass})
	for _, secret := range of.Items {
		secrets = append(secrets, secret.Name)
	}
	assert.ElementsMatch(t, names, secrets)
	slices.Sort(names)
	return names
}

// assertMachines makes sure that there are as many machines as the pools want, each with a server, a port and a Node that is ready, and
// nothing else in the cloud that was not there before.
func (env *environment) assertMachines(t *testing.T) {
	t.Helper()
	for _, pool := range env.Shoot.Workers {
		assert.Len(t, env.servers(pool.Name), int(pool.Minimum), "pool %s", pool.Name)
	}
	servers := env.servers("")
	machines := env.listMachines(t)
	require.Len(t, machines, len(servers))
	for _, machine := range machines {
		assert.Equal(t, machinev1alpha1.MachineRunning, machine.Status.CurrentStatus.Phase, machine.Name)
		server, found := servers[machine.Spec.ProviderID[strings.LastIndex(machine.Spec.ProviderID, "/")+1:]]
		require.True(t, found, machine.Spec.ProviderID)
		assert.Equal(t, "openstack:///"+env.openstack.Cloud.Region()+"/"+server.ID, machine.Spec.ProviderID)
		assert.Equal(t, machine.Name, server.Name)
		assert.Equal(t, machine.Name, machine.Labels[machinev1alpha1.NodeLabelKey])
		assert.Len(t, env.portsOf(server.ID), 1, server.Name)
	}
	assert.Len(t, env.listNodes(t, ""), len(servers))
	state := env.openstack.Cloud.Fake.State(env.openstack.Account.Project)
	more := len(servers) * 2 // a server, a port
	assert.Len(t, env.inventory(t), len(env.infrastructure)+more+len(state.ServerGroups)+len(state.Volumes), "%v", env.inventory(t))
}

// assertNothingLeft makes sure that neither the cloud nor the seed has anything that was not there before the first Worker.
func (env *environment) assertNothingLeft(t *testing.T) {
	t.Helper()
	assert.Equal(t, env.infrastructure, env.inventory(t))
	for _, list := range []client.ObjectList{
		&machinev1alpha1.MachineList{}, &machinev1alpha1.MachineSetList{}, &machinev1alpha1.MachineDeploymentList{}, &machinev1alpha1.MachineClassList{},
	} {
		env.list(t, list)
		assert.Zero(t, meta.LenList(list), "%T", list)
	}
	assert.Empty(t, env.classes(t))
	credentials := &corev1.Secret{}
	credentials.Name, credentials.Namespace = v1beta1constants.SecretNameCloudProvider, env.Shoot.Namespace()
	require.True(t, clusterstest.Get(t, env.seed.Client, credentials))
	assert.Empty(t, credentials.Finalizers)
	assert.Empty(t, env.listNodes(t, ""))
}
