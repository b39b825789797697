package openstack

import (
	"fmt"
	"testing"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func (s *testCloud) providerID(id string) string {
	return providerIDPrefix + fake.DefaultRegion + "/" + id
}

func TestCreateMachine_AdoptServer(t *testing.T) {
	s := startCloud(t)
	s.cloud.SetTransition(fake.ServerBuild, fake.Transition{})
	id := s.createServer(t, machineName, clusterTag, roleTag)
	port := s.createPort(t, s.network, machineName, "")
	p, o := s.process(), s.newMachine(machineName)
	require.NoError(t, o.create(t.Context(), p))
	require.Equal(t, s.providerID(id), o.machine.Spec.ProviderID)
	require.NoError(t, o.delete(t.Context(), p))
	require.Empty(t, s.cloud.State(fake.DefaultProject).Servers)
	require.Empty(t, s.cloud.State(fake.DefaultProject).Ports, "nor is the port %s left", port)
}

func TestCreateMachine_ServerBuilding(t *testing.T) {
	s := startCloud(t)
	s.cloud.SetTransition(fake.ServerBuild, fake.Transition{Polls: 3})
	id := s.createServer(t, machineName, clusterTag, roleTag)
	o := s.newMachine(machineName)
	require.NoError(t, o.create(t.Context(), s.process()))
	require.Equal(t, s.providerID(id), o.machine.Spec.ProviderID)
	require.Equal(t, "ACTIVE", s.cloud.State(fake.DefaultProject).Servers[0].Status)
}

func TestPorts_UpstreamPortReplaced(t *testing.T) {
	s := startCloud(t)
	old := s.createPort(t, s.network, machineName, "")
	theirs := s.createPort(t, s.network, machineName, "somebody else's")
	elsewhere := s.createPort(t, s.storage, machineName, "")
	require.NoError(t, s.newMachine(machineName).create(t.Context(), s.process()))
	var ids []string
	for _, port := range s.cloud.State(fake.DefaultProject).Ports {
		ids = append(ids, port.ID)
	}
	require.Len(t, ids, 3)
	require.NotContains(t, ids, old, "it need not have all ranges of pods")
	require.Subset(t, ids, []string{theirs, elsewhere})
}

func TestPorts_PortOfAnotherServer(t *testing.T) {
	s := startCloud(t)
	port := s.createPort(t, s.network, machineName, clusterTag)
	_, err := s.cloud.DoAsOperator(fake.DefaultProject, "PUT", "neutron", "/v2.0/ports/"+port, fake.Attrs{"port": fake.Attrs{"device_id": "another"}})
	require.NoError(t, err)
	err = s.newMachine(machineName).create(t.Context(), s.process())
	require.Equal(t, codes.Aborted, code(err))
	require.ErrorContains(t, err, "belongs to another")
	require.Len(t, s.cloud.State(fake.DefaultProject).Ports, 1)
}

func TestDriver_ServerOfAnotherShoot(t *testing.T) {
	s := startCloud(t)
	s.cloud.SetTransition(fake.ServerBuild, fake.Transition{})
	id := s.createServer(t, machineName, "kubernetes.io-cluster-another", roleTag)
	p, o := s.process(), s.newMachine(machineName)
	err := o.create(t.Context(), p)
	require.Equal(t, codes.AlreadyExists, code(err))
	require.ErrorContains(t, err, id)
	require.NoError(t, o.delete(t.Context(), p), "there is nothing of the machine's")
	o.machine.Spec.ProviderID = s.providerID(id)
	err = o.delete(t.Context(), p)
	require.Equal(t, codes.FailedPrecondition, code(err))
	require.ErrorContains(t, err, "does not belong to the shoot")
	require.Len(t, s.cloud.State(fake.DefaultProject).Servers, 1)
}

func TestCreateMachine_DuplicateServers(t *testing.T) {
	s := startCloud(t)
	s.cloud.SetTransition(fake.ServerBuild, fake.Transition{})
	oldest := s.createServer(t, machineName, clusterTag, roleTag)
	s.createServer(t, machineName, clusterTag, roleTag)
	p, o := s.process(), s.newMachine(machineName)
	require.NoError(t, o.create(t.Context(), p))
	require.Equal(t, s.providerID(oldest), o.machine.Spec.ProviderID)

	found, err := o.deleteOrphans(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, 1, found)
	state := s.cloud.State(fake.DefaultProject)
	require.Len(t, state.Servers, 1)
	require.Equal(t, oldest, state.Servers[0].ID, "MCM is rid of the other")
}

func TestGetMachineStatus_ServerByProviderID(t *testing.T) {
	s := startCloud(t)
	s.cloud.SetTransition(fake.ServerBuild, fake.Transition{})
	s.createServer(t, machineName, clusterTag, roleTag)
	known := s.createServer(t, machineName, clusterTag, roleTag)
	p, o := s.process(), s.newMachine(machineName)
	o.machine.Spec.ProviderID = s.providerID(known)
	found, err := p.GetMachineStatus(t.Context(), &driver.GetMachineStatusRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
	require.NoError(t, err)
	require.Equal(t, s.providerID(known), found.ProviderID)
	require.Equal(t, machineName, found.NodeName)
	require.NoError(t, o.delete(t.Context(), p))
	require.Empty(t, s.cloud.State(fake.DefaultProject).Servers, "the machine goes with all of its servers")
}

func TestDriver_RenamedServer(t *testing.T) {
	s := startCloud(t)
	p, o := s.process(), s.newMachine(machineName)
	require.NoError(t, o.create(t.Context(), p))
	_, err := s.cloud.DoAsOperator(fake.DefaultProject, "PUT", "nova", "/v2.1/servers/"+serverIDOf(o.machine.Spec.ProviderID),
		fake.Attrs{"server": fake.Attrs{"name": "renamed"}})
	require.NoError(t, err)
	require.NoError(t, o.create(t.Context(), p), "it is still there")
	require.NoError(t, o.delete(t.Context(), p))
	require.Empty(t, s.cloud.State(fake.DefaultProject).Servers)
	require.Empty(t, s.cloud.State(fake.DefaultProject).Ports)
}

func TestGetMachineStatus_ServerBuilding(t *testing.T) {
	s := startCloud(t)
	s.cloud.SetTransition(fake.ServerBuild, fake.Transition{Polls: 1000})
	id := s.createServer(t, machineName, clusterTag, roleTag)
	p, o := s.process(), s.newMachine(machineName)
	request := &driver.GetMachineStatusRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret}
	_, err := p.GetMachineStatus(t.Context(), request)
	require.Equal(t, codes.NotFound, code(err), "so that MCM lets it be finished")
	o.machine.DeletionTimestamp = &metav1.Time{}
	found, err := p.GetMachineStatus(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, s.providerID(id), found.ProviderID)
}

func TestDeleteMachine_UpstreamVolume(t *testing.T) {
	s := startCloud(t)
	createVolume := func(name string, metadata fake.Attrs) string {
		id, err := s.cloud.CreateResource(fake.DefaultProject, "volumes", fake.Attrs{"name": name, "size": 1, "metadata": metadata})
		require.NoError(t, err)
		return id
	}
	createVolume(machineName, fake.Attrs{clusterTag: "1"})
	createVolume(machineName, fake.Attrs{})
	theirs := createVolume(machineName, fake.Attrs{"owner": "somebody"})
	other := createVolume(machineName+"-2", fake.Attrs{clusterTag: "1"})
	p := s.process()
	require.NoError(t, s.newMachine(machineName).delete(t.Context(), p))
	require.Len(t, s.cloud.State(fake.DefaultProject).Volumes, 4, "without a boot volume of some type, it made none")
	require.NoError(t, s.newMachine(machineName, func(spec *v1alpha1.MachineProviderConfigSpec) {
		spec.RootDiskSize, spec.RootDiskType = 50, new("fast")
	}).delete(t.Context(), p))
	var ids []string
	for _, volume := range s.cloud.State(fake.DefaultProject).Volumes {
		ids = append(ids, volume.ID)
	}
	require.ElementsMatch(t, []string{theirs, other}, ids)
}

func TestCreateMachine_FlavorReplaced(t *testing.T) {
	s := startCloud(t)
	p := s.process()
	require.NoError(t, s.newMachine(machineName).create(t.Context(), p), "which looks the flavor up")
	flavors, err := s.cloud.DoAsOperator(fake.DefaultProject, "GET", "nova", "/v2.1/flavors?limit=1000", nil)
	require.NoError(t, err)
	for _, flavor := range flavors["flavors"].([]any) {
		if attrs := flavor.(map[string]any); attrs["name"] == "m1.large" {
			_, err := s.cloud.DoAsOperator(fake.DefaultProject, "DELETE", "nova", "/v2.1/flavors/"+attrs["id"].(string), nil)
			require.NoError(t, err)
		}
	}
	s.cloud.AddFlavor(fake.Flavor{ID: "another", Name: "m1.large", VCPUs: 4, RAM: 8192, Disk: 80})
	var all errgroup.Group
	for n := range 10 {
		next := s.newMachine(fmt.Sprintf("%s-cpu-z1-5d9f8-n%04d", technicalID, n))
		all.Go(func() error { return next.create(t.Context(), p) })
	}
	require.NoError(t, all.Wait(), "no user can mend that an ID is minutes old, however many ask by it at the same time")
	require.Len(t, s.cloud.State(fake.DefaultProject).Servers, 11)
	require.Len(t, s.cloud.State(fake.DefaultProject).Ports, 11, "those of the first questions are gone, or used")
}

func TestCreateMachine_ForbiddenOnce(t *testing.T) {
	s := startCloud(t)
	s.cloud.Inject(wire.Fault{Match: wire.Match{Service: services.Nova, Method: "POST"}, Times: 1, Status: 403})
	require.NoError(t, s.newMachine(machineName).create(t.Context(), s.process()))
	require.Len(t, s.cloud.State(fake.DefaultProject).Servers, 1)
}
