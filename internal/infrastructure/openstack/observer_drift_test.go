package openstack

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// driftCase changes one field of one resource behind the driver's back.
type driftCase struct {
	// fields are those that it changes, as resource.Field of the client's types.
	fields []string
	// prepare is everyField if nil.
	prepare func(o *observing)
	cause   func(o *observing)
	// want are parts of the sentences, one for each.
	want []string
}

// put changes attributes as another client does.
func put(collection, key, stateKey string, attrs fake.Attrs) func(o *observing) {
	return func(o *observing) { o.updateResource(collection, key, o.state()[stateKey], attrs) }
}

// replaced makes the cloud answer other attributes, to the observer and to the driver: the API cannot change them, so that the resource was replaced by
// another one, which has the ID only for this test.
func replaced(collection, stateKey string, attrs fake.Attrs) func(o *observing) {
	return func(o *observing) {
		id := o.state()[stateKey]
		o.base = func(base http.RoundTripper) http.RoundTripper {
			return &rewriting{base: base, collection: strings.ReplaceAll(collection, "-", "_"), id: id, attrs: attrs}
		}
		o.sessions = cloudopenstack.NewSessions(cloudopenstack.Options{Transport: o.base, Retry: transport.RetryPolicy{FirstPause: time.Millisecond}})
		o.driver = New(o.sessions, Options{})
	}
}

// rewriting changes attributes of one resource in lists.
type rewriting struct {
	base           http.RoundTripper
	collection, id string
	attrs          fake.Attrs
}

// RoundTrip implements http.RoundTripper.
func (r *rewriting) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.base.RoundTrip(request)
	if err != nil || request.Method != http.MethodGet {
		return response, err
	}
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var lists map[string]json.RawMessage
	var resources []map[string]any
	if json.Unmarshal(raw, &lists) == nil && json.Unmarshal(lists[r.collection], &resources) == nil {
		for _, resource := range resources {
			for attribute, value := range r.attrs {
				if resource["id"] == r.id {
					resource[attribute] = value
				}
			}
		}
		if lists[r.collection], err = json.Marshal(resources); err != nil {
			return nil, err
		}
		if raw, err = json.Marshal(lists); err != nil {
			return nil, err
		}
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	response.Header.Del("Content-Length")
	return response, nil
}

const anotherID = "99999999-9999-4999-8999-999999999999"

func networkDrift() map[string]driftCase {
	return map[string]driftCase{
		"the name of the network": {
			fields: []string{"network.Name"}, cause: put("networks", "network", "Network", fake.Attrs{"name": "theirs"}),
			want: []string{`has the name "theirs", not "shoot--dev--one"; no reconciliation changes it`},
		},
		"the mark of the network": {
			fields: []string{"network.Description"}, cause: put("networks", "network", "Network", fake.Attrs{"description": "theirs"}),
			want: []string{`has the description "theirs", not "Gardener shoot shoot--dev--one, uid`},
		},
		"the mark of the network is another shoot's": {
			cause: put("networks", "network", "Network", fake.Attrs{"description": formatMark("shoot--dev--two", "another-uid")}),
			want:  []string{"; the next reconciliation fails: restore the description"},
		},
		"the network is switched off": {
			fields: []string{"network.AdminStateUp"}, cause: put("networks", "network", "Network", fake.Attrs{"admin_state_up": false}),
			want: []string{"has its administrative state switched off, not on; the next reconciliation repairs it"},
		},
		"the MTU of the network is lower": {
			fields: []string{"network.MTU"}, cause: put("networks", "network", "Network", fake.Attrs{"mtu": 1300}),
			want: []string{`has the MTU "1300", not "1400"; the next reconciliation repairs it`},
		},
		"the MTU of the network is higher": {
			cause: put("networks", "network", "Network", fake.Attrs{"mtu": 1450}),
			want:  []string{`has the MTU "1450", not "1400"; no reconciliation changes it`},
		},
		"the zones of the network": {
			fields: []string{"network.AvailabilityZoneHints"}, cause: replaced("networks", "Network", fake.Attrs{"availability_zone_hints": []string{"zone-c"}}),
			want: []string{`has the availability zone hints "zone-c", not "zone-a, zone-b"; no reconciliation changes it`},
		},
		"the network is gone, and with it the subnet": {
			prepare: func(*observing) {},
			cause: func(o *observing) {
				o.disconnectSubnet()
				require.NoError(o.t, o.session().DeleteNetwork(o.t.Context(), o.state()["Network"]))
			},
			want: []string{"does not exist any more, or the project cannot see it; the next reconciliation creates it again", "; the next reconciliation creates it again"},
		},
	}
}

