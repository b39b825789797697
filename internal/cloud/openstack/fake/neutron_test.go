package fake_test

import (
	"net/http"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/mtu"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// testEnv is a cloud with a network, a subnet, a router to the outside and the interface between them, all the member's.
type testEnv struct {
	*client
	cloud                           *fake.Cloud
	networkID, subnetID             string
	routerID, interfaceID, publicID string
}

func newTestEnv(t testing.TB, opts ...fake.Option) *testEnv {
	t.Helper()
	cloud := start(t, opts...)
	s := &testEnv{client: member(t, cloud), cloud: cloud, publicID: externalNetworkID(t, cloud)}
	network, err := networks.Create(t.Context(), s.network, networks.CreateOpts{Name: "site"}).Extract()
	require.NoError(t, err)
	subnet, err := subnets.Create(t.Context(), s.network, subnets.CreateOpts{NetworkID: network.ID, Name: "site", IPVersion: 4, CIDR: "10.250.0.0/16"}).Extract()
	require.NoError(t, err)
	router, err := routers.Create(t.Context(), s.network, routers.CreateOpts{Name: "site", GatewayInfo: &routers.GatewayInfo{NetworkID: s.publicID}}).Extract()
	require.NoError(t, err)
	routerInterface, err := routers.AddInterface(t.Context(), s.network, router.ID, routers.AddInterfaceOpts{SubnetID: subnet.ID}).Extract()
	require.NoError(t, err)
	s.networkID, s.subnetID, s.routerID, s.interfaceID = network.ID, subnet.ID, router.ID, routerInterface.PortID
	return s
}

func (s *testEnv) port(t testing.TB) *ports.Port {
	t.Helper()
	p, err := ports.Create(t.Context(), s.network, ports.CreateOpts{NetworkID: s.networkID, FixedIPs: []ports.IP{{SubnetID: s.subnetID}}}).Extract()
	require.NoError(t, err)
	return p
}

func (s *testEnv) put(t testing.TB, path string, body fake.Attrs) error {
	t.Helper()
	response, err := s.network.Put(t.Context(), s.network.ServiceURL(path), body, nil, &gophercloud.RequestOpts{OkCodes: []int{200}})
	return closeResponse(response, err)
}

func (s *testEnv) post(t testing.TB, path string, body fake.Attrs) error {
	t.Helper()
	response, err := s.network.Post(t.Context(), s.network.ServiceURL(path), body, nil, nil)
	return closeResponse(response, err)
}

func (s *testEnv) get(t testing.TB, path string) error {
	t.Helper()
	response, err := s.network.Get(t.Context(), s.network.ServiceURL(path), nil, nil)
	return closeResponse(response, err)
}

func closeResponse(response *http.Response, err error) error {
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func TestNetwork_Invalid(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(*testing.T, *testEnv) error
		want string
	}{
		"a network that is not there": {func(t *testing.T, s *testEnv) error {
			return networks.Get(t.Context(), s.network, "nope").Err
		}, "404 NetworkNotFound"},
		"an attribute that does not exist": {func(t *testing.T, s *testEnv) error {
			return s.post(t, "networks", fake.Attrs{"network": fake.Attrs{"colour": "red"}})
		}, "400 HTTPBadRequest"},
		"tags in a create": {func(t *testing.T, s *testEnv) error {
			return s.post(t, "networks", fake.Attrs{"network": fake.Attrs{"tags": []string{"a"}}})
		}, "400 HTTPBadRequest"},
		"an attribute of the wrong type": {func(t *testing.T, s *testEnv) error {
			return s.post(t, "networks", fake.Attrs{"network": fake.Attrs{"mtu": "wide"}})
		}, "400 InvalidInput"},
		"an MTU above the cloud's": {func(t *testing.T, s *testEnv) error {
			return networks.Create(t.Context(), s.network, mtu.CreateOptsExt{CreateOptsBuilder: networks.CreateOpts{}, MTU: 9000}).Err
		}, "400 InvalidInput"},
		"an unknown availability zone": {func(t *testing.T, s *testEnv) error {
			return networks.Create(t.Context(), s.network, networks.CreateOpts{AvailabilityZoneHints: []string{"mars"}}).Err
		}, "404 AvailabilityZoneNotFound"},
		"a shared network, to a member": {func(t *testing.T, s *testEnv) error {
			return networks.Create(t.Context(), s.network, networks.CreateOpts{Shared: new(true)}).Err
		}, "403 PolicyNotAuthorized"},
		"a network for another project": {func(t *testing.T, s *testEnv) error {
			return networks.Create(t.Context(), s.network, networks.CreateOpts{ProjectID: s.cloud.ProjectID("admin")}).Err
		}, "400 HTTPBadRequest"},
		"deleting a network with an interface in it": {func(t *testing.T, s *testEnv) error {
			return networks.Delete(t.Context(), s.network, s.networkID).ExtractErr()
		}, "409 NetworkInUse"},
		"deleting the external network": {func(t *testing.T, s *testEnv) error {
			return networks.Delete(t.Context(), s.network, s.publicID).ExtractErr()
		}, "403 PolicyNotAuthorized"},
		"more than the quota": {func(t *testing.T, s *testEnv) error {
			require.NoError(t, s.cloud.SetQuota("garden", "network", 1))
			return networks.Create(t.Context(), s.network, networks.CreateOpts{}).Err
		}, "409 OverQuota"},
		"a filter that does not exist": {func(t *testing.T, s *testEnv) error {
			return s.get(t, "networks?colour=red")
		}, "400 HTTPBadRequest"},
		"a path that does not exist": {func(t *testing.T, s *testEnv) error {
			return s.get(t, "v2.0/networks")
		}, "404 HTTPNotFound"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, errorText(test.do(t, newTestEnv(t)))) })
	}
}

