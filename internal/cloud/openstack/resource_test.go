package openstack_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func allServices() map[string]string {
	return map[string]string{
		"network": "https://cloud.test/network", "compute": "https://cloud.test/compute/v2.1",
		"load-balancer": "https://cloud.test/lb", "sharev2": "https://cloud.test/share/v2",
		"image": "https://cloud.test/image", "volumev3": "https://cloud.test/volume/v3/project-1",
	}
}

func TestFilters_Query(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(context.Context, *openstack.Session) error
		want string
	}{
		"networks": {func(ctx context.Context, s *openstack.Session) error {
			_, err := s.ListNetworks(ctx, openstack.NetworkFilter{IDs: []string{"a", "b"}, Name: "n", Description: "d", External: new(true)})
			return err
		}, "/network/v2.0/networks?description=d&id=a&id=b&name=n&router%3Aexternal=true"},
		"subnets": {func(ctx context.Context, s *openstack.Session) error {
			_, err := s.ListSubnets(ctx, openstack.SubnetFilter{IDs: []string{"a", "b"}, NetworkID: "n", Name: "x y", Description: "d"})
			return err
		}, "/network/v2.0/subnets?description=d&id=a&id=b&name=x+y&network_id=n"},
		"subnet pools": {func(ctx context.Context, s *openstack.Session) error {
			_, err := s.ListSubnetPools(ctx, openstack.SubnetPoolFilter{IDs: []string{"a"}, Name: "n"})
			return err
		}, "/network/v2.0/subnetpools?id=a&name=n"},
		"routers": {func(ctx context.Context, s *openstack.Session) error {
			_, err := s.ListRouters(ctx, openstack.RouterFilter{IDs: []string{"a"}, Name: "n", Description: "d"})
			return err
		}, "/network/v2.0/routers?description=d&id=a&name=n"},
		"ports": {func(ctx context.Context, s *openstack.Session) error {
			_, err := s.ListPorts(ctx, openstack.PortFilter{
				IDs: []string{"a"}, NetworkID: "n", DeviceID: "i", DeviceOwner: "o", SubnetIDs: []string{"s1", "s2"}, Name: "x", Description: "d",
			})
			return err
		}, "/network/v2.0/ports?description=d&device_id=i&device_owner=o&fixed_ips=subnet_id%3Ds1&fixed_ips=subnet_id%3Ds2&id=a&limit=1000&name=x&network_id=n"},
		"floating IPs": {func(ctx context.Context, s *openstack.Session) error {
			_, err := s.ListFloatingIPs(ctx, openstack.FloatingIPFilter{PortIDs: []string{"p", "q"}, RouterID: "r", FloatingNetworkID: "f", Description: "d"})
			return err
		}, "/network/v2.0/floatingips?description=d&floating_network_id=f&port_id=p&port_id=q&router_id=r"},
		"security groups": {func(ctx context.Context, s *openstack.Session) error {
			_, err := s.ListSecurityGroups(ctx, openstack.SecurityGroupFilter{IDs: []string{"a"}, Name: "n", Description: "d"})
			return err
		}, "/network/v2.0/security-groups?description=d&id=a&name=n"},
		"load balancers": {func(ctx context.Context, s *openstack.Session) error {
			_, err := s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{VIPNetworkID: "n", VIPSubnetID: "s", Name: "x"})
			return err
		}, "/lb/v2.0/lbaas/loadbalancers?name=x&vip_network_id=n&vip_subnet_id=s"},
		"share networks": {func(ctx context.Context, s *openstack.Session) error {
			_, err := s.ListShareNetworks(ctx, openstack.ShareNetworkFilter{ID: "not asked for", Name: "x", NetworkID: "n", SubnetID: "s"})
			return err
		}, "/share/v2/share-networks/detail?name=x&neutron_net_id=n&neutron_subnet_id=s"},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{endpoints: allServices(), serve: everyList(`[]`)}
			require.NoError(t, tc.do(t.Context(), stub.session(t, openstack.Options{})))
			assert.Equal(t, []string{"GET " + tc.want}, stub.calls())
		})
	}
}

// everyList responds to every list call with the same objects.
func everyList(objects string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		path := strings.TrimSuffix(req.URL.Path, "/detail")
		many := strings.ReplaceAll(path[strings.LastIndex(path, "/")+1:], "-", "_")
		reply(w, 200, `{"`+many+`": `+objects+`}`)
	}
}

