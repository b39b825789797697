package fake_test

import (
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumes"
	"github.com/gophercloud/gophercloud/v2/openstack/common/extensions"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/listeners"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/quotas"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/subnetpools"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"
	"github.com/gophercloud/gophercloud/v2/openstack/sharedfilesystems/v2/sharenetworks"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
)

func TestCreate_BulkFails(t *testing.T) {
	s := newTestEnv(t)
	before := countNetworks(s.cloud)
	bulk := func(second fake.Attrs) error {
		return s.post(t, "networks", fake.Attrs{"networks": []fake.Attrs{{"name": "one"}, second}})
	}
	require.Equal(t, "400 HTTPBadRequest", errorText(bulk(fake.Attrs{"colour": "red"})))
	require.Equal(t, before, countNetworks(s.cloud))
	require.NoError(t, bulk(fake.Attrs{"name": "two"}))
	require.Equal(t, before+2, countNetworks(s.cloud))
	require.Equal(t, "400 HTTPBadRequest", errorText(s.post(t, "networks", fake.Attrs{"trees": []fake.Attrs{{}}})))
}

func TestUpdateSubnet(t *testing.T) {
	s := newTestEnv(t)
	update := func(opts subnets.UpdateOpts) (*subnets.Subnet, error) {
		return subnets.Update(t.Context(), s.network, s.subnetID, opts).Extract()
	}
	got, err := update(subnets.UpdateOpts{Name: new("renamed"), DNSNameservers: &[]string{"192.0.2.1"}})
	require.NoError(t, err)
	require.Equal(t, []string{"192.0.2.1"}, got.DNSNameservers)
	_, err = update(subnets.UpdateOpts{Name: new("again"), DNSNameservers: &[]string{"not an address"}})
	require.Equal(t, "400 HTTPBadRequest", errorText(err))
	got, err = update(subnets.UpdateOpts{DNSNameservers: &[]string{}})
	require.NoError(t, err)
	require.Empty(t, got.DNSNameservers)
	require.Equal(t, "renamed", got.Name, "what was refused changed nothing")
	_, err = update(subnets.UpdateOpts{Name: new("late"), RevisionNumber: new(1)})
	require.Equal(t, "412 RevisionNumberConstraintFailed", errorText(err))
}

func TestUpdatePort(t *testing.T) {
	s := newTestEnv(t)
	p := s.port(t)
	update := func(opts ports.UpdateOpts) (*ports.Port, error) {
		return ports.Update(t.Context(), s.network, p.ID, opts).Extract()
	}
	got, err := update(ports.UpdateOpts{
		Name: new("renamed"), SecurityGroups: &[]string{}, AllowedAddressPairs: &[]ports.AddressPair{{IPAddress: "100.64.0.0/11"}},
		FixedIPs: []ports.IP{{SubnetID: s.subnetID, IPAddress: "10.250.7.7"}},
	})
	require.NoError(t, err)
	require.Equal(t, "renamed", got.Name)
	require.Empty(t, got.SecurityGroups)
	require.Equal(t, p.MACAddress, got.AllowedAddressPairs[0].MACAddress)
	require.Equal(t, "10.250.7.7", got.FixedIPs[0].IPAddress)
	_, err = update(ports.UpdateOpts{Name: new("again"), FixedIPs: []ports.IP{{SubnetID: s.subnetID, IPAddress: "10.250.0.1"}}})
	require.Equal(t, "409 IpAddressAlreadyAllocated", errorText(err))
	got, err = ports.Get(t.Context(), s.network, p.ID).Extract()
	require.NoError(t, err)
	require.Equal(t, "renamed", got.Name)
	_, err = update(ports.UpdateOpts{FixedIPs: []ports.IP{{SubnetID: s.subnetID, IPAddress: p.FixedIPs[0].IPAddress}}})
	require.NoError(t, err, "the address of before is free again")
}

// unknownID is an ID that nothing has.
const unknownID = "11111111-2222-4333-8444-555555555555"