// zeroID is an ID that nothing has.
const zeroID = "00000000-0000-4000-8000-000000000000"

func TestSubnet_Invalid(t *testing.T) {
	create := func(change func(*subnets.CreateOpts)) func(*testing.T, *testEnv) error {
		return func(t *testing.T, s *testEnv) error {
			opts := subnets.CreateOpts{NetworkID: s.networkID, IPVersion: 4, CIDR: "10.1.0.0/16"}
			change(&opts)
			return subnets.Create(t.Context(), s.network, opts).Err
		}
	}
	for name, test := range map[string]struct {
		do   func(*testing.T, *testEnv) error
		want string
	}{
		"none of it":                  {create(func(*subnets.CreateOpts) {}), ""},
		"a network that is not there": {create(func(o *subnets.CreateOpts) { o.NetworkID = zeroID }), "404 NetworkNotFound"},
		"a subnet in the external network": {func(t *testing.T, s *testEnv) error {
			return subnets.Create(t.Context(), s.network, subnets.CreateOpts{NetworkID: s.publicID, IPVersion: 4, CIDR: "10.1.0.0/16"}).Err
		}, "403 HTTPForbidden"},
		"no version":                   {create(func(o *subnets.CreateOpts) { o.IPVersion = 0 }), "400 HTTPBadRequest"},
		"neither range nor pool":       {create(func(o *subnets.CreateOpts) { o.CIDR = "" }), "400 BadRequest"},
		"a range with host bits":       {create(func(o *subnets.CreateOpts) { o.CIDR = "10.1.0.7/16" }), ""},
		"no range at all":              {create(func(o *subnets.CreateOpts) { o.CIDR = "ten" }), "400 InvalidInput"},
		"a range of the other version": {create(func(o *subnets.CreateOpts) { o.IPVersion = 6 }), "400 InvalidInput"},
		"a range that overlaps":        {create(func(o *subnets.CreateOpts) { o.CIDR = "10.250.7.0/24" }), "400 InvalidInput"},
		"a name as DNS server":         {create(func(o *subnets.CreateOpts) { o.DNSNameservers = []string{"dns.example"} }), "400 HTTPBadRequest"},
		"six DNS servers": {create(func(o *subnets.CreateOpts) {
			o.DNSNameservers = []string{"1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4", "1.1.1.5", "1.1.1.6"}
		}), "400 DNSNameServersExhausted"},
		"a gateway elsewhere": {create(func(o *subnets.CreateOpts) { o.GatewayIP = new("10.2.0.1") }), ""},
		"a gateway in a pool": {create(func(o *subnets.CreateOpts) {
			o.AllocationPools = []subnets.AllocationPool{{Start: "10.1.0.1", End: "10.1.0.9"}}
		}), "409 GatewayConflictWithAllocationPools"},
		"a pool elsewhere": {create(func(o *subnets.CreateOpts) {
			o.AllocationPools = []subnets.AllocationPool{{Start: "10.2.0.2", End: "10.2.0.9"}}
		}), "400 OutOfBoundsAllocationPool"},
		"a pool from end to start": {create(func(o *subnets.CreateOpts) {
			o.AllocationPools = []subnets.AllocationPool{{Start: "10.1.0.9", End: "10.1.0.2"}}
		}), "400 InvalidAllocationPool"},
		"pools that overlap": {create(func(o *subnets.CreateOpts) {
			o.AllocationPools = []subnets.AllocationPool{{Start: "10.1.0.2", End: "10.1.0.9"}, {Start: "10.1.0.9", End: "10.1.0.12"}}
		}), "409 OverlappingAllocationPools"},
		"address modes with IPv4": {create(func(o *subnets.CreateOpts) { o.IPv6AddressMode = "slaac" }), "400 InvalidInput"},
		"address modes that differ": {create(func(o *subnets.CreateOpts) {
			o.IPVersion, o.CIDR, o.IPv6AddressMode, o.IPv6RAMode = 6, "fd00::/64", "slaac", "dhcpv6-stateful"
		}), "400 InvalidInput"},
		"automatic addresses outside a /64": {create(func(o *subnets.CreateOpts) {
			o.IPVersion, o.CIDR, o.IPv6AddressMode, o.IPv6RAMode = 6, "fd00::/56", "slaac", "slaac"
		}), "400 InvalidInput"},
		"a pool of subnets that is not there": {create(func(o *subnets.CreateOpts) { o.CIDR, o.SubnetPoolID = "", zeroID }), "404 SubnetPoolNotFound"},
		"deleting a subnet with an interface": {func(t *testing.T, s *testEnv) error {
			return subnets.Delete(t.Context(), s.network, s.subnetID).ExtractErr()
		}, "409 SubnetInUse"},
		"another range for a subnet": {func(t *testing.T, s *testEnv) error {
			return s.put(t, "subnets/"+s.subnetID, fake.Attrs{"subnet": fake.Attrs{"cidr": "10.9.0.0/16"}})
		}, "400 HTTPBadRequest"},
		"another gateway for a used subnet": {func(t *testing.T, s *testEnv) error {
			return s.put(t, "subnets/"+s.subnetID, fake.Attrs{"subnet": fake.Attrs{"gateway_ip": "10.250.0.9"}})
		}, "409 GatewayIpInUse"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, errorText(test.do(t, newTestEnv(t)))) })
	}
}

