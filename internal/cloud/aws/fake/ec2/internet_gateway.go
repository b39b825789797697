package ec2

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

type internetGateway struct {
	meta

	vpcID string // empty while it is detached
}

func (s *Service) newInternetGateways() *collection[*internetGateway] {
	return &collection[*internetGateway]{
		kind: "internet-gateway", ids: "InternetGatewayIds", answer: "InternetGateways", view: s.viewInternetGateway,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidInternetGatewayID.NotFound", "The internetGateway ID '%s' does not exist", id)
		},
		filters: map[string]func(*internetGateway) []string{
			"internet-gateway-id": one(func(g *internetGateway) string { return g.id }),
			"attachment.vpc-id":   one(func(g *internetGateway) string { return g.vpcID }),
			"attachment.state": func(g *internetGateway) []string {
				if g.vpcID == "" {
					return nil
				}
				return []string{"available"}
			},
			"owner-id": one(func(*internetGateway) string { return s.owner() }),
		},
	}
}

func (s *Service) viewInternetGateway(g *internetGateway) protocol.Struct {
	attachments := []any{}
	if g.vpcID != "" {
		attachments = append(attachments, protocol.Struct{"VpcId": g.vpcID, "State": protocol.Undeclared("available")})
	}
	return protocol.Struct{"InternetGatewayId": g.id, "OwnerId": s.owner(), "Attachments": attachments, "Tags": g.tagList()}
}

func (s *Service) internetGatewayActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateInternetGateway":    {Reads: "TagSpecifications", Do: s.createInternetGateway},
		"DescribeInternetGateways": describing(s, s.gateways),
		"AttachInternetGateway":    {Reads: "InternetGatewayId VpcId", Do: s.attachInternetGateway},
		"DetachInternetGateway":    {Reads: "InternetGatewayId VpcId", Do: s.detachInternetGateway},
		"DeleteInternetGateway":    {Reads: "InternetGatewayId", Do: s.deleteInternetGateway},
	}
}

func (s *Service) createInternetGateway(q *core.Request) (protocol.Struct, error) {
	if !s.core.HasRoom(QuotaInternetGateways, len(s.gateways.items)) {
		return nil, protocol.Fail("InternetGatewayLimitExceeded", "The maximum number of internet gateways has been reached.")
	}
	created, err := s.newMeta("igw", s.gateways.kind, q)
	if err != nil {
		return nil, err
	}
	g := &internetGateway{meta: created}
	s.gateways.add(g)
	return protocol.Struct{"InternetGateway": s.viewInternetGateway(g)}, nil
}

// attachInternetGateway attaches a gateway to a VPC. Each has at most one of the other.
func (s *Service) attachInternetGateway(q *core.Request) (protocol.Struct, error) {
	g, v, err := s.gatewayAndVPC(q)
	if err != nil {
		return nil, err
	}
	if g.vpcID != "" {
		return nil, protocol.Fail("Resource.AlreadyAssociated", "resource %s is already attached to network %s", g.id, g.vpcID)
	}
	if s.gatewayOf(v.id) != nil {
		return nil, protocol.Fail("InvalidParameterValue", "Network %s already has an internet gateway attached", v.id)
	}
	g.vpcID = v.id
	return nil, nil
}

func (s *Service) gatewayAndVPC(q *core.Request) (*internetGateway, *vpc, error) {
	g, err := s.gateways.get(q.In.String("InternetGatewayId"))
	if err != nil {
		return nil, nil, err
	}
	v, err := s.vpcs.get(q.In.String("VpcId"))
	return g, v, err
}

// gatewayOf returns the internet gateway of a VPC, or nil.
func (s *Service) gatewayOf(vpcID string) *internetGateway {
	for _, g := range s.gateways.items {
		if g.vpcID == vpcID {
			return g
		}
	}
	return nil
}

// detachInternetGateway detaches a gateway. Public addresses in the VPC prevent that.
func (s *Service) detachInternetGateway(q *core.Request) (protocol.Struct, error) {
	g, v, err := s.gatewayAndVPC(q)
	if err != nil {
		return nil, err
	}
	if g.vpcID != v.id {
		return nil, protocol.Fail("Gateway.NotAttached", "resource %s is not attached to network %s", g.id, v.id)
	}
	if slices.ContainsFunc(s.interfaces.items, func(i *networkInterface) bool { return i.vpcID == v.id && i.publicIP != "" }) {
		return nil, protocol.Fail("DependencyViolation",
			"Network %s has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.", v.id)
	}
	g.vpcID = ""
	return nil, nil
}

func (s *Service) deleteInternetGateway(q *core.Request) (protocol.Struct, error) {
	g, err := s.gateways.get(q.In.String("InternetGatewayId"))
	if err != nil {
		return nil, err
	}
	if g.vpcID != "" {
		return nil, dependencyError("internetGateway", g.id)
	}
	s.gateways.remove(g.id)
	return nil, nil
}