// disconnectSubnet removes the router's interface.
func (o *observing) disconnectSubnet() {
	o.operate("PUT", services.Neutron, "/v2.0/routers/"+o.state()["Router"]+"/remove_router_interface", map[string]any{"subnet_id": o.state()["Subnet"]})
}

func subnetDrift() map[string]driftCase {
	pool := func(start, end string) []fake.Attrs { return []fake.Attrs{{"start": start, "end": end}} }
	return map[string]driftCase{
		"the network of the subnet": {
			fields: []string{"subnet.NetworkID"}, cause: replaced("subnets", "Subnet", fake.Attrs{"network_id": anotherID}),
			want: []string{"; the next reconciliation fails: delete the subnet"},
		},
		"the name of the subnet": {
			fields: []string{"subnet.Name"}, cause: put("subnets", "subnet", "Subnet", fake.Attrs{"name": "theirs"}),
			want: []string{`has the name "theirs", not "shoot--dev--one"`},
		},
		"the mark of the subnet": {
			fields: []string{"subnet.Description"}, cause: put("subnets", "subnet", "Subnet", fake.Attrs{"description": ""}),
			want: []string{`has the description none, not "Gardener shoot`},
		},
		"the IP version of the subnet": {
			fields: []string{"subnet.IPVersion"}, cause: replaced("subnets", "Subnet", fake.Attrs{"ip_version": 6}), want: []string{`has the IP version "6", not "4"`},
		},
		"the range of the subnet": {
			fields: []string{"subnet.CIDR"}, want: []string{`has the range "10.251.0.0/19", not "10.250.0.0/19"`},
			cause: replaced("subnets", "Subnet", fake.Attrs{
				"cidr": "10.251.0.0/19", "gateway_ip": "10.251.0.1", "allocation_pools": pool("10.251.0.2", "10.251.31.254"),
			}),
		},
		"the pool of the subnet": {
			fields: []string{"subnet.SubnetPoolID"}, cause: replaced("subnets", "Subnet", fake.Attrs{"subnetpool_id": anotherID}),
			want: []string{`has the subnet pool "` + anotherID + `", not none`},
		},
		"the range that a pool gave": {
			fields: []string{"subnet.PrefixLength"}, prepare: usePool, want: []string{`has the range "10.77.0.0/21", not "10.`},
			cause: replaced("subnets", "Subnet", fake.Attrs{"cidr": "10.77.0.0/21", "gateway_ip": "10.77.0.1", "allocation_pools": pool("10.77.0.2", "10.77.7.254")}),
		},
		"the address mode of the IPv6 subnet": {
			fields: []string{"subnet.IPv6AddressMode"}, prepare: dualStack, cause: replaced("subnets", "SubnetIPv6", fake.Attrs{"ipv6_address_mode": nil}),
			want: []string{`has the IPv6 address mode none, not "slaac"`},
		},
		"the router advertisement mode of the IPv6 subnet": {
			fields: []string{"subnet.IPv6RAMode"}, prepare: dualStack, cause: replaced("subnets", "SubnetIPv6", fake.Attrs{"ipv6_ra_mode": "dhcpv6-stateless"}),
			want: []string{`has the IPv6 router advertisement mode "dhcpv6-stateless", not "slaac"`},
		},
		"the range of services": {
			prepare: dualStack, want: []string{`has the range "2001:db8:9::/64", not "2001:db8:3::/64"`},
			cause: replaced("subnets", "SubnetIPv6Svc", fake.Attrs{
				"cidr": "2001:db8:9::/64", "gateway_ip": "2001:db8:9::", "allocation_pools": pool("2001:db8:9::1", "2001:db8:9:0:ffff:ffff:ffff:ffff"),
			}),
		},
		"DHCP is switched off": {
			fields: []string{"subnet.DHCP"}, cause: put("subnets", "subnet", "Subnet", fake.Attrs{"enable_dhcp": false}),
			want: []string{"has DHCP switched off, not on; the next reconciliation repairs it"},
		},
		"the DNS servers": {
			fields: []string{"subnet.DNSServers"}, cause: put("subnets", "subnet", "Subnet", fake.Attrs{"dns_nameservers": []string{"9.9.9.9"}}),
			want: []string{`has the DNS servers "9.9.9.9", not "1.1.1.1"; the next reconciliation repairs it`},
		},
		"the gateway of the subnet": {
			cause: replaced("subnets", "Subnet", fake.Attrs{"gateway_ip": "10.250.31.254", "allocation_pools": pool("10.250.0.1", "10.250.31.253")}),
			want:  []string{`has the gateway "10.250.31.254", not "10.250.0.1"`},
		},
		"the allocation pools end early": {
			cause: put("subnets", "subnet", "Subnet", fake.Attrs{"allocation_pools": pool("10.250.0.2", "10.250.1.254")}),
			want:  []string{`has allocation pools "10.250.0.2-10.250.1.254", not all of 10.250.0.0/19: 10.250.1.255 is not in them`},
		},
		"the allocation pools have a gap": {
			cause: put("subnets", "subnet", "Subnet", fake.Attrs{"allocation_pools": slices.Concat(pool("10.250.0.2", "10.250.3.255"), pool("10.250.4.1", "10.250.31.254"))}),
			want:  []string{"10.250.4.0 is not in them"},
		},
		"host routes of the subnet": {
			cause: put("subnets", "subnet", "Subnet", fake.Attrs{"host_routes": []fake.Attrs{{"destination": "192.0.2.0/24", "nexthop": "10.250.0.9"}}}),
			want:  []string{`has the host routes "192.0.2.0/24 by 10.250.0.9", not none`},
		},
		"the subnet is gone": {
			prepare: func(*observing) {},
			cause: func(o *observing) {
				o.disconnectSubnet()
				require.NoError(o.t, o.session().DeleteSubnet(o.t.Context(), o.state()["Subnet"]))
			},
			want: []string{"does not exist any more, or the project cannot see it; the next reconciliation creates it again"},
		},
	}
}

