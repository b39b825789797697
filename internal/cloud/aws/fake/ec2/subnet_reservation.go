package ec2

import (
	"net/netip"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// cidrReservation keeps a part of a subnet from being assigned automatically.
type cidrReservation struct {
	meta

	subnetID, kind, description string
	prefix                      netip.Prefix
}

func (s *Service) newReservations() *collection[*cidrReservation] {
	return &collection[*cidrReservation]{
		kind: "subnet-cidr-reservation",
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidSubnetCidrReservationID.NotFound", "The subnet CIDR reservation ID '%s' does not exist", id)
		},
		filters: map[string]func(*cidrReservation) []string{
			"reservationType": one(func(r *cidrReservation) string { return r.kind }),
			"subnet-id":       one(func(r *cidrReservation) string { return r.subnetID }),
		},
	}
}

func (s *Service) viewReservation(r *cidrReservation) protocol.Struct {
	return protocol.Struct{
		"SubnetCidrReservationId": r.id, "SubnetId": r.subnetID, "Cidr": r.prefix.String(), "ReservationType": r.kind, "OwnerId": s.owner(),
		"Description": protocol.OrNil(r.description), "Tags": r.tagList(),
	}
}

func (s *Service) reservationActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateSubnetCidrReservation": {Reads: "SubnetId Cidr ReservationType Description TagSpecifications", Do: s.createReservation},
		"GetSubnetCidrReservations":   {Reads: "SubnetId Filters MaxResults NextToken", Do: s.getReservations},
		"DeleteSubnetCidrReservation": {Reads: "SubnetCidrReservationId", Do: s.deleteReservation},
	}
}

func (s *Service) createReservation(q *core.Request) (protocol.Struct, error) {
	n, err := s.subnets.get(q.In.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	prefix, errParse := netip.ParsePrefix(q.In.String("Cidr"))
	if errParse != nil || !isWithin(prefix, n.allBlocks()) {
		return nil, protocol.Fail("InvalidParameterValue", "Value (%s) for parameter cidr is invalid. It is not in the subnet", q.In.String("Cidr"))
	}
	prefix = prefix.Masked()
	for _, other := range s.reservations.items {
		if other.subnetID == n.id && other.prefix.Overlaps(prefix) {
			return nil, protocol.Fail("InvalidParameterValue", "Value (%s) for parameter cidr is invalid. It overlaps with the reservation %s", prefix, other.id)
		}
	}
	created, err := s.newMeta("scr", s.reservations.kind, q)
	if err != nil {
		return nil, err
	}
	r := &cidrReservation{meta: created, subnetID: n.id, kind: q.In.String("ReservationType"), description: q.In.String("Description"), prefix: prefix}
	s.reservations.add(r)
	return protocol.Struct{"SubnetCidrReservation": s.viewReservation(r)}, nil
}

func (s *Service) getReservations(q *core.Request) (protocol.Struct, error) {
	n, err := s.subnets.get(q.In.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	inSubnet := s.reservations.where(func(r *cidrReservation) bool { return r.subnetID == n.id })
	found, err := filterBy(s.reservations.filters, q, inSubnet)
	if err != nil {
		return nil, err
	}
	found, next, err := page(found, q.In.String("NextToken"), int(q.In.Int("MaxResults")))
	if err != nil {
		return nil, err
	}
	ipv4, ipv6 := []any{}, []any{}
	for _, r := range found {
		if r.prefix.Addr().Is4() {
			ipv4 = append(ipv4, s.viewReservation(r))
		} else {
			ipv6 = append(ipv6, s.viewReservation(r))
		}
	}
	return protocol.Struct{"SubnetIpv4CidrReservations": ipv4, "SubnetIpv6CidrReservations": ipv6, "NextToken": protocol.OrNil(next)}, nil
}

func (s *Service) deleteReservation(q *core.Request) (protocol.Struct, error) {
	r, err := s.reservations.get(q.In.String("SubnetCidrReservationId"))
	if err != nil {
		return nil, err
	}
	s.reservations.remove(r.id)
	return protocol.Struct{"DeletedSubnetCidrReservation": s.viewReservation(r)}, nil
}
