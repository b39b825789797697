package ec2

import (
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// The states of NAT gateways.
const (
	natPending   = "pending"
	natAvailable = "available"
	natFailed    = "failed"
	natDeleting  = "deleting"
	natDeleted   = "deleted"
)

type natGateway struct {
	meta

	subnetID, vpcID, connectivity string
	allocationID, interfaceID     string
	publicIP, privateIP           string
	associationID                 string
	state                         string
	failureCode, failureMessage   string
	created, deleted              time.Time
}

func (s *Service) newNATGateways() *collection[*natGateway] {
	return &collection[*natGateway]{
		kind: "natgateway", ids: "NatGatewayIds", answer: "NatGateways", view: viewNATGateway,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("NatGatewayNotFound", "The Nat Gateway %s was not found", id)
		},
		filters: map[string]func(*natGateway) []string{
			"nat-gateway-id": one(func(g *natGateway) string { return g.id }),
			"subnet-id":      one(func(g *natGateway) string { return g.subnetID }),
			"vpc-id":         one(func(g *natGateway) string { return g.vpcID }),
			"state":          one(func(g *natGateway) string { return g.state }),
		},
	}
}

func viewNATGateway(g *natGateway) protocol.Struct {
	address := protocol.Struct{"AllocationId": protocol.OrNil(g.allocationID), "IsPrimary": true}
	if g.state != natPending && g.state != natFailed {
		address["PublicIp"], address["AssociationId"], address["Status"] = protocol.OrNil(g.publicIP), protocol.OrNil(g.associationID), "succeeded"
	}
	if g.interfaceID != "" {
		address["NetworkInterfaceId"], address["PrivateIp"] = g.interfaceID, g.privateIP
	}
	view := protocol.Struct{
		"NatGatewayId": g.id, "SubnetId": g.subnetID, "VpcId": g.vpcID, "State": g.state, "ConnectivityType": g.connectivity, "CreateTime": g.created,
		"NatGatewayAddresses": []any{address}, "FailureCode": protocol.OrNil(g.failureCode), "FailureMessage": protocol.OrNil(g.failureMessage), "Tags": g.tagList(),
	}
	if !g.deleted.IsZero() {
		view["DeleteTime"] = g.deleted
	}
	return view
}

func (s *Service) natGatewayActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateNatGateway": {Reads: "SubnetId AllocationId ConnectivityType TagSpecifications", Do: s.createNATGateway},
		"DescribeNatGateways": {Reads: "NatGatewayIds Filter MaxResults NextToken", Do: func(q *core.Request) (protocol.Struct, error) {
			q.In["Filters"] = q.In["Filter"]
			return describe(s, s.natGateways, q)
		}},
		"DeleteNatGateway": {Reads: "NatGatewayId", Do: s.deleteNATGateway},
	}
}

