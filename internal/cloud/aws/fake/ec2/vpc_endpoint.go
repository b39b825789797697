package ec2

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// endpoint is a gateway endpoint of a VPC. Other types are not implemented.
type endpoint struct {
	meta

	vpcID, service, addressType, policy, state string
	routeTables                                []string
	created                                    time.Time
}

// prefixListID is the ID of the list of addresses of the service, the same for all endpoints.
func (e *endpoint) prefixListID() string {
	digest := sha256.Sum256([]byte(e.service))
	return "pl-" + hex.EncodeToString(digest[:4])
}

func (s *Service) newEndpoints() *collection[*endpoint] {
	return &collection[*endpoint]{
		kind: "vpc-endpoint", ids: "VpcEndpointIds", answer: "VpcEndpoints", view: s.viewEndpoint,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidVpcEndpointId.NotFound", "The Vpc Endpoint Id '%s' does not exist", id)
		},
		filters: map[string]func(*endpoint) []string{
			"vpc-endpoint-id":    one(func(e *endpoint) string { return e.id }),
			"vpc-id":             one(func(e *endpoint) string { return e.vpcID }),
			"service-name":       one(func(e *endpoint) string { return e.service }),
			"vpc-endpoint-type":  one(func(*endpoint) string { return "Gateway" }),
			"vpc-endpoint-state": one(func(e *endpoint) string { return e.state }),
			"ip-address-type":    one(func(e *endpoint) string { return e.addressType }),
		},
	}
}

// viewEndpoint shows the state in lower case, as AWS does in spite of its model.
func (s *Service) viewEndpoint(e *endpoint) protocol.Struct {
	return protocol.Struct{
		"VpcEndpointId": e.id, "VpcEndpointType": "Gateway", "VpcId": e.vpcID, "ServiceName": e.service, "State": protocol.Undeclared(e.state),
		"IpAddressType": e.addressType, "PolicyDocument": e.policy, "RouteTableIds": protocol.ListOf(e.routeTables), "SubnetIds": []any{}, "Groups": []any{},
		"NetworkInterfaceIds": []any{}, "PrivateDnsEnabled": false, "RequesterManaged": false, "OwnerId": s.owner(), "CreationTimestamp": e.created,
		"Tags": e.tagList(),
	}
}

func (s *Service) endpointActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateVpcEndpoint": {
			Reads: "VpcId ServiceName VpcEndpointType RouteTableIds IpAddressType PolicyDocument TagSpecifications", Do: s.createEndpoint,
		},
		"DescribeVpcEndpoints": describing(s, s.endpoints),
		"ModifyVpcEndpoint":    {Reads: "VpcEndpointId AddRouteTableIds RemoveRouteTableIds IpAddressType PolicyDocument", Do: s.modifyEndpoint},
		"DeleteVpcEndpoints":   {Reads: "VpcEndpointIds", Do: s.deleteEndpoints},
	}
}

func (s *Service) createEndpoint(q *core.Request) (protocol.Struct, error) {
	v, err := s.vpcs.get(q.In.String("VpcId"))
	if err != nil {
		return nil, err
	}
	service := q.In.String("ServiceName")
	switch {
	case q.In.Has("VpcEndpointType") && q.In.String("VpcEndpointType") != "Gateway":
		return nil, core.NotImplemented("an endpoint of a type other than Gateway")
	case !slices.Contains([]string{"com.amazonaws." + s.core.Config.Region + ".s3", "com.amazonaws." + s.core.Config.Region + ".dynamodb"}, service):
		return nil, protocol.Fail("InvalidServiceName", "The Vpc Endpoint Service '%s' does not exist", service)
	case !s.core.HasRoom(QuotaEndpoints, len(s.endpoints.items)):
		return nil, protocol.Fail("VpcEndpointLimitExceeded", "The maximum number of VPC endpoints has been reached.")
	}
	e := &endpoint{
		vpcID: v.id, service: service, addressType: "ipv4", state: "available", policy: q.In.String("PolicyDocument"), created: s.core.Now(),
	}
	if e.policy == "" {
		e.policy = `{"Version":"2008-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}`
	}
	if kind := q.In.String("IpAddressType"); kind != "" {
		e.addressType = kind
	}
	if err := s.addRouteTables(e, q.In.Strings("RouteTableIds")); err != nil {
		return nil, err
	}
	if e.meta, err = s.newMeta("vpce", s.endpoints.kind, q); err != nil {
		return nil, err
	}
	s.endpoints.add(e)
	return protocol.Struct{"VpcEndpoint": s.viewEndpoint(e), "ClientToken": protocol.OrNil(q.In.String("ClientToken"))}, nil
}

// addRouteTables adds route tables, each of which has one endpoint of a service at most.
func (s *Service) addRouteTables(e *endpoint, ids []string) error {
	for _, id := range ids {
		t, err := s.routeTables.get(id)
		if err != nil {
			return protocol.Fail("InvalidRouteTableId.NotFound", "The route table '%s' does not exist", id)
		}
		if t.vpcID != e.vpcID {
			return protocol.Fail("InvalidParameter", "Route table %s belongs to another network than the endpoint", id)
		}
		for _, other := range s.endpoints.items {
			if other.id != e.id && other.service == e.service && slices.Contains(other.routeTables, id) {
				return protocol.Fail("RouteAlreadyExists", "route table %s already has a route with destination-prefix-list-id %s", id, e.prefixListID())
			}
		}
	}
	for _, id := range ids {
		if !slices.Contains(e.routeTables, id) {
			e.routeTables = append(e.routeTables, id)
		}
	}
	return nil
}

func (s *Service) modifyEndpoint(q *core.Request) (protocol.Struct, error) {
	e, err := s.endpoints.get(q.In.String("VpcEndpointId"))
	if err != nil {
		return nil, err
	}
	if err := s.addRouteTables(e, q.In.Strings("AddRouteTableIds")); err != nil {
		return nil, err
	}
	e.routeTables = slices.DeleteFunc(e.routeTables, func(id string) bool { return slices.Contains(q.In.Strings("RemoveRouteTableIds"), id) })
	if kind := q.In.String("IpAddressType"); kind != "" {
		e.addressType = kind
	}
	if policy := q.In.String("PolicyDocument"); policy != "" {
		e.policy = policy
	}
	return protocol.Struct{"Return": true}, nil
}

// deleteEndpoints deletes what exists, and reports the others in its response instead of failing.
func (s *Service) deleteEndpoints(q *core.Request) (protocol.Struct, error) {
	failed := []any{}
	for _, id := range q.In.Strings("VpcEndpointIds") {
		e, found := s.endpoints.find(id)
		if !found {
			failure := s.endpoints.notFound(id)
			failed = append(failed, protocol.Struct{
				"ResourceId": id, "Error": protocol.Struct{"Code": failure.Type, "Message": failure.Message},
			})
			continue
		}
		e.state, e.routeTables = "deleting", nil
		s.core.BeginTransition(core.VPCEndpointDelete, e.id, func(core.Transition) { s.endpoints.remove(e.id) })
	}
	return protocol.Struct{"Unsuccessful": failed}, nil
}
