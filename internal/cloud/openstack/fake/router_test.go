package fake_test

import (
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/extraroutes"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

func TestRouter_Invalid(t *testing.T) {
	gateway := func(info func(*testEnv) routers.GatewayInfo) func(*testing.T, *testEnv) error {
		return func(t *testing.T, s *testEnv) error {
			return routers.Create(t.Context(), s.network, routers.CreateOpts{GatewayInfo: new(info(s))}).Err
		}
	}
	for name, test := range map[string]struct {
		do   func(*testing.T, *testEnv) error
		want string
	}{
		"none of it": {gateway(func(s *testEnv) routers.GatewayInfo { return routers.GatewayInfo{NetworkID: s.publicID} }), ""},
		"a gateway to a network that is not there": {gateway(func(*testEnv) routers.GatewayInfo { return routers.GatewayInfo{NetworkID: "nope"} }), "400 HTTPBadRequest"},
		"a gateway to an internal network":         {gateway(func(s *testEnv) routers.GatewayInfo { return routers.GatewayInfo{NetworkID: s.networkID} }), "400 BadRequest"},
		"SNAT chosen by a member": {gateway(func(s *testEnv) routers.GatewayInfo {
			return routers.GatewayInfo{NetworkID: s.publicID, EnableSNAT: new(true)}
		}), "403 PolicyNotAuthorized"},
		"an external address chosen by a member": {gateway(func(s *testEnv) routers.GatewayInfo {
			return routers.GatewayInfo{NetworkID: s.publicID, ExternalFixedIPs: []routers.ExternalFixedIP{{IPAddress: "198.18.0.77"}}}
		}), "403 PolicyNotAuthorized"},
		"a gateway in another network's subnet": {gateway(func(s *testEnv) routers.GatewayInfo {
			s.cloud.SetPolicy(fake.Policy{SetGatewaySubnet: true})
			return routers.GatewayInfo{NetworkID: s.publicID, ExternalFixedIPs: []routers.ExternalFixedIP{{SubnetID: s.subnetID}}}
		}), "400 InvalidInput"},
		"an external subnet chosen by a member": {gateway(func(s *testEnv) routers.GatewayInfo {
			return routers.GatewayInfo{NetworkID: s.publicID, ExternalFixedIPs: []routers.ExternalFixedIP{{SubnetID: s.subnetID}}}
		}), "403 PolicyNotAuthorized"},
		"a gateway in a subnet that ran dry": {func(t *testing.T, s *testEnv) error {
			s.cloud.SetPolicy(fake.Policy{SetGatewaySubnet: true})
			require.NoError(t, s.cloud.ExhaustSubnet(fake.ExternalSubnetA, true))
			return gateway(func(s *testEnv) routers.GatewayInfo {
				return routers.GatewayInfo{NetworkID: s.publicID, ExternalFixedIPs: []routers.ExternalFixedIP{{SubnetID: externalSubnet(t, s.cloud, fake.ExternalSubnetA)}}}
			})(t, s)
		}, "409 IpAddressGenerationFailure"},
		"a gateway in a network that ran dry": {func(t *testing.T, s *testEnv) error {
			require.NoError(t, s.cloud.ExhaustSubnet(fake.ExternalSubnetA, true))
			require.NoError(t, s.cloud.ExhaustSubnet(fake.ExternalSubnetB, true))
			return gateway(func(s *testEnv) routers.GatewayInfo { return routers.GatewayInfo{NetworkID: s.publicID} })(t, s)
		}, "409 IpAddressGenerationFailure"},
		"deleting a router with an interface": {func(t *testing.T, s *testEnv) error {
			return routers.Delete(t.Context(), s.network, s.routerID).ExtractErr()
		}, "409 RouterInUse"},
		"the same interface again": {func(t *testing.T, s *testEnv) error {
			return routers.AddInterface(t.Context(), s.network, s.routerID, routers.AddInterfaceOpts{SubnetID: s.subnetID}).Err
		}, "400 BadRequest"},
		"an interface of a second router at the same address": {func(t *testing.T, s *testEnv) error {
			other := createResource(t, s.cloud, "routers", fake.Attrs{})
			return routers.AddInterface(t.Context(), s.network, other, routers.AddInterfaceOpts{SubnetID: s.subnetID}).Err
		}, "409 IpAddressAlreadyAllocated"},
		"an interface in a range that overlaps": {func(t *testing.T, s *testEnv) error {
			n := createResource(t, s.cloud, "networks", fake.Attrs{})
			sub := createResource(t, s.cloud, "subnets", fake.Attrs{"network_id": n, "ip_version": 4, "cidr": "10.250.1.0/24"})
			return routers.AddInterface(t.Context(), s.network, s.routerID, routers.AddInterfaceOpts{SubnetID: sub}).Err
		}, "400 BadRequest"},
		"an interface by a port in use": {func(t *testing.T, s *testEnv) error {
			return routers.AddInterface(t.Context(), s.network, s.routerID, routers.AddInterfaceOpts{PortID: s.interfaceID}).Err
		}, "409 PortInUse"},
		"removing an interface that is not there": {func(t *testing.T, s *testEnv) error {
			other := createResource(t, s.cloud, "routers", fake.Attrs{})
			return routers.RemoveInterface(t.Context(), s.network, other, routers.RemoveInterfaceOpts{SubnetID: s.subnetID}).Err
		}, "404 RouterInterfaceNotFoundForSubnet"},
		"removing an interface that a route needs": {func(t *testing.T, s *testEnv) error {
			require.NoError(t, s.route(t, "100.64.0.0/24", "10.250.0.5"))
			return routers.RemoveInterface(t.Context(), s.network, s.routerID, routers.RemoveInterfaceOpts{SubnetID: s.subnetID}).Err
		}, "409 RouterInterfaceInUseByRoute"},
		"removing an interface that a floating IP needs": {func(t *testing.T, s *testEnv) error {
			require.NoError(t, floatingips.Create(t.Context(), s.network, floatingips.CreateOpts{FloatingNetworkID: s.publicID, PortID: s.port(t).ID}).Err)
			return routers.RemoveInterface(t.Context(), s.network, s.routerID, routers.RemoveInterfaceOpts{SubnetID: s.subnetID}).Err
		}, "409 RouterInterfaceInUseByFloatingIP"},
		"cutting a gateway that a floating IP needs": {func(t *testing.T, s *testEnv) error {
			require.NoError(t, floatingips.Create(t.Context(), s.network, floatingips.CreateOpts{FloatingNetworkID: s.publicID, PortID: s.port(t).ID}).Err)
			return s.put(t, "routers/"+s.routerID, fake.Attrs{"router": fake.Attrs{"external_gateway_info": nil}})
		}, "409 RouterExternalGatewayInUseByFloatingIp"},
		"a route to nowhere": {func(t *testing.T, s *testEnv) error { return s.route(t, "100.64.0.0/24", "10.9.0.1") }, "400 InvalidRoutes"},
		"a route to itself":  {func(t *testing.T, s *testEnv) error { return s.route(t, "100.64.0.0/24", "10.250.0.1") }, "400 InvalidRoutes"},
		"routes in a create": {func(t *testing.T, s *testEnv) error {
			return s.post(t, "routers", fake.Attrs{"router": fake.Attrs{"routes": []any{}}})
		}, "400 HTTPBadRequest"},
		"a floating IP without a way": {func(t *testing.T, s *testEnv) error {
			n := createResource(t, s.cloud, "networks", fake.Attrs{})
			createResource(t, s.cloud, "subnets", fake.Attrs{"network_id": n, "ip_version": 4, "cidr": "10.9.0.0/24"})
			p := createResource(t, s.cloud, "ports", fake.Attrs{"network_id": n})
			return floatingips.Create(t.Context(), s.network, floatingips.CreateOpts{FloatingNetworkID: s.publicID, PortID: p}).Err
		}, "404 ExternalGatewayForFloatingIPNotFound"},
		"a second floating IP for an address": {func(t *testing.T, s *testEnv) error {
			opts := floatingips.CreateOpts{FloatingNetworkID: s.publicID, PortID: s.port(t).ID}
			require.NoError(t, floatingips.Create(t.Context(), s.network, opts).Err)
			return floatingips.Create(t.Context(), s.network, opts).Err
		}, "409 FloatingIPPortAlreadyAssociated"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, errorText(test.do(t, newTestEnv(t)))) })
	}
}

