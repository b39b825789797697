package ec2

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const (
	interfaceInUse     = "in-use"
	interfaceAvailable = "available"
)

type networkInterface struct {
	meta

	subnetID, vpcID, zone, description, kind, status string
	requesterManaged                                 bool
	requesterID                                      string
	groups                                           []string
	address                                          netip.Addr // zero without IPv4
	publicIP, allocationID, associationID            string
	noSourceDestCheck                                bool
	ipv6Addresses, ipv6Prefixes                      []string
	attachment                                       *attachment // to an instance
}

func (s *Service) newInterfaces() *collection[*networkInterface] {
	return &collection[*networkInterface]{
		kind: "network-interface", ids: "NetworkInterfaceIds", answer: "NetworkInterfaces", view: s.viewInterface,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidNetworkInterfaceID.NotFound", "The networkInterface ID '%s' does not exist", id)
		},
		filters: map[string]func(*networkInterface) []string{
			"network-interface-id":            one(func(i *networkInterface) string { return i.id }),
			"subnet-id":                       one(func(i *networkInterface) string { return i.subnetID }),
			"vpc-id":                          one(func(i *networkInterface) string { return i.vpcID }),
			"availability-zone":               one(func(i *networkInterface) string { return i.zone }),
			"description":                     one(func(i *networkInterface) string { return i.description }),
			"interface-type":                  one(func(i *networkInterface) string { return i.kind }),
			"status":                          one(func(i *networkInterface) string { return i.status }),
			"group-id":                        func(i *networkInterface) []string { return i.groups },
			"requester-managed":               one(func(i *networkInterface) string { return yes(i.requesterManaged) }),
			"requester-id":                    one(func(i *networkInterface) string { return i.requesterID }),
			"private-ip-address":              one(func(i *networkInterface) string { return i.address.String() }),
			"addresses.private-ip-address":    one(func(i *networkInterface) string { return i.address.String() }),
			"association.public-ip":           one(func(i *networkInterface) string { return i.publicIP }),
			"association.allocation-id":       one(func(i *networkInterface) string { return i.allocationID }),
			"addresses.association.public-ip": one(func(i *networkInterface) string { return i.publicIP }),
			"source-dest-check":               one(func(i *networkInterface) string { return yes(!i.noSourceDestCheck) }),
			"attachment.instance-id":          one(func(i *networkInterface) string { return i.instanceID() }),
		},
	}
}

func (s *Service) viewInterface(i *networkInterface) protocol.Struct {
	groups := []any{}
	for _, id := range i.groups {
		if g, found := s.groups.find(id); found {
			groups = append(groups, protocol.Struct{"GroupId": g.id, "GroupName": g.name})
		}
	}
	view := protocol.Struct{
		"NetworkInterfaceId": i.id, "SubnetId": i.subnetID, "VpcId": i.vpcID, "AvailabilityZone": i.zone, "Description": i.description, "OwnerId": s.owner(),
		"InterfaceType": protocol.Undeclared(i.kind), "Status": i.status, "RequesterManaged": i.requesterManaged, "RequesterId": protocol.OrNil(i.requesterID),
		"Groups": groups, "SourceDestCheck": !i.noSourceDestCheck, "MacAddress": fmt.Sprintf("02:00:00:%02x:%02x:%02x",
			byte(i.sequence>>16), byte(i.sequence>>8), byte(i.sequence)),
		"TagSet": i.tagList(),
	}
	switch {
	case i.attachment != nil:
		view["Attachment"] = s.viewAttachment(i)
	case i.status == interfaceInUse:
		view["Attachment"] = protocol.Struct{"AttachmentId": i.attachmentID(), "InstanceOwnerId": "amazon-aws", "Status": "attached"}
	}
	view["Ipv6Addresses"], view["Ipv6Prefixes"] = i.viewIPv6()
	if !i.address.IsValid() {
		return view
	}
	address := protocol.Struct{"PrivateIpAddress": i.address.String(), "Primary": true}
	if i.publicIP != "" {
		association := protocol.Struct{
			"PublicIp": i.publicIP, "AllocationId": protocol.OrNil(i.allocationID), "AssociationId": protocol.OrNil(i.associationID), "IpOwnerId": s.owner(),
		}
		address["Association"], view["Association"] = association, association
	}
	view["PrivateIpAddress"], view["PrivateIpAddresses"] = i.address.String(), []any{address}
	return view
}

func (s *Service) interfaceActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateNetworkInterface":          {Reads: "SubnetId Description Groups TagSpecifications", Do: s.createInterface},
		"DescribeNetworkInterfaces":       describing(s, s.interfaces),
		"DeleteNetworkInterface":          {Reads: "NetworkInterfaceId", Do: s.deleteInterface},
		"ModifyNetworkInterfaceAttribute": {Reads: "NetworkInterfaceId SourceDestCheck Description Groups", Do: s.modifyInterface},
	}
}

// addInterface adds an interface in a subnet, with the subnet's next free address.
func (s *Service) addInterface(n *subnet, i *networkInterface) *networkInterface {
	i.subnetID, i.vpcID, i.zone, i.address = n.id, n.vpcID, n.zone, s.nextAddress(n)
	s.interfaces.add(i)
	return i
}

// reservedAddresses are the first four of a subnet, which AWS keeps; it keeps the last one too.
const reservedAddresses = 4

