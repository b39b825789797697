package openstack

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/inspect"
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
	r, errs := decode(from)
	var inNetwork []inspect.Resource
	for _, s := range subnets() {
		detail := cmp.Or(r.subnet(s.purpose).CIDR, r.Fact(s.cidrKey))
		inNetwork = append(inNetwork, r.resource(s.kind, s.word, "", detail)...)
	}
	inNetwork = append(inNetwork, r.resource(openstackv1alpha1.StateKeyShareNetwork, "share network", r.Fact(openstackv1alpha1.StateKeyShareNetworkName), "")...)
	network := r.resource(openstackv1alpha1.StateKeyNetwork, "network", r.Fact(openstackv1alpha1.StateKeyNetworkName), "")
	router := r.resource(openstackv1alpha1.StateKeyRouter, "router", "", r.routerAddresses())
	inRouter := r.resource(openstackv1alpha1.StateKeyInterface, "router interface", "", "in the subnet with this ID")

	trees := below(r.externalNetwork(), below(router, append(inRouter, below(network, inNetwork)...)))
	trees = append(trees, r.resource(openstackv1alpha1.StateKeySecurityGroup, "security group", r.Fact(openstackv1alpha1.StateKeySecurityGroupName), "")...)
	trees = append(trees, r.resource(openstackv1alpha1.StateKeyKeyPair, "key pair", "", "")...)
	return append(trees, r.leftovers()...), errors.Join(errs...)
}

// below makes resources the children of the one in the list, or returns them if the list is empty.
func below(parent, children []inspect.Resource) []inspect.Resource {
	if len(parent) == 0 {
		return children
	}
	parent[0].Children = children
	return parent
}

// resource returns the resource of a kind, or nothing if it neither is recorded nor may exist.
func (r *recorded) resource(kind record.Kind, word, name, detail string) []inspect.Resource {
	found := inspect.Resource{Kind: word, Name: name, ID: r.ID(kind), Detail: detail, Origin: r.origin(kind)}
	intent := r.Intent(kind)
	since, isUncertain := r.UncertainSince(kind)
	switch {
	case isUncertain:
		found.Note = "the result of a creation is unknown since " + since.Format(time.RFC3339)
	case intent != "":
		found.Note = fmt.Sprintf("the creation of %q was about to begin", intent)
	case found.ID == "":
		return nil
	}
	if found.ID == "" {
		found.Detail, found.Origin = "", inspect.OriginTrellis
	}
	return []inspect.Resource{found}
}

func (r *recorded) externalNetwork() []inspect.Resource {
	id, name := r.Fact(openstackv1alpha1.StateKeyFloatingNetwork), r.Fact(openstackv1alpha1.StateKeyFloatingNetworkName)
	if id == "" && name == "" {
		return nil
	}
	return []inspect.Resource{{Kind: "external network", Name: name, ID: id, Origin: inspect.OriginShared}}
}

func (r *recorded) routerAddresses() string {
	router := r.status.Networks.Router
	if len(router.ExternalFixedIPs) > 0 {
		return strings.Join(router.ExternalFixedIPs, ", ")
	}
	return cmp.Or(router.IP, r.Fact(openstackv1alpha1.StateKeyRouterIP))
}

// leftovers are recorded while a shoot is being deleted.
func (r *recorded) leftovers() []inspect.Resource {
	var found []inspect.Resource
	for entry := range strings.SplitSeq(r.Fact(openstackv1alpha1.StateKeyLeftovers), ",") {
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