// setGateway changes the router's gateway.
func setGateway(change func(o *observing, gateway map[string]any)) func(o *observing) {
	return func(o *observing) {
		gateway := map[string]any{
			"network_id": o.floatingNetwork(), "enable_snat": true, "external_fixed_ips": o.resources().Routers[0].Gateway.ExternalFixedIPs,
		}
		change(o, gateway)
		o.updateResource("routers", "router", o.state()["Router"], fake.Attrs{"external_gateway_info": gateway})
	}
}

func (o *observing) externalSubnet(name string) string {
	for _, subnet := range o.cloud.State("").Subnets {
		if subnet.Name == name {
			return subnet.ID
		}
	}
	o.t.Fatalf("no subnet %s", name)
	return ""
}

func routerDrift() map[string]driftCase {
	return map[string]driftCase{
		"the name of the router": {
			fields: []string{"router.Name"}, cause: put("routers", "router", "Router", fake.Attrs{"name": "theirs"}), want: []string{`has the name "theirs"`},
		},
		"the mark of the router": {
			fields: []string{"router.Description"}, cause: put("routers", "router", "Router", fake.Attrs{"description": "theirs"}),
			want: []string{`has the description "theirs"`},
		},
		"the router is switched off": {
			fields: []string{"router.AdminStateUp"}, cause: put("routers", "router", "Router", fake.Attrs{"admin_state_up": false}),
			want: []string{"has its administrative state switched off, not on; the next reconciliation repairs it"},
		},
		"the zones of the router": {
			fields: []string{"router.AvailabilityZoneHints"}, cause: replaced("routers", "Router", fake.Attrs{"availability_zone_hints": []string{}}),
			want: []string{`has the availability zone hints none, not "zone-b"`},
		},
		"the router has no gateway": {
			fields: []string{"router.Gateway"}, cause: put("routers", "router", "Router", fake.Attrs{"external_gateway_info": nil}),
			want: []string{"has no gateway, not one in floating network"},
		},
		"the network of the gateway": {
			fields: []string{"gateway.NetworkID"},
			cause: setGateway(func(o *observing, gateway map[string]any) {
				network, err := o.cloud.CreateResource(fake.AdminProject, "networks", fake.Attrs{"name": "other", "router:external": true})
				require.NoError(o.t, err)
				_, err = o.cloud.CreateResource(fake.AdminProject, "subnets", fake.Attrs{"network_id": network, "ip_version": 4, "cidr": "192.0.2.0/24"})
				require.NoError(o.t, err)
				gateway["network_id"] = network
				delete(gateway, "external_fixed_ips")
			}),
			want: []string{"has the gateway network", "has the gateway subnet", "has the external addresses"},
		},
		"source NAT": {
			fields: []string{"gateway.EnableSNAT"}, cause: setGateway(func(_ *observing, gateway map[string]any) { gateway["enable_snat"] = false }),
			want: []string{`has the source NAT "off", not "on"; the next reconciliation repairs it`},
		},
		"the subnet of the gateway": {
			fields: []string{"gateway.FixedIPs", "address.SubnetID"},
			cause: setGateway(func(o *observing, gateway map[string]any) {
				gateway["external_fixed_ips"] = []fake.Attrs{{"subnet_id": o.externalSubnet(fake.ExternalSubnetB)}}
			}),
			want: []string{"has the gateway subnet", "has the external addresses"},
		},
		"the address of the gateway": {
			fields: []string{"address.IPAddress"},
			cause: setGateway(func(o *observing, gateway map[string]any) {
				gateway["external_fixed_ips"] = []fake.Attrs{{"subnet_id": o.externalSubnet(fake.ExternalSubnetA), "ip_address": "198.18.77.7"}}
			}),
			want: []string{`has the external addresses "198.18.77.7", not "198.18.`},
		},
		"a route that does not lead to nodes": {
			fields: []string{"router.Routes"},
			cause:  put("routers", "router", "Router", fake.Attrs{"routes": []fake.Attrs{{"destination": "192.0.2.0/24", "nexthop": "198.18.0.99"}}}),
			want:   []string{`has the routes that do not lead to nodes "192.0.2.0/24 by 198.18.0.99", not none`},
		},
		"the router is gone": {
			cause: func(o *observing) {
				o.disconnectSubnet()
				require.NoError(o.t, o.session().DeleteRouter(o.t.Context(), o.state()["Router"]))
			},
			want: []string{"does not exist any more, or the project cannot see it; the next reconciliation creates it again"},
		},
		"the interface is gone": {
			fields: []string{"interface"}, cause: (*observing).disconnectSubnet,
			want: []string{"has no interface in subnet"},
		},
		"a foreign interface": {
			cause: func(o *observing) {
				subnet := o.plantSubnet(o.plant("networks", fake.Attrs{"name": "other"}), "other", "192.168.7.0/24")
				o.operate("PUT", services.Neutron, "/v2.0/routers/"+o.state()["Router"]+"/add_router_interface", map[string]any{"subnet_id": subnet})
			},
			want: []string{", which is not the shoot's; no reconciliation changes it: remove it"},
		},
	}
}

