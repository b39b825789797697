package ec2

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// address is an elastic IP.
type address struct {
	meta

	publicIP                              string
	associationID, interfaceID, privateIP string // while it is associated
}

func (s *Service) newAddresses() *collection[*address] {
	region := s.core.Config.Region
	return &collection[*address]{
		kind: "elastic-ip", ids: "AllocationIds", answer: "Addresses", view: s.viewAddress,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidAllocationID.NotFound", "The allocation ID '%s' does not exist", id)
		},
		filters: map[string]func(*address) []string{
			"allocation-id":        one(func(a *address) string { return a.id }),
			"association-id":       one(func(a *address) string { return a.associationID }),
			"network-interface-id": one(func(a *address) string { return a.interfaceID }),
			"private-ip-address":   one(func(a *address) string { return a.privateIP }),
			"public-ip":            one(func(a *address) string { return a.publicIP }),
			"network-border-group": one(func(*address) string { return region }),
		},
	}
}

func (s *Service) viewAddress(a *address) protocol.Struct {
	view := protocol.Struct{
		"AllocationId": a.id, "PublicIp": a.publicIP, "Domain": "vpc", "PublicIpv4Pool": "amazon", "NetworkBorderGroup": s.core.Config.Region, "Tags": a.tagList(),
	}
	if a.associationID != "" {
		view["AssociationId"], view["NetworkInterfaceId"] = a.associationID, a.interfaceID
		view["NetworkInterfaceOwnerId"], view["PrivateIpAddress"] = s.owner(), a.privateIP
	}
	return view
}

func (s *Service) addressActions() map[string]core.Action {
	return map[string]core.Action{
		"AllocateAddress":   {Reads: "Domain TagSpecifications", Do: s.allocateAddress},
		"DescribeAddresses": {Reads: "AllocationIds PublicIps Filters", Do: s.describeAddresses},
		"ReleaseAddress":    {Reads: "AllocationId", Do: s.releaseAddress},
	}
}

func (s *Service) allocateAddress(q *core.Request) (protocol.Struct, error) {
	if q.In.String("Domain") == "standard" {
		return nil, protocol.Fail("InvalidParameterValue", "Value (standard) for parameter domain is invalid. EC2-Classic is retired")
	}
	if !s.core.HasRoom(QuotaAddresses, len(s.addresses.items)) {
		return nil, protocol.Fail("AddressLimitExceeded", "The maximum number of addresses has been reached.")
	}
	created, err := s.newMeta("eipalloc", s.addresses.kind, q)
	if err != nil {
		return nil, err
	}
	n := created.sequence
	ip := netip.AddrFrom4([4]byte{52, 16 + byte(n>>16), byte(n >> 8), byte(n)})
	a := &address{meta: created, publicIP: ip.String()}
	s.addresses.add(a)
	return protocol.Struct{
		"AllocationId": a.id, "PublicIp": a.publicIP, "Domain": "vpc", "PublicIpv4Pool": "amazon", "NetworkBorderGroup": s.core.Config.Region,
	}, nil
}

// describeAddresses describes addresses by allocation or by address.
func (s *Service) describeAddresses(q *core.Request) (protocol.Struct, error) {
	ids := slices.Clone(q.In.Strings("AllocationIds"))
	for _, ip := range q.In.Strings("PublicIps") {
		i := slices.IndexFunc(s.addresses.items, func(a *address) bool { return a.publicIP == ip })
		if i < 0 {
			return nil, protocol.Fail("InvalidAddress.NotFound", "Address '%s' not found.", ip)
		}
		ids = append(ids, s.addresses.items[i].id)
	}
	q.In["AllocationIds"] = protocol.ListOf(ids)
	return describe(s, s.addresses, q)
}

// releaseAddress releases an address that is not associated. While a NAT gateway has it, AWS says that the caller may not.
func (s *Service) releaseAddress(q *core.Request) (protocol.Struct, error) {
	if !q.In.Has("AllocationId") {
		return nil, protocol.Fail("MissingParameter", "The request must contain the parameter AllocationId")
	}
	a, err := s.addresses.get(q.In.String("AllocationId"))
	if err != nil {
		return nil, err
	}
	if a.associationID != "" {
		if i, found := s.interfaces.find(a.interfaceID); found && i.requesterManaged {
			return nil, protocol.FailWith(http.StatusForbidden, "AuthFailure", "You do not have permission to access the specified resource.")
		}
		return nil, protocol.Fail("InvalidIPAddress.InUse", "Address %s is in use.", a.publicIP)
	}
	s.addresses.remove(a.id)
	return nil, nil
}

func (s *Service) associateAddress(a *address, i *networkInterface) {
	a.associationID, a.interfaceID, a.privateIP = s.core.NewID("eipassoc"), i.id, i.address.String()
	i.publicIP, i.allocationID, i.associationID = a.publicIP, a.id, a.associationID
}

func (s *Service) disassociateAddress(a *address) {
	if i, found := s.interfaces.find(a.interfaceID); found {
		i.publicIP, i.allocationID, i.associationID = "", "", ""
	}
	a.associationID, a.interfaceID, a.privateIP = "", "", ""
}