func TestSubnet_AllocationPools(t *testing.T) {
	s := newTestEnv(t)
	for name, test := range map[string]struct {
		gateway *string
		want    []subnets.AllocationPool
	}{
		"at the start unless given": {nil, []subnets.AllocationPool{{Start: "10.1.0.2", End: "10.1.0.254"}}},
		"in the middle":             {new("10.1.0.100"), []subnets.AllocationPool{{Start: "10.1.0.1", End: "10.1.0.99"}, {Start: "10.1.0.101", End: "10.1.0.254"}}},
		"at the end":                {new("10.1.0.254"), []subnets.AllocationPool{{Start: "10.1.0.1", End: "10.1.0.253"}}},
		"nowhere":                   {new(""), []subnets.AllocationPool{{Start: "10.1.0.1", End: "10.1.0.254"}}},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := subnets.Create(t.Context(), s.network, subnets.CreateOpts{NetworkID: s.networkID, IPVersion: 4, CIDR: "10.1.0.0/24", GatewayIP: test.gateway}).Extract()
			require.NoError(t, err)
			require.Equal(t, test.want, made.AllocationPools)
			require.NoError(t, subnets.Delete(t.Context(), s.network, made.ID).ExtractErr())
		})
	}
}

func TestDeleteNetwork(t *testing.T) {
	s := newTestEnv(t, fake.WithDHCPPorts())
	require.Len(t, s.cloud.State("garden").Ports, 3, "interface, gateway and DHCP")
	_, err := routers.RemoveInterface(t.Context(), s.network, s.routerID, routers.RemoveInterfaceOpts{SubnetID: s.subnetID}).Extract()
	require.NoError(t, err)
	require.NoError(t, networks.Delete(t.Context(), s.network, s.networkID).ExtractErr())
	left := s.cloud.State("garden")
	require.Empty(t, left.Subnets)
	require.Len(t, left.Ports, 1, "the gateway")
}

