package fake_test

import (
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumes"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/listeners"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/monitors"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/pools"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/sharedfilesystems/v2/sharenetworks"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

func (s *testEnv) balancer(t testing.TB) *loadbalancers.LoadBalancer {
	t.Helper()
	b, err := loadbalancers.Create(t.Context(), s.loadBalancer, loadbalancers.CreateOpts{Name: "lb", VipSubnetID: s.subnetID}).Extract()
	require.NoError(t, err)
	return b
}

func (s *testEnv) remove(t testing.TB, id string, cascade bool) error {
	t.Helper()
	return loadbalancers.Delete(t.Context(), s.loadBalancer, id, loadbalancers.DeleteOpts{Cascade: cascade}).ExtractErr()
}

func TestCreateLoadBalancer_VIPPort(t *testing.T) {
	s := newTestEnv(t)
	b := s.balancer(t)
	p, err := ports.Get(t.Context(), s.network, b.VipPortID).Extract()
	require.NoError(t, err)
	require.Equal(t, []string{"octavia-lb-" + b.ID, "lb-" + b.ID, "Octavia", "DOWN"}, []string{p.Name, p.DeviceID, p.DeviceOwner, p.Status})
	require.Equal(t, b.VipAddress, p.FixedIPs[0].IPAddress)
	fip, err := floatingips.Create(t.Context(), s.network, floatingips.CreateOpts{FloatingNetworkID: s.publicID, PortID: b.VipPortID}).Extract()
	require.NoError(t, err)
	require.Equal(t, "409 NetworkInUse", errorText(networks.Delete(t.Context(), s.network, s.networkID).ExtractErr()))

	require.NoError(t, s.remove(t, b.ID, true))
	require.Equal(t, "404 Client", errorText(loadbalancers.Get(t.Context(), s.loadBalancer, b.ID).Err))
	require.Equal(t, "404 PortNotFound", errorText(ports.Get(t.Context(), s.network, b.VipPortID).Err))
	fip, err = floatingips.Get(t.Context(), s.network, fip.ID).Extract()
	require.NoError(t, err, "the floating IP stays behind")
	require.Equal(t, "DOWN", fip.Status)
}

func TestLoadBalancer_Pending(t *testing.T) {
	s := newTestEnv(t, fake.WithTransition(fake.LoadBalancerCreate, fake.Transition{Polls: 1}), fake.WithTransition(fake.LoadBalancerDelete, fake.Transition{Polls: 2}))
	status := func(id string) string {
		b, err := loadbalancers.Get(t.Context(), s.loadBalancer, id).Extract()
		if err != nil {
			return errorText(err)
		}
		return b.ProvisioningStatus
	}
	b := s.balancer(t)
	require.Equal(t, "PENDING_CREATE", b.ProvisioningStatus)
	require.Equal(t, "409 Client", errorText(s.remove(t, b.ID, true)))
	require.Equal(t, []string{"PENDING_CREATE", "ACTIVE"}, []string{status(b.ID), status(b.ID)})
	require.NoError(t, s.remove(t, b.ID, true))
	require.Equal(t, "409 Client", errorText(s.remove(t, b.ID, true)))
	require.Equal(t, []string{"PENDING_DELETE", "PENDING_DELETE", "404 Client"}, []string{status(b.ID), status(b.ID), status(b.ID)})
}

func TestDeleteLoadBalancer_Cascade(t *testing.T) {
	s := newTestEnv(t)
	b := s.balancer(t)
	listener, err := listeners.Create(t.Context(), s.loadBalancer, listeners.CreateOpts{LoadbalancerID: b.ID, Protocol: "TCP", ProtocolPort: 443}).Extract()
	require.NoError(t, err)
	err = listeners.Create(t.Context(), s.loadBalancer, listeners.CreateOpts{LoadbalancerID: b.ID, Protocol: "TCP", ProtocolPort: 443}).Err
	require.Equal(t, "409 Client", errorText(err))
	pool, err := pools.Create(t.Context(), s.loadBalancer, pools.CreateOpts{ListenerID: listener.ID, Protocol: "TCP", LBMethod: "ROUND_ROBIN"}).Extract()
	require.NoError(t, err)
	member, err := pools.CreateMember(t.Context(), s.loadBalancer, pool.ID, pools.CreateMemberOpts{Address: "10.250.0.9", ProtocolPort: 30443}).Extract()
	require.NoError(t, err)
	require.Equal(t, []string{"PENDING_CREATE", "NO_MONITOR"}, []string{member.ProvisioningStatus, member.OperatingStatus})
	_, err = monitors.Create(t.Context(), s.loadBalancer, monitors.CreateOpts{PoolID: pool.ID, Type: "TCP", Delay: 5, Timeout: 3, MaxRetries: 2}).Extract()
	require.NoError(t, err)

	got, err := loadbalancers.Get(t.Context(), s.loadBalancer, b.ID).Extract()
	require.NoError(t, err)
	require.Equal(t, listener.ID, got.Listeners[0].ID)
	require.Equal(t, pool.ID, got.Pools[0].ID)
	require.Equal(t, "400 Client", errorText(s.remove(t, b.ID, false)))
	require.NoError(t, pools.Delete(t.Context(), s.loadBalancer, pool.ID).ExtractErr())
	require.Equal(t, "404", errorText(pools.GetMember(t.Context(), s.loadBalancer, pool.ID, member.ID).Err))
	require.Equal(t, "400 Client", errorText(s.remove(t, b.ID, false)), "the listener is left")
	require.NoError(t, s.remove(t, b.ID, true))
	require.Equal(t, "404 Client", errorText(listeners.Get(t.Context(), s.loadBalancer, listener.ID).Err))
}

func TestLoadBalancer_Invalid(t *testing.T) {
	for name, test := range map[string]struct {
		opts  loadbalancers.CreateOpts
		quota int
		want  string
	}{
		"no place for the address": {loadbalancers.CreateOpts{}, fake.Unlimited, "400 Client"},
		"an unknown subnet":        {loadbalancers.CreateOpts{VipSubnetID: "nope"}, fake.Unlimited, "400 Client"},
		"an unknown provider":      {loadbalancers.CreateOpts{VipSubnetID: "ours", Provider: "f5"}, fake.Unlimited, "400 Client"},
		"one too many":             {loadbalancers.CreateOpts{VipSubnetID: "ours"}, 0, "403 Client"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestEnv(t)
			require.NoError(t, s.cloud.SetQuota("garden", "load_balancer", test.quota))
			if test.opts.VipSubnetID == "ours" {
				test.opts.VipSubnetID = s.subnetID
			}
			require.Equal(t, test.want, errorText(loadbalancers.Create(t.Context(), s.loadBalancer, test.opts).Err))
		})
	}
}