func (s *testEnv) route(t testing.TB, destination, hop string) error {
	t.Helper()
	return routers.Update(t.Context(), s.network, s.routerID, routers.UpdateOpts{Routes: &[]routers.Route{{DestinationCIDR: destination, NextHop: hop}}}).Err
}

func TestUpdateRouter_IfMatch(t *testing.T) {
	s := newTestEnv(t)
	r, err := routers.Get(t.Context(), s.network, s.routerID).Extract()
	require.NoError(t, err)
	require.NoError(t, s.route(t, "100.64.0.0/24", "10.250.0.5"), "somebody else")

	late := routers.UpdateOpts{Routes: &[]routers.Route{}, RevisionNumber: &r.RevisionNumber}
	require.Equal(t, "412 RevisionNumberConstraintFailed", errorText(routers.Update(t.Context(), s.network, s.routerID, late).Err))

	r, err = routers.Get(t.Context(), s.network, s.routerID).Extract()
	require.NoError(t, err)
	require.Len(t, r.Routes, 1)
	late.RevisionNumber = &r.RevisionNumber
	require.NoError(t, routers.Update(t.Context(), s.network, s.routerID, late).Err)
}

func TestUpdateRouter_WithoutRevisionIfMatch(t *testing.T) {
	s := newTestEnv(t, fake.WithoutExtensions("revision-if-match"))
	require.NoError(t, routers.Update(t.Context(), s.network, s.routerID, routers.UpdateOpts{Name: "renamed", RevisionNumber: new(77)}).Err)
}

