package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

type body = conformance.Body

// cidr is the range of the nodes' subnet in the user's configuration.
const cidr = "10.250.0.0/19"

// Infrastructure creates the shoot's resources in the cloud, with upstream's names, and the object with its state. Afterwards the shoot has its
// status.
func (s *Shoot) Infrastructure(ctx context.Context) error {
	state, status, err := s.makeInfrastructure(ctx)
	if err != nil {
		return fmt.Errorf("making the infrastructure of shoot %s: %w", s.Name, err)
	}
	encodedState, err := json.Marshal(state)
	if err != nil {
		return err
	}
	encodedStatus, err := json.Marshal(status)
	if err != nil {
		return err
	}
	if err := s.Gardenlet.Infrastructure(s.Shoot).Deploy(ctx); err != nil {
		return err
	}
	object, err := s.Gardenlet.Get(ctx, s.Shoot)
	if err != nil {
		return err
	}
	if err := s.markSucceeded(ctx, object, &object.Status.DefaultStatus, "infrastructure", func() {
		object.Status.State = &runtime.RawExtension{Raw: encodedState}
		object.Status.ProviderStatus = &runtime.RawExtension{Raw: encodedStatus}
	}); err != nil {
		return err
	}
	s.InfrastructureStatus = json.RawMessage(encodedStatus)
	return s.Gardenlet.Infrastructure(s.Shoot).Wait(ctx)
}

func (s *Shoot) makeInfrastructure(ctx context.Context) (*openstackv1alpha1.InfrastructureState, *openstackv1alpha1.InfrastructureStatus, error) {
	m := &creator{ctx: ctx, shoot: s}
	id, external := s.Namespace(), m.externalNetwork()
	network := m.neutron("network", body{"name": id})
	subnet := m.neutron("subnet", body{
		"name": id, "network_id": network, "ip_version": 4, "cidr": cidr, "dns_nameservers": []string{"1.1.1.1", "9.9.9.9"},
	})
	router := m.neutron("router", body{"name": id, "external_gateway_info": body{"network_id": external}})
	m.do(http.MethodPut, conformance.Network, "/v2.0/routers/"+router+"/add_router_interface", body{"subnet_id": subnet})
	group := m.neutron("security_group", body{"name": id, "description": "Cluster Nodes"})
	for _, rule := range []body{
		{"description": "IPv4: allow all incoming traffic within the same security group", "remote_group_id": group},
		{
			"description": "IPv4: allow all incoming tcp traffic with port range 30000-32767",
			"protocol":    "tcp", "port_range_min": 30000, "port_range_max": 32767, "remote_ip_prefix": "0.0.0.0/0",
		},
		{
			"description": "IPv4: allow all incoming udp traffic with port range 30000-32767",
			"protocol":    "udp", "port_range_min": 30000, "port_range_max": 32767, "remote_ip_prefix": "0.0.0.0/0",
		},
	} {
		rule["security_group_id"], rule["direction"], rule["ethertype"] = group, "ingress", "IPv4"
		m.neutron("security_group_rule", rule)
	}
	m.do(http.MethodPost, conformance.Compute, "/v2.1/os-keypairs", body{"keypair": body{"name": id, "public_key": string(s.SSHPublicKey)}})

	meta := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: kind}
	}
	address := m.addressOf(router)
	state := &openstackv1alpha1.InfrastructureState{TypeMeta: meta("InfrastructureState"), Data: map[string]string{
		"Network": network, "NetworkName": id, "Subnet": subnet, "Router": router, "RouterIP": address, "KeyPair": id,
		"SecurityGroup": group, "SecurityGroupName": id,
		"FloatingNetwork": external, "FloatingNetworkName": s.Cloud.ExternalNetwork(),
	}}
	status := &openstackv1alpha1.InfrastructureStatus{
		TypeMeta: meta("InfrastructureStatus"),
		Networks: openstackv1alpha1.NetworkStatus{
			ID: network, Name: id,
			FloatingPool: openstackv1alpha1.FloatingPoolStatus{ID: external, Name: s.Cloud.ExternalNetwork()},
			Router:       openstackv1alpha1.RouterStatus{ID: router, IP: address},
			Subnets:      []openstackv1alpha1.Subnet{{Purpose: openstackv1alpha1.PurposeNodes, ID: subnet, CIDR: cidr}},
		},
		Node:           openstackv1alpha1.NodeStatus{KeyName: id},
		SecurityGroups: []openstackv1alpha1.SecurityGroup{{Purpose: openstackv1alpha1.PurposeNodes, ID: group, Name: id}},
	}
	return state, status, m.err
}

// creator creates resources in a cloud until one fails.
type creator struct {
	ctx   context.Context //nolint:containedctx // it lives as long as one method
	shoot *Shoot
	err   error
}

func (m *creator) do(method string, service conformance.Service, path string, content any) (response conformance.Object) {
	if m.err == nil {
		response, m.err = m.shoot.Account.DoAsMember(m.ctx, method, service, path, content)
	}
	return response
}

// neutron creates a resource of a kind and returns its ID.
func (m *creator) neutron(kind string, content body) string {
	paths := map[string]string{
		"network": "networks", "subnet": "subnets", "router": "routers", "security_group": "security-groups",
		"security_group_rule": "security-group-rules",
	}
	return m.do(http.MethodPost, conformance.Network, "/v2.0/"+paths[kind], body{kind: content}).Text(kind + ".id")
}

func (m *creator) externalNetwork() string {
	response := m.do(http.MethodGet, conformance.Network, "/v2.0/networks?name="+url.QueryEscape(m.shoot.Cloud.ExternalNetwork()), nil)
	for _, network := range response.Objects("networks") {
		return network.ID()
	}
	return ""
}

// addressOf is the first address of a router in the external network.
func (m *creator) addressOf(router string) string {
	response := m.do(http.MethodGet, conformance.Network, "/v2.0/routers/"+router, nil)
	for _, address := range response.Objects("router.external_gateway_info.external_fixed_ips") {
		return address.Text("ip_address")
	}
	return ""
}