// changeRule replaces the rule for node ports of TCP by another one.
func changeRule(change fake.Attrs) func(o *observing) {
	return func(o *observing) {
		group := o.state()["SecurityGroup"]
		for _, one := range o.resources().SecurityGroups {
			for _, rule := range one.Rules {
				if one.ID == group && rule.Protocol == "tcp" {
					require.NoError(o.t, o.session().DeleteSecurityGroupRule(o.t.Context(), rule.ID))
				}
			}
		}
		rule := fake.Attrs{
			"security_group_id": group, "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", "port_range_min": 30000, "port_range_max": 32767,
			"remote_ip_prefix": "0.0.0.0/0",
		}
		for attribute, value := range change {
			rule[attribute] = value
			if value == "group" {
				rule[attribute] = group
			}
		}
		o.plant("security-group-rules", rule)
	}
}

func ruleDrift() map[string]driftCase {
	cases := map[string]driftCase{}
	for field, change := range map[string]fake.Attrs{
		"Direction": {"direction": "egress"}, "EtherType": {"ethertype": "IPv6", "remote_ip_prefix": "::/0"}, "Protocol": {"protocol": "sctp"},
		"PortMin": {"port_range_min": 30001}, "PortMax": {"port_range_max": 32766},
		"RemoteGroupID": {"remote_group_id": "group", "remote_ip_prefix": nil}, "RemoteIPPrefix": {"remote_ip_prefix": "192.0.2.0/24"},
	} {
		cases["the field "+field+" of a rule"] = driftCase{
			fields: []string{"rule." + field}, cause: changeRule(change),
			want: []string{"lacks the rule ingress IPv4 tcp 30000-32767 any; the next reconciliation creates it again", "which is not Gardener's; no reconciliation changes it: remove it"},
		}
	}
	return cases
}