func TestRouterRoutes_AddAndRemove(t *testing.T) {
	s := newTestEnv(t)
	require.NoError(t, s.route(t, "100.64.0.0/24", "10.250.0.5"))
	more := []routers.Route{{DestinationCIDR: "100.64.1.0/24", NextHop: "10.250.0.6"}}
	r, err := extraroutes.Add(t.Context(), s.network, s.routerID, extraroutes.Opts{Routes: &more}).Extract()
	require.NoError(t, err)
	require.Len(t, r.Routes, 2)
	r, err = extraroutes.Remove(t.Context(), s.network, s.routerID, extraroutes.Opts{Routes: &more}).Extract()
	require.NoError(t, err)
	require.Equal(t, []routers.Route{{DestinationCIDR: "100.64.0.0/24", NextHop: "10.250.0.5"}}, r.Routes)
}

func TestRouterGateway_SubnetExhausted(t *testing.T) {
	s := newTestEnv(t)
	a, b := externalSubnet(t, s.cloud, fake.ExternalSubnetA), externalSubnet(t, s.cloud, fake.ExternalSubnetB)
	create := func() *routers.Router {
		r, err := routers.Create(t.Context(), s.network, routers.CreateOpts{GatewayInfo: &routers.GatewayInfo{NetworkID: s.publicID}}).Extract()
		require.NoError(t, err)
		return r
	}
	require.Equal(t, a, create().GatewayInfo.ExternalFixedIPs[0].SubnetID)
	require.NoError(t, s.cloud.ExhaustSubnet(fake.ExternalSubnetA, true))
	require.Equal(t, b, create().GatewayInfo.ExternalFixedIPs[0].SubnetID)
	require.NoError(t, s.cloud.ExhaustSubnet(fake.ExternalSubnetA, false))
	require.Equal(t, a, create().GatewayInfo.ExternalFixedIPs[0].SubnetID)
}

