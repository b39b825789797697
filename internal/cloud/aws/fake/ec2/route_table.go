package ec2

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

type routeTable struct {
	meta

	vpcID        string
	associations []*association
	routes       []*route // besides those to the blocks of the VPC
}

// association is the use of a route table by a subnet, or by all subnets without another one.
type association struct {
	id, subnetID string
	main         bool
}

func (t *routeTable) isMain() bool {
	return slices.ContainsFunc(t.associations, func(a *association) bool { return a.main })
}

func (s *Service) newRouteTables() *collection[*routeTable] {
	ofAssociations := func(value func(*association) string) func(*routeTable) []string {
		return func(t *routeTable) []string {
			var out []string
			for _, a := range t.associations {
				out = append(out, value(a))
			}
			return out
		}
	}
	ofRoutes := func(value func(*route) string) func(*routeTable) []string {
		return func(t *routeTable) []string {
			var out []string
			for _, r := range s.allRoutes(t) {
				out = append(out, value(r))
			}
			return out
		}
	}
	return &collection[*routeTable]{
		kind: "route-table", ids: "RouteTableIds", answer: "RouteTables", view: s.viewRouteTable,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidRouteTableID.NotFound", "The routeTable ID '%s' does not exist", id)
		},
		filters: map[string]func(*routeTable) []string{
			"route-table-id":                         one(func(t *routeTable) string { return t.id }),
			"vpc-id":                                 one(func(t *routeTable) string { return t.vpcID }),
			"owner-id":                               one(func(*routeTable) string { return s.owner() }),
			"association.main":                       ofAssociations(func(a *association) string { return yes(a.main) }),
			"association.subnet-id":                  ofAssociations(func(a *association) string { return a.subnetID }),
			"association.route-table-association-id": ofAssociations(func(a *association) string { return a.id }),
			"route.destination-cidr-block":           ofRoutes(func(r *route) string { return r.destinations()["DestinationCidrBlock"] }),
			"route.destination-ipv6-cidr-block":      ofRoutes(func(r *route) string { return r.destinations()["DestinationIpv6CidrBlock"] }),
			"route.gateway-id":                       ofRoutes(func(r *route) string { return r.target("GatewayId") }),
			"route.nat-gateway-id":                   ofRoutes(func(r *route) string { return r.target("NatGatewayId") }),
			"route.state":                            ofRoutes(s.routeState),
		},
	}
}

func (s *Service) viewRouteTable(t *routeTable) protocol.Struct {
	associations, routes := []any{}, []any{}
	for _, a := range t.associations {
		associations = append(associations, protocol.Struct{
			"RouteTableAssociationId": a.id, "RouteTableId": t.id, "SubnetId": protocol.OrNil(a.subnetID), "Main": a.main,
			"AssociationState": protocol.Struct{"State": "associated"},
		})
	}
	for _, r := range s.allRoutes(t) {
		routes = append(routes, s.viewRoute(r))
	}
	return protocol.Struct{
		"RouteTableId": t.id, "VpcId": t.vpcID, "OwnerId": s.owner(), "Associations": associations, "Routes": routes, "PropagatingVgws": []any{},
		"Tags": t.tagList(),
	}
}

func (s *Service) routeTableActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateRouteTable":    {Reads: "VpcId TagSpecifications", Do: s.createRouteTable},
		"DescribeRouteTables": describing(s, s.routeTables),
		"DeleteRouteTable":    {Reads: "RouteTableId", Do: s.deleteRouteTable},
	}
}

func (s *Service) addMainRouteTable(v *vpc) {
	s.routeTables.add(&routeTable{meta: s.bareMeta("rtb"), vpcID: v.id, associations: []*association{{id: s.core.NewID("rtbassoc"), main: true}}})
}

func (s *Service) createRouteTable(q *core.Request) (protocol.Struct, error) {
	v, err := s.vpcs.get(q.In.String("VpcId"))
	if err != nil {
		return nil, err
	}
	if !s.core.HasRoom(QuotaRouteTables, len(s.routeTables.where(func(t *routeTable) bool { return t.vpcID == v.id }))) {
		return nil, protocol.Fail("RouteTableLimitExceeded", "The maximum number of route tables has been reached.")
	}
	created, err := s.newMeta("rtb", s.routeTables.kind, q)
	if err != nil {
		return nil, err
	}
	t := &routeTable{meta: created, vpcID: v.id}
	s.routeTables.add(t)
	return protocol.Struct{"RouteTable": s.viewRouteTable(t), "ClientToken": protocol.OrNil(q.In.String("ClientToken"))}, nil
}

func (s *Service) deleteRouteTable(q *core.Request) (protocol.Struct, error) {
	t, err := s.routeTables.get(q.In.String("RouteTableId"))
	if err != nil {
		return nil, err
	}
	if len(t.associations) > 0 {
		return nil, dependencyError("routeTable", t.id)
	}
	for _, e := range s.endpoints.items {
		e.routeTables = slices.DeleteFunc(e.routeTables, func(id string) bool { return id == t.id })
	}
	s.routeTables.remove(t.id)
	return nil, nil
}