func accessDrift() map[string]driftCase {
	plantRule := func(description string) func(o *observing) {
		return func(o *observing) {
			o.plant("security-group-rules", fake.Attrs{
				"security_group_id": o.state()["SecurityGroup"], "direction": "ingress", "ethertype": "IPv4", "remote_ip_prefix": "192.0.2.0/24", "description": description,
			})
		}
	}
	return map[string]driftCase{
		"the name of the security group": {
			fields: []string{"group.Name"}, cause: put("security-groups", "security_group", "SecurityGroup", fake.Attrs{"name": "theirs"}),
			want: []string{`has the name "theirs"`},
		},
		"the mark of the security group": {
			fields: []string{"group.Description"}, cause: put("security-groups", "security_group", "SecurityGroup", fake.Attrs{"description": "theirs"}),
			want: []string{`has the description "theirs"`},
		},
		"the security group is gone": {
			cause: func(o *observing) {
				require.NoError(o.t, o.session().DeleteSecurityGroup(o.t.Context(), o.state()["SecurityGroup"]))
			},
			want: []string{"does not exist any more, or the project cannot see it; the next reconciliation creates it again"},
		},
		"a rule is gone": {
			cause: func(o *observing) { o.removeRule() }, want: []string{"lacks the rule "},
		},
		"a foreign rule": {
			cause: plantRule("theirs"), want: []string{"which is not Gardener's; no reconciliation changes it: remove it"},
		},
		"a rule of Gardener that is not wanted": {
			cause: plantRule("IPv4: allow all incoming tcp traffic with port range 30000-32767 from 192.0.2.0/24"), want: []string{"which is not wanted any more; the next reconciliation removes it"},
		},
		"a rule for a former pod range": {
			cause: plantRule("IPv4" + fromPods), want: []string{"for a pod range that is not routed natively any more; no reconciliation changes it"},
		},
		"the key pair is gone": {
			cause: func(o *observing) {
				require.NoError(o.t, o.session().DeleteKeyPair(o.t.Context(), o.state()["KeyPair"]))
			},
			want: []string{"does not exist any more, or the project cannot see it; the next reconciliation creates it again"},
		},
		"the public key of the key pair": {
			fields: []string{"keypair.PublicKey"}, cause: replaceKeyPair(strings.Clone, otherKey),
			want: []string{`has the public key "SHA256:`},
		},
		"the name of the key pair": {
			fields: []string{"keypair.Name"}, cause: replaceKeyPair(strings.ToUpper, sshKey), want: []string{`has the name "SHOOT--DEV--ONE-5F0C9A52"`},
		},
		"a new public key of the shoot's": {
			cause: func(o *observing) { o.infra.Spec.SSHPublicKey = []byte(otherKey) }, want: []string{"; the next reconciliation repairs it"},
		},
		"a key pair after SSH access was switched off": {
			cause: func(o *observing) { o.infra.Spec.SSHPublicKey = nil }, want: []string{"exists, although SSH access is switched off; the next reconciliation removes it"},
		},
		"the name of the share network": {
			fields: []string{"share.Name"}, cause: replaced("share-networks", "ShareNetwork", fake.Attrs{"name": "theirs"}), want: []string{`has the name "theirs"`},
		},
		"the mark of the share network": {
			fields: []string{"share.Description"}, cause: replaced("share-networks", "ShareNetwork", fake.Attrs{"description": "theirs"}),
			want: []string{`has the description "theirs"`},
		},
		"the network of the share network": {
			fields: []string{"share.NetworkID"}, cause: replaced("share-networks", "ShareNetwork", fake.Attrs{"neutron_net_id": anotherID}),
			want: []string{`has the network "` + anotherID},
		},
		"the subnet of the share network": {
			fields: []string{"share.SubnetID"}, cause: replaced("share-networks", "ShareNetwork", fake.Attrs{"neutron_subnet_id": anotherID}),
			want: []string{`has the subnet "` + anotherID},
		},
		"the share network is gone": {
			cause: func(o *observing) {
				require.NoError(o.t, o.session().DeleteShareNetwork(o.t.Context(), o.state()["ShareNetwork"]))
			},
			want: []string{"does not exist any more, or the project cannot see it; the next reconciliation creates it again"},
		},
	}
}