func TestAddRouterInterface_ByPort(t *testing.T) {
	s := newTestEnv(t)
	n := createResource(t, s.cloud, "networks", fake.Attrs{})
	sub := createResource(t, s.cloud, "subnets", fake.Attrs{"network_id": n, "ip_version": 4, "cidr": "10.9.0.0/24"})
	p := createResource(t, s.cloud, "ports", fake.Attrs{"network_id": n, "fixed_ips": []fake.Attrs{{"subnet_id": sub, "ip_address": "10.9.0.77"}}})
	_, err := routers.AddInterface(t.Context(), s.network, s.routerID, routers.AddInterfaceOpts{PortID: p}).Extract()
	require.NoError(t, err)
	got, err := ports.Get(t.Context(), s.network, p).Extract()
	require.NoError(t, err)
	require.Equal(t, []string{s.routerID, "network:router_interface"}, []string{got.DeviceID, got.DeviceOwner})

	remove := func(opts routers.RemoveInterfaceOpts) error {
		return routers.RemoveInterface(t.Context(), s.network, s.routerID, opts).Err
	}
	require.Equal(t, "400 SubnetMismatchForPort", errorText(remove(routers.RemoveInterfaceOpts{PortID: p, SubnetID: s.subnetID})))
	require.Equal(t, "404 RouterInterfaceNotFound", errorText(remove(routers.RemoveInterfaceOpts{PortID: s.port(t).ID})))
	require.Equal(t, "404 SubnetNotFound", errorText(remove(routers.RemoveInterfaceOpts{SubnetID: unknownID})))
	require.Equal(t, "400 BadRequest", errorText(remove(routers.RemoveInterfaceOpts{SubnetID: "nope"})))
	require.NoError(t, remove(routers.RemoveInterfaceOpts{PortID: p}))
	require.Equal(t, "404 PortNotFound", errorText(ports.Get(t.Context(), s.network, p).Err))
}

func TestUpdateSecurityGroupAndSubnetPool(t *testing.T) {
	s := newTestEnv(t)
	g := createResource(t, s.cloud, "security-groups", fake.Attrs{"name": "g"})
	got, err := groups.Update(t.Context(), s.network, g, groups.UpdateOpts{Name: "h", Description: new("d")}).Extract()
	require.NoError(t, err)
	require.Equal(t, []string{"h", "d"}, []string{got.Name, got.Description})
	standard := s.cloud.State("garden").SecurityGroups[0].ID
	require.Equal(t, "409 SecurityGroupCannotUpdateDefault", errorText(groups.Update(t.Context(), s.network, standard, groups.UpdateOpts{Name: "mine"}).Err))

	pool, err := subnetpools.Create(t.Context(), s.network, subnetpools.CreateOpts{Name: "p", Prefixes: []string{"10.0.0.0/8"}}).Extract()
	require.NoError(t, err)
	require.Equal(t, []int{8, 8, 32}, []int{pool.DefaultPrefixLen, pool.MinPrefixLen, pool.MaxPrefixLen})
	_, err = subnetpools.Update(t.Context(), s.network, pool.ID, subnetpools.UpdateOpts{DefaultPrefixLen: 24}).Extract()
	require.NoError(t, err)
	for name, test := range map[string]struct {
		opts subnetpools.CreateOpts
		want string
	}{
		"both versions":      {subnetpools.CreateOpts{Prefixes: []string{"10.0.0.0/8", "fd00::/48"}}, "400 PrefixVersionMismatch"},
		"bounds crossed":     {subnetpools.CreateOpts{Prefixes: []string{"10.0.0.0/8"}, MinPrefixLen: 24, MaxPrefixLen: 20}, "400 IllegalSubnetPoolPrefixBounds"},
		"no range":           {subnetpools.CreateOpts{Prefixes: []string{"ten"}}, "400 HTTPBadRequest"},
		"shared by a member": {subnetpools.CreateOpts{Prefixes: []string{"10.0.0.0/8"}, Shared: true}, "403 PolicyNotAuthorized"},
	} {
		require.Equal(t, test.want, errorText(subnetpools.Create(t.Context(), s.network, test.opts).Err), name)
	}
	other := createResource(t, s.cloud, "networks", fake.Attrs{})
	createResource(t, s.cloud, "subnets", fake.Attrs{"network_id": other, "ip_version": 4, "subnetpool_id": pool.ID})
	require.Equal(t, "400 SubnetPoolDeleteError", errorText(subnetpools.Delete(t.Context(), s.network, pool.ID).ExtractErr()))
}

func TestNeutronInfo(t *testing.T) {
	s := newTestEnv(t, fake.WithoutExtensions("availability_zone"))
	require.NoError(t, s.cloud.SetQuota("garden", "router", 7))
	got, err := quotas.Get(t.Context(), s.network, s.cloud.ProjectID("garden")).Extract()
	require.NoError(t, err)
	require.Equal(t, []int{7, -1}, []int{got.Router, got.Network})
	require.NoError(t, extensions.Get(t.Context(), s.network, "security-group").Err)
	require.Equal(t, "404 HTTPNotFound", errorText(extensions.Get(t.Context(), s.network, "availability_zone").Err))
	pages, err := extensions.List(s.network).AllPages(t.Context())
	require.NoError(t, err)
	all, err := extensions.ExtractExtensions(pages)
	require.NoError(t, err)
	require.Greater(t, len(all), 20)
}

