package nflog

import (
	"encoding/binary"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// Packet is what is known of a packet that was logged.
type Packet struct {
	// Prefix is that of the rule.
	Prefix   string
	From, To netip.Addr
	// Protocol is a name such as "tcp", or a number.
	Protocol string
	// FromPort and ToPort are 0 for protocols without ports, and for fragments.
	FromPort, ToPort uint16
}

// Lengths of headers, in bytes.
const (
	header4, header6 = 20, 40
	// unit is that of the length of an extension header.
	unit = 8
)

// parse reads the headers of an IP packet.
func parse(data []byte) (packet Packet, ok bool) {
	switch {
	case len(data) >= header4 && data[0]>>4 == 4:
		packet.From, packet.To = address(data[12:16]), address(data[16:20])
		length, isFragment := int(data[0]&0x0f)*4, binary.BigEndian.Uint16(data[6:8])&0x1fff != 0
		packet.setTransport(data[9], data[min(length, len(data)):], isFragment)
	case len(data) >= header6 && data[0]>>4 == 6:
		packet.From, packet.To = address(data[8:24]), address(data[24:40])
		protocol, rest := data[6], data[header6:]
		for isExtension(protocol) && len(rest) >= unit {
			protocol, rest = rest[0], rest[min((int(rest[1])+1)*unit, len(rest)):]
		}
		packet.setTransport(protocol, rest, false)
	default:
		return Packet{}, false
	}
	return packet, true
}

func address(data []byte) netip.Addr {
	parsed, _ := netip.AddrFromSlice(data)
	return parsed
}

// isExtension reports whether another header of IPv6 follows, which says what comes then.
func isExtension(protocol byte) bool {
	return protocol == unix.IPPROTO_HOPOPTS || protocol == unix.IPPROTO_ROUTING || protocol == unix.IPPROTO_DSTOPTS
}

func (p *Packet) setTransport(protocol byte, data []byte, isFragment bool) {
	hasPorts := false
	switch protocol {
	case unix.IPPROTO_TCP:
		p.Protocol, hasPorts = "tcp", true
	case unix.IPPROTO_UDP:
		p.Protocol, hasPorts = "udp", true
	case unix.IPPROTO_SCTP:
		p.Protocol, hasPorts = "sctp", true
	case unix.IPPROTO_ICMP:
		p.Protocol = "icmp"
	case unix.IPPROTO_ICMPV6:
		p.Protocol = "icmpv6"
	default:
		p.Protocol = strconv.Itoa(int(protocol))
	}
	if hasPorts && !isFragment && len(data) >= 4 {
		p.FromPort, p.ToPort = binary.BigEndian.Uint16(data), binary.BigEndian.Uint16(data[2:])
	}
}