func TestListLoadBalancers_Filters(t *testing.T) {
	s := newTestEnv(t)
	b := s.balancer(t)
	other := createResource(t, s.cloud, "networks", fake.Attrs{})
	createResource(t, s.cloud, "subnets", fake.Attrs{"network_id": other, "ip_version": 4, "cidr": "10.9.0.0/24"})
	createResource(t, s.cloud, "loadbalancers", fake.Attrs{"vip_network_id": other, "name": "foreign"})
	for name, test := range map[string]struct {
		opts loadbalancers.ListOpts
		want int
	}{
		"all":              {loadbalancers.ListOpts{}, 2},
		"of our network":   {loadbalancers.ListOpts{VipNetworkID: s.networkID}, 1},
		"of our subnet":    {loadbalancers.ListOpts{VipSubnetID: s.subnetID, Name: "lb"}, 1},
		"of no such name":  {loadbalancers.ListOpts{Name: "l"}, 0},
		"of that very one": {loadbalancers.ListOpts{ID: b.ID}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			pages, err := loadbalancers.List(s.loadBalancer, test.opts).AllPages(t.Context())
			require.NoError(t, err)
			all, err := loadbalancers.ExtractLoadBalancers(pages)
			require.NoError(t, err)
			require.Len(t, all, test.want)
		})
	}
}

func TestShareNetworks(t *testing.T) {
	s := newTestEnv(t)
	made, err := sharenetworks.Create(t.Context(), s.share, sharenetworks.CreateOpts{Name: "s", NeutronNetID: s.networkID, NeutronSubnetID: s.subnetID}).Extract()
	require.NoError(t, err)
	require.Equal(t, s.subnetID, made.NeutronSubnetID)
	err = sharenetworks.Create(t.Context(), s.share, sharenetworks.CreateOpts{NeutronNetID: s.networkID}).Err
	require.Equal(t, "400 badRequest", errorText(err), "a network without a subnet")
	err = sharenetworks.Create(t.Context(), s.share, sharenetworks.CreateOpts{NeutronNetID: s.networkID, NeutronSubnetID: "nope"}).Err
	require.Equal(t, "400 badRequest", errorText(err))
	require.NoError(t, s.cloud.SetQuota("garden", "share_networks", 1))
	require.Equal(t, "413 overLimit", errorText(sharenetworks.Create(t.Context(), s.share, sharenetworks.CreateOpts{}).Err))

	for name, want := range map[string]int{"s": 1, "t": 0} {
		pages, err := sharenetworks.ListDetail(s.share, sharenetworks.ListOpts{Name: name}).AllPages(t.Context())
		require.NoError(t, err)
		all, err := sharenetworks.ExtractShareNetworks(pages)
		require.NoError(t, err)
		require.Len(t, all, want)
	}
	require.NoError(t, sharenetworks.Delete(t.Context(), s.share, made.ID).ExtractErr())
	require.Equal(t, "404 itemNotFound", errorText(sharenetworks.Delete(t.Context(), s.share, made.ID).ExtractErr()))
}

func TestVolumes(t *testing.T) {
	s := newTestEnv(t, fake.WithTransition(fake.VolumeCreate, fake.Transition{Polls: 1}))
	require.NoError(t, s.cloud.SetQuota("garden", "gigabytes", 5))
	v, err := volumes.Create(t.Context(), s.volume, volumes.CreateOpts{Name: "v", Size: 3}, nil).Extract()
	require.NoError(t, err)
	require.Equal(t, "creating", v.Status)
	require.Equal(t, "400 badRequest", errorText(volumes.Delete(t.Context(), s.volume, v.ID, nil).ExtractErr()))
	for _, want := range []string{"creating", "available"} {
		v, err = volumes.Get(t.Context(), s.volume, v.ID).Extract()
		require.NoError(t, err)
		require.Equal(t, want, v.Status)
	}
	require.Equal(t, "413 overLimit", errorText(volumes.Create(t.Context(), s.volume, volumes.CreateOpts{Size: 3}, nil).Err))
	require.NoError(t, volumes.Delete(t.Context(), s.volume, v.ID, nil).ExtractErr())
	require.Empty(t, s.cloud.State("garden").Volumes)
}
