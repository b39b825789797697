package openstack

import (
	"cmp"
	"strings"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/inspect"
	"github.com/trellis-garden/trellis/internal/inspect/recorded"
)

// Type is the type of Infrastructures.
const Type = "openstack"

// Cloud implements inspect.Cloud.
type Cloud struct{}

var _ inspect.Cloud = Cloud{}

// subnetKind is a kind of subnet.
type subnetKind struct {
	kind    record.Kind
	purpose openstackv1alpha1.Purpose
	word    string
	// cidrKey is the key of the range in the state.
	cidrKey string
}

func subnets() []subnetKind {
	return []subnetKind{
		{openstackv1alpha1.StateKeySubnet, openstackv1alpha1.PurposeNodes, "subnet of nodes", openstackv1alpha1.StateKeyWorkersCIDR},
		{openstackv1alpha1.StateKeySubnetIPv6, openstackv1alpha1.PurposeNodesIPv6, "IPv6 subnet of nodes", openstackv1alpha1.StateKeyNodeSubnetIPv6CIDR},
		{openstackv1alpha1.StateKeySubnetIPv6Pods, openstackv1alpha1.PurposePods, "IPv6 subnet of pods", openstackv1alpha1.StateKeyPodSubnetIPv6CIDR},
		{openstackv1alpha1.StateKeySubnetIPv6Services, openstackv1alpha1.PurposeServices, "IPv6 subnet of services", openstackv1alpha1.StateKeyServiceSubnetIPv6CIDR},
	}
}

// Resources implements inspect.Cloud. The external network is the root of what is connected with it.
func (Cloud) Resources(from inspect.Recorded) ([]inspect.Resource, error) {
	s, err := decode(from)
	var inNetwork []inspect.Resource
	for _, kind := range subnets() {
		detail := cmp.Or(s.subnet(kind.purpose).CIDR, s.Fact(kind.cidrKey))
		inNetwork = append(inNetwork, s.Resource(kind.kind, kind.word, "", detail)...)
	}
	inNetwork = append(inNetwork, s.Resource(openstackv1alpha1.StateKeyShareNetwork, "share network", s.Fact(openstackv1alpha1.StateKeyShareNetworkName), "")...)
	network := s.Resource(openstackv1alpha1.StateKeyNetwork, "network", s.Fact(openstackv1alpha1.StateKeyNetworkName), "")
	router := s.Resource(openstackv1alpha1.StateKeyRouter, "router", "", s.routerAddresses())
	inRouter := s.Resource(openstackv1alpha1.StateKeyInterface, "router interface", "", "in the subnet with this ID")

	trees := recorded.Below(s.externalNetwork(), recorded.Below(router, append(inRouter, recorded.Below(network, inNetwork)...)))
	trees = append(trees, s.Resource(openstackv1alpha1.StateKeySecurityGroup, "security group", s.Fact(openstackv1alpha1.StateKeySecurityGroupName), "")...)
	trees = append(trees, s.Resource(openstackv1alpha1.StateKeyKeyPair, "key pair", "", "")...)
	return append(trees, s.leftovers()...), err
}

func (s *shoot) externalNetwork() []inspect.Resource {
	id, name := s.Fact(openstackv1alpha1.StateKeyFloatingNetwork), s.Fact(openstackv1alpha1.StateKeyFloatingNetworkName)
	if id == "" && name == "" {
		return nil
	}
	return []inspect.Resource{{Kind: "external network", Name: name, ID: id, Origin: inspect.OriginShared}}
}

func (s *shoot) routerAddresses() string {
	router := s.status.Networks.Router
	if len(router.ExternalFixedIPs) > 0 {
		return strings.Join(router.ExternalFixedIPs, ", ")
	}
	return cmp.Or(router.IP, s.Fact(openstackv1alpha1.StateKeyRouterIP))
}

// leftovers are recorded while a shoot is being deleted.
func (s *shoot) leftovers() []inspect.Resource {
	var found []inspect.Resource
	for entry := range strings.SplitSeq(s.Fact(openstackv1alpha1.StateKeyLeftovers), ",") {
		kind, id, ok := strings.Cut(entry, "/")
		if !ok {
			continue
		}
		word := map[string]string{"floatingip": "floating IP", "securitygroup": "security group"}[kind]
		found = append(found, inspect.Resource{
			Kind: cmp.Or(word, kind), ID: id, Origin: inspect.OriginWorkload, Note: "remains after a load balancer, deleted with the shoot",
		})
	}
	return found
}