// freeAddresses counts the addresses of a subnet that can be assigned; 0 for a subnet without IPv4.
func (s *Service) freeAddresses(n *subnet) int {
	if n.block == nil {
		return 0
	}
	used := len(s.interfaces.where(func(i *networkInterface) bool { return i.subnetID == n.id && i.address.IsValid() }))
	return 1<<(32-n.block.prefix.Bits()) - reservedAddresses - 1 - used
}

func (s *Service) nextAddress(n *subnet) netip.Addr {
	if s.freeAddresses(n) <= 0 {
		return netip.Addr{}
	}
	candidate := n.block.prefix.Addr()
	for range reservedAddresses {
		candidate = candidate.Next()
	}
	for slices.ContainsFunc(s.interfaces.items, func(i *networkInterface) bool { return i.subnetID == n.id && i.address == candidate }) {
		candidate = candidate.Next()
	}
	return candidate
}

func (s *Service) createInterface(q *core.Request) (protocol.Struct, error) {
	n, err := s.subnets.get(q.In.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	groups, err := s.groupsOf(n.vpcID, q.In.Strings("Groups"))
	if err != nil {
		return nil, err
	}
	if n.block != nil && s.freeAddresses(n) <= 0 {
		return nil, protocol.Fail("InsufficientFreeAddressesInSubnet", "The specified subnet does not have enough free addresses to satisfy the request.")
	}
	created, err := s.newMeta("eni", s.interfaces.kind, q)
	if err != nil {
		return nil, err
	}
	i := s.addInterface(n, &networkInterface{
		meta: created, description: q.In.String("Description"), kind: "interface", status: interfaceAvailable, groups: groups,
	})
	return protocol.Struct{"NetworkInterface": s.viewInterface(i), "ClientToken": protocol.OrNil(q.In.String("ClientToken"))}, nil
}

// groupsOf checks that groups are in the VPC. Without groups it is the default one.
func (s *Service) groupsOf(vpcID string, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return idsOf(s.groups.where(func(g *securityGroup) bool { return g.vpcID == vpcID && g.isDefault })), nil
	}
	for _, id := range ids {
		g, err := s.groups.get(id)
		if err != nil {
			return nil, err
		}
		if g.vpcID != vpcID {
			return nil, protocol.Fail("InvalidGroup.NotFound", "The security group '%s' does not exist in VPC '%s'", id, vpcID)
		}
	}
	return ids, nil
}

func (s *Service) deleteInterface(q *core.Request) (protocol.Struct, error) {
	i, err := s.interfaces.get(q.In.String("NetworkInterfaceId"))
	if err != nil {
		return nil, err
	}
	if i.status == interfaceInUse {
		return nil, protocol.Fail("InvalidNetworkInterface.InUse", "Network interface '%s' is currently in use.", i.id)
	}
	s.interfaces.remove(i.id)
	return nil, nil
}

func (s *Service) modifyInterface(q *core.Request) (protocol.Struct, error) {
	i, err := s.interfaces.get(q.In.String("NetworkInterfaceId"))
	if err != nil {
		return nil, err
	}
	if q.In.Has("Groups") {
		groups, err := s.groupsOf(i.vpcID, q.In.Strings("Groups"))
		if err != nil {
			return nil, err
		}
		i.groups = groups
	}
	if q.In.Has("SourceDestCheck") {
		i.noSourceDestCheck = !q.In.Struct("SourceDestCheck").Bool("Value")
	}
	if q.In.Has("Description") {
		i.description = q.In.Struct("Description").String("Value")
	}
	return nil, nil
}

// AddInterface adds a network interface of a service of AWS, such as that of a load balancer with the description "ELB net/...", and returns its ID.
func (s *Service) AddInterface(subnetID, kind, description string, groups ...string) (string, error) {
	n, err := s.subnets.get(subnetID)
	if err != nil {
		return "", err
	}
	if groups, err = s.groupsOf(n.vpcID, groups); err != nil {
		return "", err
	}
	i := s.addInterface(n, &networkInterface{
		meta: s.bareMeta("eni"), description: description, kind: kind, status: interfaceInUse, requesterManaged: true, requesterID: requesterOf(kind), groups: groups,
	})
	return i.id, nil
}

// requesterOf is who AWS says has requested an interface of a service.
func requesterOf(kind string) string {
	if kind == "efs" {
		return "EFS"
	}
	return "amazon-elb"
}

// Interface returns the IPv4 address of an interface, empty without one, and its groups.
func (s *Service) Interface(id string) (address string, groups []string) {
	i, found := s.interfaces.find(id)
	if !found {
		return "", nil
	}
	if i.address.IsValid() {
		address = i.address.String()
	}
	return address, i.groups
}

// SetInterfaceGroups replaces the groups of an interface.
func (s *Service) SetInterfaceGroups(id string, groups []string) error {
	i, err := s.interfaces.get(id)
	if err != nil {
		return err
	}
	if groups, err = s.groupsOf(i.vpcID, groups); err != nil {
		return err
	}
	i.groups = groups
	return nil
}

// RemoveInterface removes a network interface, as the service that owns it does.
func (s *Service) RemoveInterface(id string) { s.interfaces.remove(id) }

// VPCOf returns the VPC and zone of a subnet.
func (s *Service) VPCOf(subnetID string) (vpcID, zone string, err error) {
	n, err := s.subnets.get(subnetID)
	if err != nil {
		return "", "", err
	}
	return n.vpcID, n.zone, nil
}
