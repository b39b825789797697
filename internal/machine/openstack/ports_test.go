package openstack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestPorts_NoPortSecurity(t *testing.T) {
	s := startCloud(t)
	open, err := s.cloud.CreateResource(fake.DefaultProject, "networks", fake.Attrs{"name": "open", "port_security_enabled": false})
	require.NoError(t, err)
	_, err = s.cloud.CreateResource(fake.DefaultProject, "subnets", fake.Attrs{"network_id": open, "ip_version": 4, "cidr": "10.91.0.0/16"})
	require.NoError(t, err)
	twoNetworks := func(spec *v1alpha1.MachineProviderConfigSpec) {
		spec.NetworkID = ""
		spec.Networks = []v1alpha1.Network{{ID: s.network, PodNetwork: true}, {Name: "open"}}
	}
	p := s.process()
	attempts := func(name string) int {
		s.cloud.ResetLog()
		require.NoError(t, s.newMachine(name, twoNetworks).create(t.Context(), p))
		return s.cloud.Log().Count()["neutron POST /v2.0/ports"]
	}
	require.Equal(t, 3, attempts(machineName), "one is refused")
	require.Equal(t, 2, attempts(strings.Replace(machineName, "x7k2p", "aaaaa", 1)), "and that is remembered")
	for _, port := range s.cloud.State(fake.DefaultProject).Ports {
		require.Equal(t, port.NetworkID == s.network, len(port.SecurityGroups) == 1)
		require.Equal(t, port.NetworkID == s.network, len(port.AllowedAddressPairs) == 2)
	}
}

func TestPorts_Reused(t *testing.T) {
	s := startCloud(t)
	s.cloud.Inject(wire.Fault{Match: wire.Match{Service: services.Nova, Method: "POST"}, Status: 500})
	p, o := s.process(), s.newMachine(machineName)
	require.Error(t, o.create(t.Context(), p))
	left := s.cloud.State(fake.DefaultProject).Ports
	require.Len(t, left, 1, "the server may exist, so the port stays")
	require.NoError(t, o.create(t.Context(), p))
	now := s.cloud.State(fake.DefaultProject).Ports
	require.Len(t, now, 1)
	require.Equal(t, left[0].ID, now[0].ID)
}

func TestPorts_Replaced(t *testing.T) {
	s := startCloud(t)
	s.cloud.Inject(wire.Fault{Match: wire.Match{Service: services.Nova, Method: "POST"}, Status: 500})
	p := s.process()
	require.Error(t, s.newMachine(machineName, func(spec *v1alpha1.MachineProviderConfigSpec) { spec.SecurityGroups = []string{"default"} }).create(t.Context(), p))
	require.NoError(t, s.newMachine(machineName).create(t.Context(), p))
	now := s.cloud.State(fake.DefaultProject).Ports
	require.Len(t, now, 1)
	require.Equal(t, []string{s.security}, now[0].SecurityGroups)
}

func TestDeleteMachine_NetworkMissing(t *testing.T) {
	s := startCloud(t)
	o := s.newMachine(machineName, func(spec *v1alpha1.MachineProviderConfigSpec) {
		spec.NetworkID, spec.Networks = "", []v1alpha1.Network{{Name: "gone"}}
	})
	require.NoError(t, o.delete(t.Context(), s.process()))
}
