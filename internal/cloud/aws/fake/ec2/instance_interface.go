package ec2

import (
	"slices"
	"strconv"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// attachment is that of an interface to an instance.
type attachment struct {
	instanceID  string
	card, index int64
	at          time.Time
	keep        bool // at the end of the instance
}

func (i *networkInterface) attachmentID() string { return "eni-attach-" + i.id[len("eni-"):] }

func (i *networkInterface) instanceID() string {
	if i.attachment == nil {
		return ""
	}
	return i.attachment.instanceID
}

// hasSubnetAddress reports whether the interface has an address of its subnet.
func (i *networkInterface) hasSubnetAddress() bool { return i.kind != interfaceEFAOnly }

const (
	interfaceStandard = "interface"
	interfaceEFA      = "efa"
	interfaceEFAOnly  = "efa-only"
)

func (s *Service) viewAttachment(i *networkInterface) protocol.Struct {
	return protocol.Struct{
		"AttachmentId": i.attachmentID(), "InstanceId": i.attachment.instanceID, "InstanceOwnerId": s.owner(), "Status": "attached",
		"DeviceIndex": i.attachment.index, "NetworkCardIndex": i.attachment.card, "DeleteOnTermination": !i.attachment.keep, "AttachTime": i.attachment.at,
	}
}

// viewIPv6 returns the interface's IPv6 addresses and prefixes as responses have them.
func (i *networkInterface) viewIPv6() (addresses, prefixes []any) {
	addresses, prefixes = []any{}, []any{}
	for _, address := range i.ipv6Addresses {
		addresses = append(addresses, protocol.Struct{"Ipv6Address": address})
	}
	for _, prefix := range i.ipv6Prefixes {
		prefixes = append(prefixes, protocol.Struct{"Ipv6Prefix": prefix})
	}
	return addresses, prefixes
}

// viewInstanceInterface is the interface as part of its instance.
func (s *Service) viewInstanceInterface(i *networkInterface) protocol.Struct {
	of, attachment := s.viewInterface(i), s.viewAttachment(i)
	delete(attachment, "InstanceId")
	delete(attachment, "InstanceOwnerId")
	view := protocol.Struct{"Attachment": attachment, "InterfaceType": i.kind}
	for _, member := range []string{
		"NetworkInterfaceId", "SubnetId", "VpcId", "Description", "OwnerId", "Status", "Groups", "SourceDestCheck", "MacAddress", "PrivateIpAddress",
		"Ipv6Addresses", "Ipv6Prefixes",
	} {
		view[member] = of[member]
	}
	if i.publicIP != "" {
		view["Association"] = protocol.Struct{"PublicIp": i.publicIP, "IpOwnerId": "amazon"}
	}
	view["PrivateIpAddresses"] = []any{}
	if i.address.IsValid() {
		view["PrivateIpAddresses"] = []any{protocol.Struct{"PrivateIpAddress": i.address.String(), "Primary": true, "Association": view["Association"]}}
	}
	return view
}

// interfacesOf reads the interfaces of a new instance, which are not in their subnets yet.
func (s *Service) interfacesOf(q *core.Request) ([]*networkInterface, error) {
	specifications := q.In.Structs("NetworkInterfaces")
	if len(specifications) == 0 {
		return nil, core.NotImplemented("an instance without NetworkInterfaces")
	}
	var interfaces []*networkInterface
	taken, needed := map[string]bool{}, map[string]int{}
	for _, specification := range specifications {
		i, err := s.interfaceOf(specification, len(specifications))
		if err != nil {
			return nil, err
		}
		place := strconv.FormatInt(i.attachment.card, 10) + "/" + strconv.FormatInt(i.attachment.index, 10)
		if taken[place] {
			return nil, protocol.Fail("InvalidParameterValue", "Each network interface requires a unique device index.")
		}
		if i.zone != s.zoneOfSubnet(specifications[0].String("SubnetId")) {
			return nil, protocol.Fail("InvalidParameterCombination", "The subnets of an instance must be in one availability zone.")
		}
		taken[place] = true
		if n, _ := s.subnets.find(i.subnetID); i.hasSubnetAddress() && n.block != nil {
			if needed[n.id]++; needed[n.id] > s.freeAddresses(n) {
				return nil, protocol.Fail("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", n.id)
			}
		}
		interfaces = append(interfaces, i)
	}
	return interfaces, nil
}

func (s *Service) zoneOfSubnet(id string) string {
	n, found := s.subnets.find(id)
	if !found {
		return ""
	}
	return n.zone
}

func (s *Service) interfaceOf(in protocol.Struct, count int) (*networkInterface, error) {
	n, err := s.subnets.get(in.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	groups, err := s.groupsOf(n.vpcID, in.Strings("Groups"))
	if err != nil {
		return nil, err
	}
	if err := checkInterface(in, n, count); err != nil {
		return nil, err
	}
	kind := in.String("InterfaceType")
	if kind == "" {
		kind = interfaceStandard
	}
	i := &networkInterface{
		subnetID: n.id, vpcID: n.vpcID, zone: n.zone, description: in.String("Description"), kind: kind, status: interfaceInUse, groups: groups,
		attachment: &attachment{
			card: in.Int("NetworkCardIndex"), index: in.Int("DeviceIndex"), at: s.core.Now(),
			keep: in.Has("DeleteOnTermination") && !in.Bool("DeleteOnTermination"),
		},
	}
	if in.Bool("AssociatePublicIpAddress") || !in.Has("AssociatePublicIpAddress") && n.publicAddresses && count == 1 {
		i.publicIP = "198.51.100." + strconv.Itoa(1+s.sequence%250)
	}
	s.assignIPv6(i, n, int(in.Int("Ipv6AddressCount")), int(in.Int("Ipv6PrefixCount")))
	return i, nil
}

func checkInterface(in protocol.Struct, n *subnet, count int) error {
	kind, addresses, prefixes := in.String("InterfaceType"), in.Int("Ipv6AddressCount"), in.Int("Ipv6PrefixCount")
	switch {
	case !slices.Contains([]string{"", interfaceStandard, interfaceEFA, interfaceEFAOnly}, kind):
		return protocol.Fail("InvalidParameterValue", "Value (%s) for parameter interfaceType is invalid.", kind)
	case !in.Has("DeviceIndex"):
		return protocol.Fail("MissingParameter", "The request must contain the parameter deviceIndex")
	case in.Bool("AssociatePublicIpAddress") && count > 1:
		return protocol.Fail("InvalidParameterCombination", "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.")
	case addresses > 0 && prefixes > 0:
		return protocol.Fail("InvalidParameterCombination", "The parameters ipv6AddressCount and ipv6PrefixCount exclude each other.")
	case addresses+prefixes > 0 && len(n.ipv6Blocks) == 0:
		return protocol.Fail("InvalidParameterValue", "Subnet %s has no IPv6 CIDR block.", n.id)
	}
	return nil
}