// createNATGateway creates a gateway that becomes available, or fails, later.
func (s *Service) createNATGateway(q *core.Request) (protocol.Struct, error) {
	n, err := s.subnets.get(q.In.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	connectivity := q.In.String("ConnectivityType")
	if connectivity == "" {
		connectivity = "public"
	}
	var a *address
	switch id := q.In.String("AllocationId"); {
	case connectivity == "public" && id == "":
		return nil, protocol.Fail("MissingParameter", "The request must contain the parameter AllocationId")
	case connectivity == "private" && id != "":
		return nil, protocol.Fail("InvalidParameterCombination", "A private NAT gateway has no AllocationId")
	case id != "":
		if a, err = s.addresses.get(id); err != nil {
			return nil, err
		}
	}
	inZone := s.natGateways.where(func(g *natGateway) bool {
		other, found := s.subnets.find(g.subnetID)
		return found && other.zone == n.zone && (g.state == natPending || g.state == natAvailable || g.state == natDeleting)
	})
	if !s.core.HasRoom(QuotaNATGateways, len(inZone)) {
		return nil, protocol.Fail("NatGatewayLimitExceeded", "Performing this operation would exceed the limit of %d NAT gateways",
			s.core.Config.Quotas[QuotaNATGateways])
	}
	created, err := s.newMeta("nat", s.natGateways.kind, q)
	if err != nil {
		return nil, err
	}
	g := &natGateway{
		meta: created, subnetID: n.id, vpcID: n.vpcID, connectivity: connectivity, allocationID: q.In.String("AllocationId"), state: natPending, created: s.core.Now(),
	}
	s.natGateways.add(g)
	s.startNATGateway(g, n, a)
	return protocol.Struct{"NatGateway": viewNATGateway(g), "ClientToken": protocol.OrNil(q.In.String("ClientToken"))}, nil
}

// startNATGateway gives the gateway its interface and address, and decides how its creation ends.
func (s *Service) startNATGateway(g *natGateway, n *subnet, a *address) {
	code, message := "", ""
	switch {
	case a != nil && a.associationID != "":
		code, message = "Resource.AlreadyAssociated", "Elastic IP address ["+a.id+"] is already associated"
	case a != nil && s.gatewayOf(n.vpcID) == nil:
		code, message = "Gateway.NotAttached", "Network "+n.vpcID+" has no Internet gateway attached"
	case s.freeAddresses(n) == 0:
		code, message = "InsufficientFreeAddressesInSubnet", "Subnet has insufficient free addresses to create this NAT gateway"
	}
	if code == "" {
		i := s.addInterface(n, &networkInterface{
			meta: s.bareMeta("eni"), description: "Interface for NAT Gateway " + g.id, kind: "nat_gateway", status: interfaceInUse, requesterManaged: true,
			requesterID: "amazon-aws",
		})
		g.interfaceID, g.privateIP = i.id, i.address.String()
		if a != nil {
			s.associateAddress(a, i)
			g.publicIP, g.associationID = a.publicIP, a.associationID
		}
	}
	s.core.BeginTransition(core.NATGatewayCreate, g.id, func(t core.Transition) {
		if t.Fail && code == "" {
			code, message = t.Code, t.Message
			s.releaseNATGateway(g)
		}
		g.state, g.failureCode, g.failureMessage = natAvailable, code, message
		if code != "" {
			g.state, g.deleted = natFailed, s.core.Now()
		}
	})
}

// releaseNATGateway removes the interface of a gateway. Its address stays allocated.
func (s *Service) releaseNATGateway(g *natGateway) {
	if a, found := s.addresses.find(g.allocationID); found && a.interfaceID == g.interfaceID {
		s.disassociateAddress(a)
	}
	s.interfaces.remove(g.interfaceID)
}

// deleteNATGateway starts the deletion of a gateway. It stays visible as deleted.
func (s *Service) deleteNATGateway(q *core.Request) (protocol.Struct, error) {
	id := q.In.String("NatGatewayId")
	if !strings.HasPrefix(id, "nat-") {
		return nil, protocol.Fail("NatGatewayMalformed", "The NatGateway ID '%s' is malformed", id)
	}
	g, err := s.natGateways.get(id)
	if err != nil {
		return nil, err
	}
	if g.state == natDeleted {
		return nil, s.natGateways.notFound(g.id)
	}
	if g.state == natDeleting {
		return protocol.Struct{"NatGatewayId": g.id}, nil
	}
	s.core.CancelTransition(g.id)
	g.state = natDeleting
	s.core.BeginTransition(core.NATGatewayDelete, g.id, func(core.Transition) {
		s.releaseNATGateway(g)
		g.state, g.deleted = natDeleted, s.core.Now()
		if s.core.HasTransition(core.NATGatewayForget) {
			s.core.BeginTransition(core.NATGatewayForget, g.id, func(core.Transition) { s.natGateways.remove(g.id) })
		}
	})
	return protocol.Struct{"NatGatewayId": g.id}, nil
}