func TestFilters_IgnoredByTheCloud(t *testing.T) {
	ids := func(ids ...string) []string { return ids }
	for name, tc := range map[string]struct {
		all  string
		list func(context.Context, *openstack.Session) (any, error)
		want []string
	}{
		"networks by description": {
			all: `[{"id": "1", "description": "mine"}, {"id": "2", "description": "theirs"}, {"id": "3", "description": "mine, too"}]`,
			list: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.ListNetworks(ctx, openstack.NetworkFilter{Description: "mine"})
			},
			want: ids("1"),
		},
		"networks that are external": {
			all: `[{"id": "1", "router:external": true}, {"id": "2", "router:external": false}, {"id": "3"}]`,
			list: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.ListNetworks(ctx, openstack.NetworkFilter{External: new(true)})
			},
			want: ids("1"),
		},
		"subnets of a network": {
			all: `[{"id": "1", "network_id": "n"}, {"id": "2", "network_id": "m"}]`,
			list: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.ListSubnets(ctx, openstack.SubnetFilter{NetworkID: "n"})
			},
			want: ids("1"),
		},
		"ports in one of some subnets": {
			all: `[{"id": "1", "fixed_ips": [{"subnet_id": "x"}, {"subnet_id": "b"}]}, {"id": "2", "fixed_ips": [{"subnet_id": "c"}]}, {"id": "3"}]`,
			list: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.ListPorts(ctx, openstack.PortFilter{SubnetIDs: ids("a", "b")})
			},
			want: ids("1"),
		},
		"floating IPs of a port": {
			all: `[{"id": "1", "port_id": null}, {"id": "2", "port_id": "p"}]`,
			list: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.ListFloatingIPs(ctx, openstack.FloatingIPFilter{PortIDs: ids("p")})
			},
			want: ids("2"),
		},
		"load balancers of a subnet": {
			all: `[{"id": "1", "vip_subnet_id": "s"}, {"id": "2", "vip_subnet_id": "t"}]`,
			list: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{VIPSubnetID: "s"})
			},
			want: ids("1"),
		},
		"a share network by ID": {
			all: `[{"id": "1"}, {"id": "2"}]`,
			list: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.ListShareNetworks(ctx, openstack.ShareNetworkFilter{ID: "2"})
			},
			want: ids("2"),
		},
		"no criteria": {
			all: `[{"id": "1"}, {"id": "2"}]`,
			list: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.ListRouters(ctx, openstack.RouterFilter{})
			},
			want: ids("1", "2"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{endpoints: allServices(), serve: everyList(tc.all)}
			found, err := tc.list(t.Context(), stub.session(t, openstack.Options{}))
			require.NoError(t, err)
			encoded, err := json.Marshal(found)
			require.NoError(t, err)
			var objects []struct {
				ID string `json:"id"`
			}
			require.NoError(t, json.Unmarshal(encoded, &objects))
			var got []string
			for _, object := range objects {
				got = append(got, object.ID)
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestSession_List_NextPageStaysAtEndpoint(t *testing.T) {
	stub := &stubCloud{serve: func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Query().Get("marker") {
		case "":
			reply(w, 200, `{"networks": [{"id": "1"}], "networks_links": [
				{"rel": "previous", "href": "http://internal:9696/v2.0/networks?marker=0"},
				{"rel": "next", "href": "http://internal:9696/v2.0/networks?name=&marker=1"}]}`)
		case "1":
			reply(w, 200, `{"networks": [{"id": "2"}], "networks_links": [{"rel": "next", "href": "http://internal:9696/v2.0/networks?marker=2"}]}`)
		default:
			reply(w, 200, `{"networks": [{"id": "3"}], "networks_links": [{"rel": "previous", "href": "http://internal:9696/v2.0/networks?marker=1"}]}`)
		}
	}}
	networks, err := stub.session(t, openstack.Options{}).ListNetworks(t.Context(), openstack.NetworkFilter{})
	require.NoError(t, err)
	assert.Equal(t, []openstack.Network{{ID: "1"}, {ID: "2"}, {ID: "3"}}, networks)
	assert.Equal(t, []string{
		"GET /network/v2.0/networks", "GET /network/v2.0/networks?marker=1&name=", "GET /network/v2.0/networks?marker=2",
	}, stub.calls())
}

func TestSession_List_PageLinksToItself(t *testing.T) {
	stub := &stubCloud{serve: status(200, `{"networks": [{"id": "1"}], "networks_links": [{"rel": "next", "href": "https://cloud.test/?marker=1"}]}`)}
	_, err := stub.session(t, openstack.Options{}).ListNetworks(t.Context(), openstack.NetworkFilter{})
	require.NoError(t, err)
	assert.Len(t, stub.calls(), 2)
}

func TestSession_EmptyID(t *testing.T) {
	for name, do := range map[string]func(context.Context, *openstack.Session) error{
		"delete": func(ctx context.Context, s *openstack.Session) error { return s.DeleteNetwork(ctx, "") },
		"get": func(ctx context.Context, s *openstack.Session) error {
			_, err := s.GetRouter(ctx, "")
			return err
		},
		"update": func(ctx context.Context, s *openstack.Session) error {
			_, err := s.UpdateSubnet(ctx, "", openstack.SubnetUpdate{})
			return err
		},
		"interface": func(ctx context.Context, s *openstack.Session) error { return s.RemoveRouterInterface(ctx, "", "s") },
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{}
			require.ErrorContains(t, do(t.Context(), stub.session(t, openstack.Options{})), "needs its ID")
			assert.Empty(t, stub.calls())
		})
	}
}