func TestUpdateLoadBalancer(t *testing.T) {
	s := newTestEnv(t, fake.WithTransition(fake.LoadBalancerUpdate, fake.Transition{Polls: 1}))
	b := s.balancer(t)
	got, err := loadbalancers.Update(t.Context(), s.loadBalancer, b.ID, loadbalancers.UpdateOpts{Name: new("renamed")}).Extract()
	require.NoError(t, err)
	require.Equal(t, []string{"renamed", "PENDING_UPDATE"}, []string{got.Name, got.ProvisioningStatus})
	busy := listeners.Create(t.Context(), s.loadBalancer, listeners.CreateOpts{LoadbalancerID: b.ID, Protocol: "TCP", ProtocolPort: 1}).Err
	require.Equal(t, "409 Client", errorText(busy))
	require.NoError(t, loadbalancers.Get(t.Context(), s.loadBalancer, b.ID).Err)
	made, err := listeners.Create(t.Context(), s.loadBalancer, listeners.CreateOpts{Name: "l", LoadbalancerID: b.ID, Protocol: "TCP", ProtocolPort: 1}).Extract()
	require.NoError(t, err)
	require.NoError(t, loadbalancers.Get(t.Context(), s.loadBalancer, b.ID).Err)
	renamed, err := listeners.Update(t.Context(), s.loadBalancer, made.ID, listeners.UpdateOpts{Name: new("m")}).Extract()
	require.NoError(t, err)
	require.Equal(t, "m", renamed.Name)
	for name, want := range map[string]int{"l": 0, "m": 1} {
		pages, err := listeners.List(s.loadBalancer, listeners.ListOpts{Name: name}).AllPages(t.Context())
		require.NoError(t, err)
		all, err := listeners.ExtractListeners(pages)
		require.NoError(t, err)
		require.Len(t, all, want)
	}
}

func TestShareNetwork_Microversions(t *testing.T) {
	s := newTestEnv(t)
	id := createResource(t, s.cloud, "share-networks", fake.Attrs{"name": "s", "neutron_net_id": s.networkID, "neutron_subnet_id": s.subnetID})
	got, err := sharenetworks.Update(t.Context(), s.share, id, sharenetworks.UpdateOpts{Name: new("t")}).Extract()
	require.NoError(t, err)
	require.Equal(t, []string{"t", s.networkID}, []string{got.Name, got.NeutronNetID})
	s.share.Microversion = "2.51"
	raw := sharenetworks.Get(t.Context(), s.share, id)
	flat, err := raw.Extract()
	require.NoError(t, err)
	require.Empty(t, flat.NeutronNetID)
	require.Contains(t, raw.PrettyPrintJSON(), "share_network_subnets")
}

func TestListVolumes(t *testing.T) {
	s := newTestEnv(t)
	createResource(t, s.cloud, "volumes", fake.Attrs{"name": "v", "size": 1})
	for name, want := range map[string]int{"": 1, "v": 1, "w": 0} {
		pages, err := volumes.List(s.volume, volumes.ListOpts{Name: name}).AllPages(t.Context())
		require.NoError(t, err)
		all, err := volumes.ExtractVolumes(pages)
		require.NoError(t, err)
		require.Len(t, all, want)
	}
}

func TestTokensAndApplicationCredentials(t *testing.T) {
	cloud := start(t)
	opts := memberOptions(cloud)
	opts.AllowReauth = false
	p, err := openstack.AuthenticatedClient(t.Context(), opts)
	require.NoError(t, err)
	id := identity(t, p)
	pages, err := applicationcredentials.List(id, cloud.UserID("gardener"), nil).AllPages(t.Context())
	require.NoError(t, err)
	all, err := applicationcredentials.ExtractApplicationCredentials(pages)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Empty(t, all[0].Secret)
	require.NoError(t, tokens.Revoke(t.Context(), id, p.Token()).Err)
	require.Equal(t, "401 Unauthorized", errorText(tokens.Get(t.Context(), id, p.Token()).Err))
}

func TestSetMissingServices(t *testing.T) {
	cloud := start(t)
	find := func() error {
		p, err := openstack.AuthenticatedClient(t.Context(), memberOptions(cloud))
		require.NoError(t, err)
		_, err = openstack.NewLoadBalancerV2(p, gophercloud.EndpointOpts{})
		return err
	}
	cloud.SetMissingServices(services.Octavia, services.Manila)
	require.ErrorContains(t, find(), "No suitable endpoint")
	cloud.SetMissingServices()
	require.NoError(t, find())
}
