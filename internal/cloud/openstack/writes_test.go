package openstack_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// exchange is a call, the request that it must send, and its result for a response.
type exchange struct {
	do       func(context.Context, *openstack.Session) (any, error)
	sends    string // method and path, and the microversion if one is requested
	body     string // JSON, empty for none
	response string
	want     any
}

func TestSession_WriteRequests(t *testing.T) {
	for name, tc := range map[string]exchange{
		"a network": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "n", Description: "d", MTU: 1400, AvailabilityZoneHints: []string{"z"}})
			},
			sends: "POST /network/v2.0/networks", body: `{"network": {"name": "n", "description": "d", "mtu": 1400, "availability_zone_hints": ["z"]}}`,
			response: `{"network": {"id": "1", "mtu": 1400, "subnets": ["s"], "revision_number": 2, "admin_state_up": true}}`,
			want:     openstack.Network{ID: "1", MTU: 1400, SubnetIDs: []string{"s"}, RevisionNumber: 2, AdminStateUp: true},
		},
		"a change of a network": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.UpdateNetwork(ctx, "1", openstack.NetworkUpdate{AdminStateUp: new(true), Description: new("")})
			},
			sends: "PUT /network/v2.0/networks/1", body: `{"network": {"admin_state_up": true, "description": ""}}`,
			response: `{"network": {"id": "1"}}`, want: openstack.Network{ID: "1"},
		},
		"a subnet": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.CreateSubnet(ctx, openstack.SubnetCreate{NetworkID: "n", CIDR: "10.0.0.0/16", IPVersion: 4, DNSServers: []string{"1.1.1.1"}})
			},
			sends: "POST /network/v2.0/subnets",
			body:  `{"subnet": {"network_id": "n", "cidr": "10.0.0.0/16", "ip_version": 4, "dns_nameservers": ["1.1.1.1"]}}`,
			response: `{"subnet": {"id": "s", "gateway_ip": null, "enable_dhcp": true, "subnetpool_id": null,
				"allocation_pools": [{"start": "10.0.0.2", "end": "10.0.0.9"}], "host_routes": [{"destination": "0.0.0.0/0", "nexthop": "10.0.0.1"}]}}`,
			want: openstack.Subnet{
				ID: "s", DHCP: true,
				AllocationPools: []openstack.AllocationPool{{Start: "10.0.0.2", End: "10.0.0.9"}},
				HostRoutes:      []openstack.HostRoute{{Destination: "0.0.0.0/0", NextHop: "10.0.0.1"}},
			},
		},
		"a subnet from a pool": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.CreateSubnet(ctx, openstack.SubnetCreate{
					NetworkID: "n", SubnetPoolID: "p", PrefixLength: 64, IPVersion: 6, IPv6AddressMode: "slaac", IPv6RAMode: "slaac",
				})
			},
			sends: "POST /network/v2.0/subnets",
			body: `{"subnet": {"network_id": "n", "subnetpool_id": "p", "prefixlen": 64, "ip_version": 6,
				"ipv6_address_mode": "slaac", "ipv6_ra_mode": "slaac"}}`,
			response: `{"subnet": {"id": "s"}}`, want: openstack.Subnet{ID: "s"},
		},
		"a subnet without DNS servers": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				var none []string
				return s.UpdateSubnet(ctx, "s", openstack.SubnetUpdate{DNSServers: &none})
			},
			sends: "PUT /network/v2.0/subnets/s", body: `{"subnet": {"dns_nameservers": []}}`,
			response: `{"subnet": {"id": "s"}}`, want: openstack.Subnet{ID: "s"},
		},
		"a subnet pool, with lengths as strings": {
			do:    func(ctx context.Context, s *openstack.Session) (any, error) { return s.GetSubnetPool(ctx, "p") },
			sends: "GET /network/v2.0/subnetpools/p",
			response: `{"subnetpool": {"id": "p", "ip_version": 6, "prefixes": ["fd00::/48"],
				"default_prefixlen": "64", "min_prefixlen": 48, "max_prefixlen": null, "address_scope_id": null}}`,
			want: openstack.SubnetPool{ID: "p", IPVersion: 6, Prefixes: []string{"fd00::/48"}, DefaultPrefixLen: 64, MinPrefixLen: 48},
		},
		"a router": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.CreateRouter(ctx, openstack.RouterCreate{Name: "r", Gateway: &openstack.ExternalGateway{
					NetworkID: "ext", FixedIPs: []openstack.ExternalFixedIP{{SubnetID: "es"}},
				}})
			},
			sends:    "POST /network/v2.0/routers",
			body:     `{"router": {"name": "r", "external_gateway_info": {"network_id": "ext", "external_fixed_ips": [{"subnet_id": "es"}]}}}`,
			response: `{"router": {"id": "r", "external_gateway_info": {"network_id": "ext", "enable_snat": true, "external_fixed_ips": [{"subnet_id": "es", "ip_address": "1.2.3.4"}]}}}`,
			want: openstack.Router{ID: "r", Gateway: &openstack.ExternalGateway{
				NetworkID: "ext", EnableSNAT: new(true), FixedIPs: []openstack.ExternalFixedIP{{SubnetID: "es", IPAddress: "1.2.3.4"}},
			}},
		},
		"a router without routes": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				var none []openstack.Route
				return s.UpdateRouter(ctx, "r", openstack.RouterUpdate{Routes: &none, IfRevision: 7})
			},
			sends: "PUT /network/v2.0/routers/r If-Match: revision_number=7", body: `{"router": {"routes": []}}`,
			response: `{"router": {"id": "r", "external_gateway_info": null}}`, want: openstack.Router{ID: "r"},
		},
		"a router's interface": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.AddRouterInterface(ctx, "r", "s")
			},
			sends: "PUT /network/v2.0/routers/r/add_router_interface", body: `{"subnet_id": "s"}`,
			response: `{"id": "r", "port_id": "p"}`, want: "p",
		},
		"a router's interface, away": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return nil, s.RemoveRouterInterface(ctx, "r", "s")
			},
			sends: "PUT /network/v2.0/routers/r/remove_router_interface", body: `{"subnet_id": "s"}`,
			response: `{"id": "r", "port_id": "p"}`,
		},
		"a port": {
			do:       func(ctx context.Context, s *openstack.Session) (any, error) { return s.GetPort(ctx, "p") },
			sends:    "GET /network/v2.0/ports/p",
			response: `{"port": {"id": "p", "device_owner": "compute:nova", "device_id": "i", "fixed_ips": [{"subnet_id": "s", "ip_address": "10.0.0.3"}]}}`,
			want:     openstack.Port{ID: "p", DeviceOwner: "compute:nova", DeviceID: "i", FixedIPs: []openstack.FixedIP{{SubnetID: "s", IPAddress: "10.0.0.3"}}},
		},
		"a security group": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.CreateSecurityGroup(ctx, openstack.SecurityGroupCreate{Name: "g", Description: "d"})
			},
			sends: "POST /network/v2.0/security-groups", body: `{"security_group": {"name": "g", "description": "d"}}`,
			response: `{"security_group": {"id": "g", "security_group_rules": [{"id": "r", "direction": "egress", "ethertype": "IPv4", "protocol": null, "port_range_min": null}]}}`,
			want:     openstack.SecurityGroup{ID: "g", Rules: []openstack.SecurityGroupRule{{ID: "r", Direction: "egress", EtherType: "IPv4"}}},
		},
		"a change of a security group": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.UpdateSecurityGroup(ctx, "g", openstack.SecurityGroupUpdate{Name: new("h")})
			},
			sends: "PUT /network/v2.0/security-groups/g", body: `{"security_group": {"name": "h"}}`,
			response: `{"security_group": {"id": "g"}}`, want: openstack.SecurityGroup{ID: "g"},
		},
		"a rule, away": { // and not the group with that ID
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return nil, s.DeleteSecurityGroupRule(ctx, "r")
			},
			sends: "DELETE /network/v2.0/security-group-rules/r",
		},
		"a key pair, with a name that needs care": {
			do:       func(ctx context.Context, s *openstack.Session) (any, error) { return s.GetKeyPair(ctx, "a/b c") },
			sends:    "GET /compute/v2.1/os-keypairs/a%2Fb%20c",
			response: `{"keypair": {"name": "a/b c", "public_key": "k", "fingerprint": "f"}}`,
			want:     openstack.KeyPair{Name: "a/b c", PublicKey: "k", Fingerprint: "f"},
		},
		"a new key pair": {
			do:    func(ctx context.Context, s *openstack.Session) (any, error) { return s.CreateKeyPair(ctx, "a", "k") },
			sends: "POST /compute/v2.1/os-keypairs", body: `{"keypair": {"name": "a", "public_key": "k"}}`,
			response: `{"keypair": {"name": "a", "public_key": "k"}}`, want: openstack.KeyPair{Name: "a", PublicKey: "k"},
		},
		"a load balancer, away with all that is in it": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return nil, s.DeleteLoadBalancer(ctx, "l", true)
			},
			sends: "DELETE /lb/v2.0/lbaas/loadbalancers/l?cascade=true",
		},
		"a load balancer, away": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return nil, s.DeleteLoadBalancer(ctx, "l", false)
			},
			sends: "DELETE /lb/v2.0/lbaas/loadbalancers/l",
		},
		"a share network": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.CreateShareNetwork(ctx, openstack.ShareNetworkCreate{Name: "x", NetworkID: "n", SubnetID: "s"})
			},
			sends: "POST /share/v2/share-networks", body: `{"share_network": {"name": "x", "neutron_net_id": "n", "neutron_subnet_id": "s"}}`,
			response: `{"share_network": {"id": "x", "neutron_net_id": "n", "neutron_subnet_id": "s"}}`,
			want:     openstack.ShareNetwork{ID: "x", NetworkID: "n", SubnetID: "s"},
		},
	} {
		t.Run(name, func(t *testing.T) { checkExchange(t, tc) })
	}
}

func checkExchange(t *testing.T, tc exchange) {
	t.Helper()
	var sent string
	stub := &stubCloud{endpoints: allServices(), serve: func(w http.ResponseWriter, req *http.Request) {
		sent = req.Method + " " + req.URL.RequestURI()
		if microversion := req.Header.Get("OpenStack-API-Version"); microversion != "" {
			sent += " " + microversion
		}
		if condition := req.Header.Get("If-Match"); condition != "" {
			sent += " If-Match: " + condition
		}
		if tc.response == "" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		reply(w, http.StatusOK, tc.response)
	}}
	got, err := tc.do(t.Context(), stub.session(t, openstack.Options{}))
	require.NoError(t, err)
	assert.Equal(t, tc.sends, sent)
	if tc.body == "" {
		assert.Empty(t, stub.lastBody())
	} else {
		assert.JSONEq(t, tc.body, stub.lastBody())
	}
	if diff := cmp.Diff(tc.want, got); diff != "" {
		t.Error(diff)
	}
}