// replaceKeyPair replaces the key pair by one of another user of the account.
func replaceKeyPair(name func(string) string, publicKey string) func(o *observing) {
	return func(o *observing) {
		session, known := o.session(), o.state()["KeyPair"]
		require.NoError(o.t, session.DeleteKeyPair(o.t.Context(), known))
		_, err := session.CreateKeyPair(o.t.Context(), name(known), publicKey)
		require.NoError(o.t, err)
	}
}

func allDrift() []map[string]driftCase {
	return []map[string]driftCase{networkDrift(), subnetDrift(), routerDrift(), ruleDrift(), accessDrift()}
}

// Each difference is found, and nothing else; and who repairs it is who the message says.
func TestObserver_Drift(t *testing.T) {
	for _, cases := range allDrift() {
		for sentence, tc := range cases {
			t.Run(sentence, func(t *testing.T) {
				o := newObserving(t)
				prepare := tc.prepare
				if prepare == nil {
					prepare = everyField
				}
				prepare(o)
				o.mustReconcile()
				untouched := o.find(infrastructure.ObservationDrift)
				require.True(t, untouched.Healthy, untouched.Message)

				tc.cause(o)
				finding := o.find(infrastructure.ObservationDrift)
				require.False(t, finding.Healthy)
				for _, part := range tc.want {
					assert.Contains(t, finding.Message, part)
				}
				assert.Equal(t, len(tc.want), countRepairs(finding.Message), "one sentence for each difference: %s", finding.Message)

				_, err := o.reconcile()
				if strings.Contains(finding.Message, byUserFirst) {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				after := o.find(infrastructure.ObservationDrift)
				assert.Equal(t, !strings.Contains(finding.Message, byUser), after.Healthy, "before: %s\nafter: %s", finding.Message, after.Message)
				for _, repair := range []string{repairedNext, recreatedNext, removedNext, reportedNext} {
					assert.NotContains(t, after.Message, repair)
				}
			})
		}
	}
}

// countRepairs counts the sentences of a message: each says once who repairs its difference.
func countRepairs(message string) int {
	count := 0
	for _, repair := range []string{repairedNext, recreatedNext, removedNext, reportedNext, byUser, byUserFirst} {
		count += strings.Count(message, "; "+repair)
	}
	return count
}

// Everything that the driver can write is changed by a case.
func TestObserver_DriftOfEveryField(t *testing.T) {
	covered := map[string]bool{}
	for _, cases := range allDrift() {
		for _, tc := range cases {
			for _, field := range tc.fields {
				covered[field] = true
			}
		}
	}
	written := []string{"interface", "keypair.Name", "keypair.PublicKey"}
	for resource, types := range map[string][]reflect.Type{
		"network": {reflect.TypeFor[cloudopenstack.NetworkCreate](), reflect.TypeFor[cloudopenstack.NetworkUpdate]()},
		"subnet":  {reflect.TypeFor[cloudopenstack.SubnetCreate](), reflect.TypeFor[cloudopenstack.SubnetUpdate]()},
		"router":  {reflect.TypeFor[cloudopenstack.RouterCreate](), reflect.TypeFor[cloudopenstack.RouterUpdate]()},
		"gateway": {reflect.TypeFor[cloudopenstack.ExternalGateway]()},
		"address": {reflect.TypeFor[cloudopenstack.ExternalFixedIP]()},
		"group":   {reflect.TypeFor[cloudopenstack.SecurityGroupCreate](), reflect.TypeFor[cloudopenstack.SecurityGroupUpdate]()},
		"rule":    {reflect.TypeFor[cloudopenstack.SecurityGroupRule]()},
		"share":   {reflect.TypeFor[cloudopenstack.ShareNetworkCreate]()},
	} {
		for _, one := range types {
			for field := range one.Fields() {
				written = append(written, resource+"."+field.Name)
			}
		}
	}
	// A rule is identified by what it permits: its description has no effect. If-Match is no attribute.
	notAttributes := []string{"rule.ID", "rule.SecurityGroupID", "rule.Description", "router.IfRevision"}
	slices.Sort(written)
	for _, field := range slices.Compact(written) {
		if !slices.Contains(notAttributes, field) {
			assert.True(t, covered[field], "no case changes %s", field)
		}
		delete(covered, field)
	}
	assert.Empty(t, covered, "the driver does not write these")
}
