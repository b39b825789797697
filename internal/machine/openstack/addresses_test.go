package openstack

import (
	"testing"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

func TestDriver_Addresses(t *testing.T) {
	s := startCloud(t)
	p, o := s.process(), s.newMachine(machineName, s.withAllFeatures)
	created, err := p.CreateMachine(t.Context(), &driver.CreateMachineRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
	require.NoError(t, err)

	ports := map[string]string{}
	for _, port := range s.cloud.State(fake.DefaultProject).Ports {
		ports[port.NetworkID] = port.FixedIPs[0].IPAddress
	}
	want := []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: ports[s.network]},
		{Type: corev1.NodeInternalIP, Address: ports[s.storage]},
	}
	assert.Equal(t, want, created.Addresses, "of both networks, ordered by their names")

	found, err := p.GetMachineStatus(t.Context(), &driver.GetMachineStatusRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
	require.NoError(t, err)
	assert.Equal(t, want, found.Addresses)
}

func TestAddressesOf(t *testing.T) {
	assert.Empty(t, addressesOf(cloudopenstack.Server{}))
	assert.Equal(t, []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: "10.250.0.3"},
		{Type: corev1.NodeExternalIP, Address: "172.24.4.7"},
		{Type: corev1.NodeInternalIP, Address: "fd00::3"},
	}, addressesOf(cloudopenstack.Server{Addresses: map[string][]cloudopenstack.ServerAddress{
		"two": {{Address: "fd00::3", Type: "fixed"}, {Address: "lost", Type: "of another kind"}},
		"one": {{Address: "10.250.0.3", Type: "fixed"}, {Address: "172.24.4.7", Type: "floating"}},
	}}))
}
