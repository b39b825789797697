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

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// inventory names all that the shoot's account has in the cloud.
func (w *world) inventory(t *testing.T) []string {
	t.Helper()
	names := w.Cloud.StandIn.State(w.Account.Project).List()
	slices.Sort(names)
	return names
}

// servers lists those of a pool that the cloud has, by their IDs; of all pools where the name is empty.
func (w *world) servers(pool string) map[string]fake.Server {
	servers := map[string]fake.Server{}
	for _, server := range w.Cloud.StandIn.State(w.Account.Project).Servers {
		if strings.HasPrefix(server.Name, w.Shoot.Namespace()+"-"+pool) {
			servers[server.ID] = server
		}
	}
	return servers
}

// ids returns the IDs of servers, sorted.
func ids(servers map[string]fake.Server) []string { return slices.Sorted(maps.Keys(servers)) }

// portsOf lists the ports of a server.
func (w *world) portsOf(server string) []fake.Port {
	ports := w.Cloud.StandIn.State(w.Account.Project).Ports
	return slices.DeleteFunc(ports, func(p fake.Port) bool { return p.DeviceID != server })
}

// pool returns the shoot's pool of a name, to be changed.
func (w *world) pool(t *testing.T, name string) *gardencorev1beta1.Worker {
	t.Helper()
	for i := range w.Shoot.Workers {
		if w.Shoot.Workers[i].Name == name {
			return &w.Shoot.Workers[i]
		}
	}
	require.FailNow(t, "there is no pool "+name)
	return nil
}

// list reads all objects of a kind in the shoot's namespace.
func (w *world) list(t *testing.T, list client.ObjectList, options ...client.ListOption) {
	t.Helper()
	require.NoError(t, w.seed.Client.List(t.Context(), list, append(options, client.InNamespace(w.Shoot.Namespace()))...))
}

// listMachines reads all Machines.
func (w *world) listMachines(t *testing.T) []machinev1alpha1.Machine {
	t.Helper()
	list := &machinev1alpha1.MachineList{}
	w.list(t, list)
	return list.Items
}

// listNodes reads all Nodes of a pool, or of all pools.
func (w *world) listNodes(t *testing.T, pool string) []corev1.Node {
	t.Helper()
	list := &corev1.NodeList{}
	var options []client.ListOption
	if pool != "" {
		options = append(options, client.MatchingLabels{v1beta1constants.LabelWorkerPool: pool})
	}
	require.NoError(t, w.Cluster.Client.List(t.Context(), list, options...))
	return list.Items
}

// classes returns the names of all machine classes. Each has a Secret of the same name, and there is no other.
func (w *world) classes(t *testing.T) []string {
	t.Helper()
	list := &machinev1alpha1.MachineClassList{}
	w.list(t, list)
	names, secrets := []string{}, []string{}
	for _, class := range list.Items {
		names = append(names, class.Name)
	}
	of := &corev1.SecretList{}
	w.list(t, of, client.MatchingLabels{v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass})
	for _, secret := range of.Items {
		secrets = append(secrets, secret.Name)
	}
	assert.ElementsMatch(t, names, secrets)
	slices.Sort(names)
	return names
}

// assertMachines makes sure that there are as many machines as the pools want, each with a server, a port and a Node that is ready, and
// nothing else in the cloud that was not there before.
func (w *world) assertMachines(t *testing.T) {
	t.Helper()
	for _, pool := range w.Shoot.Workers {
		assert.Len(t, w.servers(pool.Name), int(pool.Minimum), "pool %s", pool.Name)
	}
	servers := w.servers("")
	machines := w.listMachines(t)
	require.Len(t, machines, len(servers))
	for _, machine := range machines {
		assert.Equal(t, machinev1alpha1.MachineRunning, machine.Status.CurrentStatus.Phase, machine.Name)
		server, found := servers[machine.Spec.ProviderID[strings.LastIndex(machine.Spec.ProviderID, "/")+1:]]
		require.True(t, found, machine.Spec.ProviderID)
		assert.Equal(t, "openstack:///"+w.Cloud.Region()+"/"+server.ID, machine.Spec.ProviderID)
		assert.Equal(t, machine.Name, server.Name)
		assert.Equal(t, machine.Name, machine.Labels[machinev1alpha1.NodeLabelKey])
		assert.Len(t, w.portsOf(server.ID), 1, server.Name)
	}
	assert.Len(t, w.listNodes(t, ""), len(servers))
	state := w.Cloud.StandIn.State(w.Account.Project)
	more := len(servers) * 2 // a server, a port
	assert.Len(t, w.inventory(t), len(w.infrastructure)+more+len(state.ServerGroups)+len(state.Volumes), "%v", w.inventory(t))
}

// assertNothingLeft makes sure that neither the cloud nor the seed has anything that was not there before the first Worker.
func (w *world) assertNothingLeft(t *testing.T) {
	t.Helper()
	assert.Equal(t, w.infrastructure, w.inventory(t))
	for _, list := range []client.ObjectList{
		&machinev1alpha1.MachineList{}, &machinev1alpha1.MachineSetList{}, &machinev1alpha1.MachineDeploymentList{}, &machinev1alpha1.MachineClassList{},
	} {
		w.list(t, list)
		assert.Zero(t, meta.LenList(list), "%T", list)
	}
	assert.Empty(t, w.classes(t))
	credentials := &corev1.Secret{}
	credentials.Name, credentials.Namespace = v1beta1constants.SecretNameCloudProvider, w.Shoot.Namespace()
	require.True(t, groundtest.Get(t, w.seed.Client, credentials))
	assert.Empty(t, credentials.Finalizers)
	assert.Empty(t, w.listNodes(t, ""))
}