func TestUpdateRouter_Gateway(t *testing.T) {
	s := newTestEnv(t, fake.WithPolicy(fake.Policy{SetSNAT: true, SetGatewaySubnet: true, SetGatewayAddress: true}))
	before, err := routers.Get(t.Context(), s.network, s.routerID).Extract()
	require.NoError(t, err)
	old := before.GatewayInfo.ExternalFixedIPs[0]
	update := func(info routers.GatewayInfo) routers.GatewayInfo {
		info.NetworkID = s.publicID
		r, err := routers.Update(t.Context(), s.network, s.routerID, routers.UpdateOpts{GatewayInfo: &info}).Extract()
		require.NoError(t, err)
		return r.GatewayInfo
	}
	off := update(routers.GatewayInfo{EnableSNAT: new(false)})
	require.False(t, *off.EnableSNAT)
	require.Equal(t, []routers.ExternalFixedIP{old}, off.ExternalFixedIPs, "the address stays")
	require.True(t, *update(routers.GatewayInfo{}).EnableSNAT, "the default comes back when it is not sent")

	kept := update(routers.GatewayInfo{ExternalFixedIPs: []routers.ExternalFixedIP{old}})
	require.Equal(t, []routers.ExternalFixedIP{old}, kept.ExternalFixedIPs)
	moved := update(routers.GatewayInfo{ExternalFixedIPs: []routers.ExternalFixedIP{{SubnetID: old.SubnetID, IPAddress: "198.18.0.200"}}})
	require.Equal(t, "198.18.0.200", moved.ExternalFixedIPs[0].IPAddress)

	taken := routers.GatewayInfo{NetworkID: s.publicID, ExternalFixedIPs: []routers.ExternalFixedIP{{SubnetID: old.SubnetID, IPAddress: "198.18.0.200"}}}
	err = routers.Create(t.Context(), s.network, routers.CreateOpts{GatewayInfo: &taken}).Err
	require.Equal(t, "409 IpAddressAlreadyAllocated", errorText(err))
	taken.ExternalFixedIPs[0].IPAddress = old.IPAddress
	require.NoError(t, routers.Create(t.Context(), s.network, routers.CreateOpts{GatewayInfo: &taken}).Err, "the old address is free again")
}

func TestFloatingIP_PortChanges(t *testing.T) {
	s := newTestEnv(t)
	p := s.port(t)
	f, err := floatingips.Create(t.Context(), s.network, floatingips.CreateOpts{FloatingNetworkID: s.publicID}).Extract()
	require.NoError(t, err)
	require.Equal(t, "DOWN", f.Status)
	f, err = floatingips.Update(t.Context(), s.network, f.ID, floatingips.UpdateOpts{PortID: &p.ID}).Extract()
	require.NoError(t, err)
	require.Equal(t, []string{"ACTIVE", s.routerID, p.FixedIPs[0].IPAddress}, []string{f.Status, f.RouterID, f.FixedIP})

	require.NoError(t, ports.Delete(t.Context(), s.network, p.ID).ExtractErr())
	f, err = floatingips.Get(t.Context(), s.network, f.ID).Extract()
	require.NoError(t, err)
	require.Equal(t, []string{"DOWN", "", ""}, []string{f.Status, f.RouterID, f.PortID})
	require.NoError(t, floatingips.Delete(t.Context(), s.network, f.ID).ExtractErr())
	require.Empty(t, s.cloud.State("garden").FloatingIPs)
}

