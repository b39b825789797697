package neutron

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// RulePort is a port of a security group rule, or the type or the code of ICMP, or AnyPort.
type RulePort int

// AnyPort is null on the wire.
const AnyPort RulePort = -1

// MarshalJSON implements json.Marshaler.
func (p RulePort) MarshalJSON() ([]byte, error) {
	if p == AnyPort {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(p), 10), nil
}

// RuleText is the description of a security group rule, or NoText.
type RuleText string

// NoText is null on the wire: the description of a new group's default rules.
const NoText RuleText = "\x00"

// MarshalJSON implements json.Marshaler.
func (t RuleText) MarshalJSON() ([]byte, error) {
	if t == NoText {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// portOf accepts a number or its string form.
func portOf(in core.Opt[any]) (RulePort, error) {
	if !in.Given() {
		return AnyPort, nil
	}
	text := fmt.Sprint(in.Value)
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 || number > 65535 {
		return AnyPort, core.BadRequest("SecurityGroupInvalidPortValue", "Invalid value for port %s", text)
	}
	return RulePort(number), nil
}

// protocols are in the order in which Neutron lists them.
func protocols() []string {
	return []string{
		"ah", "dccp", "egp", "esp", "gre", "hopopt", "icmp", "igmp", "ip", "ipip", "ipv6-encap", "ipv6-frag", "ipv6-icmp", "icmpv6",
		"ipv6-nonxt", "ipv6-opts", "ipv6-route", "ospf", "pgm", "rsvp", "sctp", "tcp", "udp", "udplite", "vrrp",
	}
}

func protocolNumbers() map[string]int {
	return map[string]int{
		"ah": 51, "dccp": 33, "egp": 8, "esp": 50, "gre": 47, "hopopt": 0, "icmp": 1, "icmpv6": 58, "igmp": 2, "ip": 0, "ipip": 4,
		"ipv6-encap": 41, "ipv6-frag": 44, "ipv6-icmp": 58, "ipv6-nonxt": 59, "ipv6-opts": 60, "ipv6-route": 43, "ospf": 89, "pgm": 113,
		"rsvp": 46, "sctp": 132, "tcp": 6, "udp": 17, "udplite": 136, "vrrp": 112,
	}
}

// protocolOf accepts a name in any case or a number, and null for any.
func protocolOf(in core.Opt[any]) (core.Null, error) {
	if !in.Given() {
		return "", nil
	}
	sent := fmt.Sprint(in.Value)
	text := strings.ToLower(sent)
	number, err := strconv.Atoi(text)
	if slices.Contains(protocols(), text) || err == nil && number >= 0 && number <= 255 {
		return core.Null(text), nil
	}
	return "", core.BadRequest("SecurityGroupRuleInvalidProtocol", "Security group rule protocol %s not supported. Only protocol values [None, '%s'] "+
		"and integer representations [0 to 255] are supported.", sent, strings.Join(protocols(), "', '"))
}

// etherType accepts any case.
func etherType(sent string) (string, error) {
	for _, known := range []string{"IPv4", "IPv6"} {
		if strings.EqualFold(known, sent) {
			return known, nil
		}
	}
	return "", core.BadRequest("SecurityGroupRuleInvalidEtherType", "Security group rule for ethertype '%s' not supported. Allowed values are ['IPv4', 'IPv6'].", sent)
}

// prefixesIn returns a range as it was sent, with the mask that a single address lacks, and the same without host bits.
func prefixesIn(sent string) (asSent, masked core.Null, err error) {
	if sent == "" {
		return "", "", nil
	}
	prefix, err := netip.ParsePrefix(sent)
	if err != nil {
		address, err := netip.ParseAddr(sent)
		if err != nil {
			return "", "", core.BadRequest("InvalidCIDR", "Invalid CIDR %s given as IP prefix.", sent)
		}
		prefix = netip.PrefixFrom(address, address.BitLen())
	}
	return core.Null(prefix.String()), core.Null(prefix.Masked().String()), nil
}

// canonical changes ICMP to its name in IPv6, and all ports to any port.
func (r *SecurityGroupRule) canonical() {
	if r.EtherType == "IPv6" {
		switch r.Protocol {
		case "icmp", "icmpv6":
			r.Protocol = "ipv6-icmp"
		case "1":
			r.Protocol = "58"
		}
	}
	if r.PortRangeMin == 1 && r.PortRangeMax == 65535 {
		r.PortRangeMin, r.PortRangeMax = AnyPort, AnyPort
	}
}

// protocolNumber is -1 for any.
func (r *SecurityGroupRule) protocolNumber() int {
	if r.Protocol == "" {
		return -1
	}
	number, known := protocolNumbers()[string(r.Protocol)]
	if !known {
		number, _ = strconv.Atoi(string(r.Protocol)) // protocolOf has looked
	}
	return number
}

// checkPorts validates the two numbers, which are ports, or type and code of ICMP.
func checkPorts(r *SecurityGroupRule) error {
	low, high := r.PortRangeMin, r.PortRangeMax
	if low == AnyPort && high == AnyPort {
		return nil
	}
	switch number := r.protocolNumber(); number {
	case -1:
		return core.BadRequest("SecurityGroupProtocolRequiredWithPorts", "Must also specify protocol if port range is given.")
	case 1, 58:
		return checkICMP(low, high)
	case 6, 17, 33, 132, 136:
		if low == 0 || high == 0 {
			return core.BadRequest("SecurityGroupInvalidPortValue", "Invalid value for port 0")
		}
		if low == AnyPort || low > high {
			return core.BadRequest("SecurityGroupInvalidPortRange", "For TCP/UDP protocols, port_range_min must be <= port_range_max")
		}
		return nil
	default:
		return core.BadRequest("SecurityGroupInvalidProtocolForPort", "Ports cannot be specified for protocol %d. "+
			"Ports are only supported for DCCP, SCTP, TCP, UDP, UDPLITE.", number)
	}
}

func checkICMP(kind, code RulePort) error {
	if kind > 255 {
		return core.BadRequest("SecurityGroupInvalidIcmpValue", "Invalid value for ICMP type (port_range_min) %d. It must be 0 to 255.", kind)
	}
	if code > 255 {
		return core.BadRequest("SecurityGroupInvalidIcmpValue", "Invalid value for ICMP code (port_range_max) %d. It must be 0 to 255.", code)
	}
	if kind == AnyPort {
		return core.BadRequest("SecurityGroupMissingIcmpType", "ICMP code (port-range-max) %d is provided but ICMP type (port-range-min) is missing.", code)
	}
	return nil
}

// checkFamily requires that range and protocol belong to the IP version.
func checkFamily(r *SecurityGroupRule) error {
	if r.RemoteIPPrefix != "" {
		prefix := netip.MustParsePrefix(string(r.RemoteIPPrefix))
		if prefix.Addr().Is4() != (r.EtherType == "IPv4") {
			return core.BadRequest("SecurityGroupRuleParameterConflict", "Conflicting value ethertype %s for CIDR %s", r.EtherType, r.RemoteIPPrefix)
		}
	}
	if r.EtherType == "IPv4" && slices.Contains([]int{41, 43, 44, 58, 59, 60}, r.protocolNumber()) {
		return core.BadRequest("SecurityGroupEthertypeConflictWithProtocol", "Invalid ethertype IPv4 for protocol %s.", r.Protocol)
	}
	return nil
}

func checkOneRemote(r *SecurityGroupRule) error {
	given := core.Without([]core.Null{r.RemoteIPPrefix, r.RemoteGroupID, r.RemoteAddressGroupID}, func(n core.Null) bool { return n == "" })
	if len(given) > 1 {
		return core.BadRequest("SecurityGroupMultipleRemoteEntites", "Only one of remote_ip_prefix or remote_group_id or remote_address_group_id may be provided.")
	}
	return nil
}
