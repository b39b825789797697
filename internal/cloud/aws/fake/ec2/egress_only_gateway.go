package ec2

import (
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// egressOnlyGateway lets IPv6 traffic out.
type egressOnlyGateway struct {
	meta

	vpcID string
}

func (s *Service) newEgressOnlyGateways() *collection[*egressOnlyGateway] {
	return &collection[*egressOnlyGateway]{
		kind: "egress-only-internet-gateway", ids: "EgressOnlyInternetGatewayIds", answer: "EgressOnlyInternetGateways", view: viewEgressOnlyGateway,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidGatewayID.NotFound", "The eigw ID '%s' does not exist", id)
		},
		filters: map[string]func(*egressOnlyGateway) []string{}, // by tags only
	}
}

func viewEgressOnlyGateway(g *egressOnlyGateway) protocol.Struct {
	return protocol.Struct{
		"EgressOnlyInternetGatewayId": g.id, "Attachments": []any{protocol.Struct{"VpcId": g.vpcID, "State": "attached"}}, "Tags": g.tagList(),
	}
}

func (s *Service) egressOnlyGatewayActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateEgressOnlyInternetGateway":    {Reads: "VpcId TagSpecifications", Do: s.createEgressOnlyGateway},
		"DescribeEgressOnlyInternetGateways": describing(s, s.egressGateways),
		"DeleteEgressOnlyInternetGateway":    {Reads: "EgressOnlyInternetGatewayId", Do: s.deleteEgressOnlyGateway},
	}
}

func (s *Service) createEgressOnlyGateway(q *core.Request) (protocol.Struct, error) {
	v, err := s.vpcs.get(q.In.String("VpcId"))
	if err != nil {
		return nil, err
	}
	if !s.core.HasRoom(QuotaEgressOnlyGateways, len(s.egressGateways.items)) {
		return nil, protocol.Fail("EgressOnlyInternetGatewayLimitExceeded", "The maximum number of egress only internet gateways has been reached.")
	}
	created, err := s.newMeta("eigw", s.egressGateways.kind, q)
	if err != nil {
		return nil, err
	}
	g := &egressOnlyGateway{meta: created, vpcID: v.id}
	s.egressGateways.add(g)
	return protocol.Struct{"EgressOnlyInternetGateway": viewEgressOnlyGateway(g), "ClientToken": protocol.OrNil(q.In.String("ClientToken"))}, nil
}

func (s *Service) deleteEgressOnlyGateway(q *core.Request) (protocol.Struct, error) {
	g, err := s.egressGateways.get(q.In.String("EgressOnlyInternetGatewayId"))
	if err != nil {
		return nil, err
	}
	s.egressGateways.remove(g.id)
	return protocol.Struct{"ReturnCode": true}, nil
}