func TestAddRouterInterface_DualStack(t *testing.T) {
	s := newTestEnv(t)
	var faces []string
	for _, cidr := range []string{"fd00:1::/64", "fd00:2::/64"} {
		sub, err := subnets.Create(t.Context(), s.network, subnets.CreateOpts{
			NetworkID: s.networkID, IPVersion: 6, CIDR: cidr, IPv6AddressMode: "slaac", IPv6RAMode: "slaac",
		}).Extract()
		require.NoError(t, err)
		info, err := routers.AddInterface(t.Context(), s.network, s.routerID, routers.AddInterfaceOpts{SubnetID: sub.ID}).Extract()
		require.NoError(t, err)
		faces = append(faces, info.PortID)
	}
	require.Equal(t, faces[0], faces[1])
	require.NotEqual(t, s.interfaceID, faces[0], "IPv4 has a port of its own")
	p, err := ports.Get(t.Context(), s.network, faces[0]).Extract()
	require.NoError(t, err)
	require.Len(t, p.FixedIPs, 2)

	host, err := ports.Create(t.Context(), s.network, ports.CreateOpts{NetworkID: s.networkID, MACAddress: "fa:16:3e:01:02:03"}).Extract()
	require.NoError(t, err)
	require.Equal(t, []string{"10.250.0.2", "fd00:1::f816:3eff:fe01:203", "fd00:2::f816:3eff:fe01:203"},
		[]string{host.FixedIPs[0].IPAddress, host.FixedIPs[1].IPAddress, host.FixedIPs[2].IPAddress})

	_, err = routers.RemoveInterface(t.Context(), s.network, s.routerID, routers.RemoveInterfaceOpts{SubnetID: p.FixedIPs[0].SubnetID}).Extract()
	require.NoError(t, err)
	p, err = ports.Get(t.Context(), s.network, faces[0]).Extract()
	require.NoError(t, err, "the port stays for the other subnet")
	require.Len(t, p.FixedIPs, 1)
	require.NoError(t, subnets.Delete(t.Context(), s.network, host.FixedIPs[1].SubnetID).ExtractErr(), "automatic addresses are in nobody's way")
}

func TestWithTransition_RouterInterface(t *testing.T) {
	s := newTestEnv(t, fake.WithTransition(fake.RouterInterface, fake.Transition{Polls: 2}))
	var seen []string
	for range 4 {
		p, err := ports.Get(t.Context(), s.network, s.interfaceID).Extract()
		require.NoError(t, err)
		seen = append(seen, p.Status)
	}
	require.Equal(t, []string{"DOWN", "DOWN", "ACTIVE", "ACTIVE"}, seen)
}

func TestSubnetPool_Allocation(t *testing.T) {
	s := newTestEnv(t)
	pool := createResource(t, s.cloud, "subnetpools", fake.Attrs{"name": "p", "prefixes": []string{"10.0.0.0/22"}, "default_prefixlen": 24, "min_prefixlen": 23})
	create := func(opts subnets.CreateOpts) (string, error) {
		n, err := networks.Create(t.Context(), s.network, networks.CreateOpts{}).Extract()
		require.NoError(t, err)
		opts.NetworkID, opts.SubnetPoolID = n.ID, pool
		if opts.IPVersion == 0 {
			opts.IPVersion = 4
		}
		made, err := subnets.Create(t.Context(), s.network, opts).Extract()
		if err != nil {
			return "", err
		}
		return made.CIDR, nil
	}
	for _, step := range []struct {
		sentence   string
		opts       subnets.CreateOpts
		cidr, want string
	}{
		{"the default length", subnets.CreateOpts{}, "10.0.0.0/24", ""},
		{"another length, behind what is taken", subnets.CreateOpts{Prefixlen: 23}, "10.0.2.0/23", ""},
		{"a range that is free", subnets.CreateOpts{CIDR: "10.0.1.0/25"}, "10.0.1.0/25", ""},
		{"a range that is taken", subnets.CreateOpts{CIDR: "10.0.0.0/25"}, "", "500 SubnetAllocationError"},
		{"a range outside the pool", subnets.CreateOpts{CIDR: "10.9.0.0/24"}, "", "500 SubnetAllocationError"},
		{"too wide a range", subnets.CreateOpts{Prefixlen: 22}, "", "400 MinPrefixSubnetAllocationError"},
		{"too narrow a range", subnets.CreateOpts{Prefixlen: 33}, "", "400 MaxPrefixSubnetAllocationError"},
		{"the other version", subnets.CreateOpts{IPVersion: 6}, "", "400 BadRequest"},
		{"the rest", subnets.CreateOpts{Prefixlen: 25}, "10.0.1.128/25", ""},
		{"more than the rest", subnets.CreateOpts{Prefixlen: 25}, "", "500 SubnetAllocationError"},
	} {
		cidr, err := create(step.opts)
		require.Equal(t, step.want, errorText(err), step.sentence)
		require.Equal(t, step.cidr, cidr, step.sentence)
	}
}
