package openstack

import (
	"testing"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

func TestDriver_CreateAndDelete(t *testing.T) {
	s := startCloud(t)
	before := s.cloud.State(fake.DefaultProject)
	p, o := s.process(), s.newMachine(machineName)
	require.NoError(t, o.create(t.Context(), p))

	state := s.cloud.State(fake.DefaultProject)
	require.Len(t, state.Servers, 1)
	server := state.Servers[0]
	require.Equal(t, providerIDPrefix+fake.DefaultRegion+"/"+server.ID, o.machine.Spec.ProviderID)
	require.Equal(t, machineName, server.Name)
	require.Equal(t, "ACTIVE", server.Status)
	require.Equal(t, map[string]string{clusterTag: "1", roleTag: "1", "team": "blue"}, server.Metadata)
	require.Equal(t, "zone-a", server.AvailabilityZone)
	require.Equal(t, technicalID, server.KeyName)
	require.Equal(t, "IyEvYmluL3RydWU=", server.UserData)
	require.Empty(t, server.CreatedPorts)
	require.Len(t, state.Ports, 1)
	port := state.Ports[0]
	require.Equal(t, machineName, port.Name)
	require.Equal(t, clusterTag, port.Description)
	require.Equal(t, server.ID, port.DeviceID)
	require.Equal(t, []string{s.security}, port.SecurityGroups)
	require.Equal(t, s.subnet, port.FixedIPs[0].SubnetID)
	var pods []string
	for _, pair := range port.AllowedAddressPairs {
		pods = append(pods, pair.IPAddress)
	}
	require.Equal(t, []string{"100.64.0.0/13", "100.80.0.0/13"}, pods)
	t.Logf("the calls of one machine, from its status to its end:\n%s", s.cloud.Log())

	require.NoError(t, o.create(t.Context(), p), "a second time changes nothing")
	require.Len(t, s.cloud.State(fake.DefaultProject).Servers, 1)
	require.NoError(t, o.delete(t.Context(), p))
	require.NoError(t, o.delete(t.Context(), p), "nothing is left to delete")
	created, deleted := fake.Diff(before, s.cloud.State(fake.DefaultProject))
	require.Empty(t, created)
	require.Empty(t, deleted)
	require.Equal(t, 1, s.cloud.Logins())
}

func TestDriver_VolumesAndNetworks(t *testing.T) {
	s := startCloud(t)
	before := s.cloud.State(fake.DefaultProject)
	p, o := s.process(), s.newMachine(machineName, s.withAllFeatures)
	require.NoError(t, o.create(t.Context(), p))

	state := s.cloud.State(fake.DefaultProject)
	require.Len(t, state.Servers, 1)
	require.True(t, state.Servers[0].ConfigDrive)
	require.Len(t, state.Servers[0].Disks, 3)
	sizes := map[string]int{}
	for _, volume := range state.Volumes {
		sizes[volume.Bootable+" "+volume.Status] += volume.Size
	}
	require.Equal(t, map[string]int{"true in-use": 50, "false in-use": 30}, sizes)
	for _, disk := range state.Servers[0].Disks {
		require.True(t, disk.DeleteOnTermination)
	}
	names := map[string]int{}
	for _, port := range state.Ports {
		names[port.Name+" in "+port.NetworkID] = len(port.AllowedAddressPairs)
	}
	require.Equal(t, map[string]int{machineName + " in " + s.network: 2, machineName + "-net2 in " + s.storage: 0}, names)

	require.NoError(t, o.delete(t.Context(), p))
	created, _ := fake.Diff(before, s.cloud.State(fake.DefaultProject))
	require.Empty(t, created)
}

func TestCreateMachine_NoKeyPair(t *testing.T) {
	s := startCloud(t)
	o := s.newMachine(machineName, func(spec *v1alpha1.MachineProviderConfigSpec) { spec.KeyName = "" })
	require.NoError(t, o.create(t.Context(), s.process()), "nobody may log in to the shoot's machines")
	require.Empty(t, s.cloud.State(fake.DefaultProject).Servers[0].KeyName)
}

func TestListMachines(t *testing.T) {
	s := startCloud(t)
	o := s.newMachine(machineName)
	s.createServer(t, machineName, clusterTag, roleTag)
	s.createServer(t, "shoot--dev--one-gone-z1-11111-aaaaa", clusterTag, roleTag)
	s.createServer(t, "shoot--dev--one-2-cpu-z1-11111-aaaaa", clusterTag+"-2", roleTag)
	s.createServer(t, technicalID+"-bastion")
	list, err := s.process().ListMachines(t.Context(), &driver.ListMachinesRequest{MachineClass: o.class, Secret: o.secret})
	require.NoError(t, err)
	var names []string
	for _, name := range list.MachineList {
		names = append(names, name)
	}
	require.ElementsMatch(t, []string{machineName, "shoot--dev--one-gone-z1-11111-aaaaa"}, names)
	require.Equal(t, 1, s.cloud.Log().Count()["nova GET /v2.1/servers/detail"])
}

func TestInitializeMachine(t *testing.T) {
	_, err := startCloud(t).process().InitializeMachine(t.Context(), &driver.InitializeMachineRequest{})
	require.Equal(t, codes.Unimplemented, code(err))
}