func TestPortAndSecurityGroup_Invalid(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(*testing.T, *testEnv) error
		want string
	}{
		"deleting an interface as a port": {func(t *testing.T, s *testEnv) error {
			return ports.Delete(t.Context(), s.network, s.interfaceID).ExtractErr()
		}, "409 ServicePortInUse"},
		"an address twice": {func(t *testing.T, s *testEnv) error {
			return ports.Create(t.Context(), s.network, ports.CreateOpts{NetworkID: s.networkID, FixedIPs: []ports.IP{{SubnetID: s.subnetID, IPAddress: "10.250.0.1"}}}).Err
		}, "409 IpAddressAlreadyAllocated"},
		"an address from elsewhere": {func(t *testing.T, s *testEnv) error {
			return ports.Create(t.Context(), s.network, ports.CreateOpts{NetworkID: s.networkID, FixedIPs: []ports.IP{{IPAddress: "10.9.0.1"}}}).Err
		}, "400 InvalidIpForNetwork"},
		"a port in the external network": {func(t *testing.T, s *testEnv) error {
			return ports.Create(t.Context(), s.network, ports.CreateOpts{NetworkID: s.publicID}).Err
		}, "403 HTTPForbidden"},
		"a group that is not there": {func(t *testing.T, s *testEnv) error {
			return ports.Create(t.Context(), s.network, ports.CreateOpts{NetworkID: s.networkID, SecurityGroups: &[]string{zeroID}}).Err
		}, "404 SecurityGroupNotFound"},
		"deleting a group that a port has": {func(t *testing.T, s *testEnv) error {
			g := createResource(t, s.cloud, "security-groups", fake.Attrs{"name": "g"})
			require.NoError(t, ports.Create(t.Context(), s.network, ports.CreateOpts{NetworkID: s.networkID, SecurityGroups: &[]string{g}}).Err)
			return groups.Delete(t.Context(), s.network, g).ExtractErr()
		}, "409 SecurityGroupInUse"},
		"deleting the default group": {func(t *testing.T, s *testEnv) error {
			return groups.Delete(t.Context(), s.network, s.cloud.State("garden").SecurityGroups[0].ID).ExtractErr()
		}, "409 SecurityGroupCannotRemoveDefault"},
		"a second default group": {func(t *testing.T, s *testEnv) error {
			return groups.Create(t.Context(), s.network, groups.CreateOpts{Name: "default"}).Err
		}, "409 SecurityGroupDefaultAlreadyExists"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, errorText(test.do(t, newTestEnv(t)))) })
	}
}

func TestProjects_Isolation(t *testing.T) {
	s := newTestEnv(t)
	other := otherMember(t, s.cloud)
	require.Equal(t, "404 NetworkNotFound", errorText(networks.Get(t.Context(), other.network, s.networkID).Err))
	require.Equal(t, "404 RouterNotFound", errorText(routers.Get(t.Context(), other.network, s.routerID).Err))
	require.Equal(t, "404 SubnetNotFound", errorText(subnets.Delete(t.Context(), other.network, s.subnetID).ExtractErr()))
	pages, err := networks.List(other.network, nil).AllPages(t.Context())
	require.NoError(t, err)
	all, err := networks.ExtractNetworks(pages)
	require.NoError(t, err)
	require.Len(t, all, 1, "only the external network")
	require.Equal(t, s.publicID, all[0].ID)
}

func TestListPorts_NetworkOwner(t *testing.T) {
	s := newTestEnv(t)
	_, err := s.cloud.CreateResource(fake.AdminProject, "ports", fake.Attrs{"network_id": s.networkID, "name": "foreign"})
	require.NoError(t, err)
	pages, err := ports.List(s.network, ports.ListOpts{NetworkID: s.networkID, Name: "foreign"}).AllPages(t.Context())
	require.NoError(t, err)
	all, err := ports.ExtractPorts(pages)
	require.NoError(t, err)
	require.Len(t, all, 1)
	pages, err = ports.List(s.network, ports.ListOpts{DeviceID: s.routerID, DeviceOwner: "network:router_gateway"}).AllPages(t.Context())
	require.NoError(t, err)
	all, err = ports.ExtractPorts(pages)
	require.NoError(t, err)
	require.Empty(t, all, "gateway ports belong to nobody")
}

func TestRouterPorts_NetworkOwner(t *testing.T) {
	s := newTestEnv(t, fake.WithRouterInterfaceOwner("network:ha_router_replicated_interface"))
	p, err := ports.Get(t.Context(), s.network, s.interfaceID).Extract()
	require.NoError(t, err)
	require.Equal(t, "network:ha_router_replicated_interface", p.DeviceOwner)
	require.Equal(t, "409 RouterInUse", errorText(routers.Delete(t.Context(), s.network, s.routerID).ExtractErr()))
}
