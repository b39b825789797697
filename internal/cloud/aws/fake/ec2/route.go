package ec2

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

const (
	ipv4Destination   = "DestinationCidrBlock"
	ipv6Destination   = "DestinationIpv6CidrBlock"
	prefixDestination = "DestinationPrefixListId"

	local = "local" // the gateway of routes within the VPC
)

type route struct {
	kind, destination    string // the member of the destination and its canonical value
	targetKind, targetID string // the member of the target and its ID
	origin               string
}

func (r *route) destinations() map[string]string { return map[string]string{r.kind: r.destination} }

// target returns the ID of the target if it is of that kind.
func (r *route) target(kind string) string {
	if r.targetKind != kind {
		return ""
	}
	return r.targetID
}

// allRoutes returns the routes of a table: those to the blocks of the VPC, its own, and those of gateway endpoints.
func (s *Service) allRoutes(t *routeTable) []*route {
	var out []*route
	if v, found := s.vpcs.find(t.vpcID); found {
		for _, b := range v.blocks {
			out = append(out, &route{kind: ipv4Destination, destination: b.prefix.String(), targetKind: "GatewayId", targetID: local, origin: "CreateRouteTable"})
		}
		for _, b := range v.ipv6Blocks {
			out = append(out, &route{kind: ipv6Destination, destination: b.prefix.String(), targetKind: "GatewayId", targetID: local, origin: "CreateRouteTable"})
		}
	}
	out = append(out, t.routes...)
	for _, e := range s.endpoints.items {
		if slices.Contains(e.routeTables, t.id) {
			out = append(out, &route{kind: prefixDestination, destination: e.prefixListID(), targetKind: "GatewayId", targetID: e.id, origin: "CreateRoute"})
		}
	}
	return out
}

func (s *Service) viewRoute(r *route) protocol.Struct {
	return protocol.Struct{r.kind: r.destination, r.targetKind: r.targetID, "Origin": r.origin, "State": s.routeState(r)}
}

// routeState is "blackhole" for a route whose target is gone.
func (s *Service) routeState(r *route) string {
	active := true
	switch r.targetKind {
	case "GatewayId":
		if g, found := s.gateways.find(r.targetID); found {
			active = g.vpcID != ""
			break
		}
		_, found := s.endpoints.find(r.targetID)
		active = found || r.targetID == local
	case "NatGatewayId":
		g, found := s.natGateways.find(r.targetID)
		active = found && (g.state == natAvailable || g.state == natPending)
	case "EgressOnlyInternetGatewayId":
		_, active = s.egressGateways.find(r.targetID)
	case "NetworkInterfaceId":
		i, found := s.interfaces.find(r.targetID)
		active = found && i.status == interfaceInUse
	}
	if active {
		return "active"
	}
	return "blackhole"
}

func (s *Service) routeActions() map[string]core.Action {
	const destination = "RouteTableId DestinationCidrBlock DestinationIpv6CidrBlock"
	const target = " GatewayId NatGatewayId EgressOnlyInternetGatewayId NetworkInterfaceId"
	return map[string]core.Action{
		"CreateRoute":  {Reads: destination + target, Do: s.createRoute},
		"ReplaceRoute": {Reads: destination + target, Do: s.replaceRoute},
		"DeleteRoute":  {Reads: destination, Do: s.deleteRoute},
	}
}

// readDestination returns the table and destination that a request names.
func (s *Service) readDestination(q *core.Request) (*routeTable, *route, error) {
	t, err := s.routeTables.get(q.In.String("RouteTableId"))
	if err != nil {
		return nil, nil, err
	}
	r := &route{kind: ipv4Destination, origin: "CreateRoute"}
	switch ipv4, ipv6 := q.In.String(ipv4Destination), q.In.String(ipv6Destination); {
	case ipv4 != "" && ipv6 != "":
		return nil, nil, protocol.Fail("InvalidParameterCombination", "The parameters destinationCidrBlock and destinationIpv6CidrBlock exclude each other")
	case ipv4 != "":
		prefix, err := parseIPv4(ipv4, "destinationCidrBlock")
		if err != nil {
			return nil, nil, err
		}
		r.destination = prefix.String()
	case ipv6 != "":
		prefix, err := parseIPv6(ipv6, "destinationIpv6CidrBlock")
		if err != nil {
			return nil, nil, err
		}
		r.kind, r.destination = ipv6Destination, prefix.String()
	default:
		return nil, nil, protocol.Fail("MissingParameter", "The request must contain the parameter destinationCidrBlock or destinationIpv6CidrBlock")
	}
	return t, r, nil
}

