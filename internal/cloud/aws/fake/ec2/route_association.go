package ec2

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

func (s *Service) associationActions() map[string]core.Action {
	return map[string]core.Action{
		"AssociateRouteTable":          {Reads: "RouteTableId SubnetId", Do: s.associateRouteTable},
		"DisassociateRouteTable":       {Reads: "AssociationId", Do: s.disassociateRouteTable},
		"ReplaceRouteTableAssociation": {Reads: "AssociationId RouteTableId", Do: s.replaceAssociation},
	}
}

// findAssociation returns an association with its route table.
func (s *Service) findAssociation(matches func(*association) bool) (*routeTable, int) {
	for _, t := range s.routeTables.items {
		if i := slices.IndexFunc(t.associations, matches); i >= 0 {
			return t, i
		}
	}
	return nil, -1
}

// associateRouteTable associates a subnet that has no table of its own. The same association again is that which exists.
func (s *Service) associateRouteTable(q *core.Request) (protocol.Struct, error) {
	t, err := s.routeTables.get(q.In.String("RouteTableId"))
	if err != nil {
		return nil, err
	}
	n, err := s.subnets.get(q.In.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	if n.vpcID != t.vpcID {
		return nil, protocol.Fail("InvalidParameterValue", "Route table %s and subnet %s belong to different networks", t.id, n.id)
	}
	existing, i := s.findAssociation(func(a *association) bool { return a.subnetID == n.id })
	if existing != nil && existing != t {
		return nil, protocol.Fail("Resource.AlreadyAssociated",
			"the specified association for route table %s conflicts with an existing association", t.id)
	}
	if existing == nil {
		i = len(t.associations)
		t.associations = append(t.associations, &association{id: s.core.NewID("rtbassoc"), subnetID: n.id})
	}
	return protocol.Struct{"AssociationId": t.associations[i].id, "AssociationState": protocol.Struct{"State": "associated"}}, nil
}

func (s *Service) disassociateRouteTable(q *core.Request) (protocol.Struct, error) {
	id := q.In.String("AssociationId")
	t, i := s.findAssociation(func(a *association) bool { return a.id == id })
	switch {
	case t == nil:
		return nil, protocol.Fail("InvalidAssociationID.NotFound", "The association ID '%s' does not exist", id)
	case t.associations[i].main:
		return nil, protocol.Fail("InvalidParameterValue", "cannot disassociate the main route table association %s", id)
	}
	t.associations = slices.Delete(t.associations, i, i+1)
	return nil, nil
}

// replaceAssociation gives a subnet, or the VPC, another table. The association gets a new ID.
func (s *Service) replaceAssociation(q *core.Request) (protocol.Struct, error) {
	id := q.In.String("AssociationId")
	from, i := s.findAssociation(func(a *association) bool { return a.id == id })
	if from == nil {
		return nil, protocol.Fail("InvalidAssociationID.NotFound", "The association ID '%s' does not exist", id)
	}
	to, err := s.routeTables.get(q.In.String("RouteTableId"))
	if err != nil {
		return nil, err
	}
	if to.vpcID != from.vpcID {
		return nil, protocol.Fail("InvalidParameterValue", "Route table %s and route table %s belong to different networks", from.id, to.id)
	}
	moved := *from.associations[i]
	moved.id = s.core.NewID("rtbassoc")
	from.associations = slices.Delete(from.associations, i, i+1)
	to.associations = append(to.associations, &moved)
	return protocol.Struct{"NewAssociationId": moved.id, "AssociationState": protocol.Struct{"State": "associated"}}, nil
}