// readTarget sets the target that a request names. It must be usable in the network of the table.
func (s *Service) readTarget(q *core.Request, t *routeTable, r *route) error {
	for _, kind := range []string{"GatewayId", "NatGatewayId", "EgressOnlyInternetGatewayId", "NetworkInterfaceId"} {
		id := q.In.String(kind)
		if id == "" {
			continue
		}
		if r.targetKind != "" {
			return protocol.Fail("InvalidParameterCombination", "Exactly one of gatewayId, natGatewayId, egressOnlyInternetGatewayId, networkInterfaceId can be given")
		}
		r.targetKind, r.targetID = kind, id
	}
	vpcID, err := s.targetVPC(r)
	if err != nil {
		return err
	}
	if vpcID != t.vpcID {
		return protocol.Fail("InvalidParameterValue", "route table %s and network gateway %s belong to different networks", t.id, r.targetID)
	}
	return nil
}

// targetVPC returns the VPC of a route's target, or the error for a target that does not exist.
func (s *Service) targetVPC(r *route) (string, error) {
	switch r.targetKind {
	case "GatewayId":
		g, err := s.gateways.get(r.targetID)
		if err != nil {
			return "", protocol.Fail("InvalidGatewayID.NotFound", "The gateway ID '%s' does not exist", r.targetID)
		}
		return g.vpcID, nil
	case "NatGatewayId":
		g, found := s.natGateways.find(r.targetID)
		if !found || g.state == natFailed || g.state == natDeleted || g.state == natDeleting {
			return "", protocol.Fail("InvalidNatGatewayID.NotFound", "The natGateway ID '%s' does not exist", r.targetID)
		}
		return g.vpcID, nil
	case "EgressOnlyInternetGatewayId":
		g, err := s.egressGateways.get(r.targetID)
		if err != nil {
			return "", err
		}
		if r.kind != ipv6Destination {
			return "", protocol.Fail("InvalidParameterValue", "An egress-only internet gateway takes IPv6 destinations only, not %s", r.destination)
		}
		return g.vpcID, nil
	case "NetworkInterfaceId":
		i, err := s.interfaces.get(r.targetID)
		if err != nil {
			return "", err
		}
		return i.vpcID, nil
	default:
		return "", protocol.Fail("MissingParameter", "The request must contain exactly one target of the route")
	}
}

func sameDestination(r *route) func(*route) bool {
	return func(other *route) bool { return other.kind == r.kind && other.destination == r.destination }
}

func (s *Service) createRoute(q *core.Request) (protocol.Struct, error) {
	t, r, err := s.readDestination(q)
	if err != nil {
		return nil, err
	}
	if err := s.readTarget(q, t, r); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(s.allRoutes(t), sameDestination(r)) {
		return nil, protocol.Fail("RouteAlreadyExists", "The route identified by %s already exists.", r.destination)
	}
	if !s.core.HasRoom(QuotaRoutes, len(t.routes)) {
		return nil, protocol.Fail("RouteLimitExceeded", "The maximum number of routes has been reached.")
	}
	t.routes = append(t.routes, r)
	return protocol.Struct{"Return": true}, nil
}

func (s *Service) replaceRoute(q *core.Request) (protocol.Struct, error) {
	t, r, err := s.readDestination(q)
	if err != nil {
		return nil, err
	}
	if err := s.readTarget(q, t, r); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(t.routes, sameDestination(r))
	if i < 0 {
		return nil, protocol.Fail("InvalidParameterValue", "There is no route defined for '%s' in the route table. Use CreateRoute instead.", r.destination)
	}
	t.routes[i] = r
	return nil, nil
}

func (s *Service) deleteRoute(q *core.Request) (protocol.Struct, error) {
	t, r, err := s.readDestination(q)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(t.routes, sameDestination(r))
	switch {
	case i >= 0:
		t.routes = slices.Delete(t.routes, i, i+1)
		return nil, nil
	case slices.ContainsFunc(s.allRoutes(t), sameDestination(r)):
		return nil, protocol.Fail("InvalidParameterValue", "cannot remove local route %s in route table %s", r.destination, t.id)
	default:
		return nil, protocol.Fail("InvalidRoute.NotFound", "no route with destination-cidr-block %s in route table %s", r.destination, t.id)
	}
}
