package ec2

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// rule is a rule of a security group with exactly one peer.
type rule struct {
	meta

	groupID     string
	egress      bool
	permission  permission
	description string
}

// permission is what a rule allows. Two rules with the same permission are duplicates.
type permission struct {
	protocol       string
	from, to       int64 // ports, or type and code of ICMP; no meaning for all protocols
	peerKind, peer string
}

// The kinds of peers, by the member of the rule's view.
const (
	peerIPv4   = "CidrIpv4"
	peerIPv6   = "CidrIpv6"
	peerPrefix = "PrefixListId"
	peerGroup  = "ReferencedGroupInfo"
)

func (p permission) hasPorts() bool { return p.protocol != "-1" }

// String is the permission as AWS has it in errors.
func (p permission) String() string {
	if !p.hasPorts() {
		return fmt.Sprintf("peer: %s, ALL, ALLOW", p.peer)
	}
	return fmt.Sprintf("peer: %s, %s, from port: %d, to port: %d, ALLOW", p.peer, strings.ToUpper(p.protocol), p.from, p.to)
}

func (r *rule) peerOf(kind string) string {
	if r.permission.peerKind != kind {
		return ""
	}
	return r.permission.peer
}

func (r *rule) groupPeer() string { return r.peerOf(peerGroup) }

func (s *Service) newRules() *collection[*rule] {
	return &collection[*rule]{
		kind: "security-group-rule", ids: "SecurityGroupRuleIds", answer: "SecurityGroupRules", view: s.viewRule,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidSecurityGroupRuleId.NotFound", "The security group rule ID '%s' does not exist", id)
		},
		filters: map[string]func(*rule) []string{
			"group-id":               one(func(r *rule) string { return r.groupID }),
			"security-group-rule-id": one(func(r *rule) string { return r.id }),
		},
	}
}

func (s *Service) viewRule(r *rule) protocol.Struct {
	view := protocol.Struct{
		"SecurityGroupRuleId": r.id, "GroupId": r.groupID, "GroupOwnerId": s.owner(), "IsEgress": r.egress, "IpProtocol": r.permission.protocol,
		"FromPort": -1, "ToPort": -1, "Description": protocol.OrNil(r.description), "Tags": r.tagList(),
	}
	if r.permission.hasPorts() {
		view["FromPort"], view["ToPort"] = r.permission.from, r.permission.to
	}
	if r.permission.peerKind == peerGroup {
		view[peerGroup] = protocol.Struct{"GroupId": r.permission.peer, "UserId": s.owner()}
	} else {
		view[r.permission.peerKind] = r.permission.peer
	}
	return view
}

func (s *Service) rulesOf(groupID string, egress bool) []*rule {
	return s.rules.where(func(r *rule) bool { return r.groupID == groupID && r.egress == egress })
}

// permissions merges rules with the same protocol and ports, as descriptions of groups have them.
func (s *Service) permissions(rules []*rule) []any {
	merged := map[permission]protocol.Struct{}
	out := []any{}
	for _, r := range rules {
		key := permission{protocol: r.permission.protocol, from: r.permission.from, to: r.permission.to}
		view := merged[key]
		if view == nil {
			view = protocol.Struct{"IpProtocol": key.protocol, "IpRanges": []any{}, "Ipv6Ranges": []any{}, "PrefixListIds": []any{}, "UserIdGroupPairs": []any{}}
			if key.hasPorts() {
				view["FromPort"], view["ToPort"] = key.from, key.to
			}
			merged[key] = view
			out = append(out, view)
		}
		var list string
		peer := protocol.Struct{"Description": protocol.OrNil(r.description)}
		switch r.permission.peerKind {
		case peerIPv4:
			list, peer["CidrIp"] = "IpRanges", r.permission.peer
		case peerIPv6:
			list, peer["CidrIpv6"] = "Ipv6Ranges", r.permission.peer
		case peerPrefix:
			list, peer["PrefixListId"] = "PrefixListIds", r.permission.peer
		default:
			list, peer["GroupId"], peer["UserId"] = "UserIdGroupPairs", r.permission.peer, s.owner()
		}
		peers, _ := view[list].([]any)
		view[list] = append(peers, peer)
	}
	return out
}

// readRules returns a rule for each peer of the permissions in a request.
func (s *Service) readRules(groupID string, egress bool, in protocol.Struct) ([]*rule, error) {
	sent := in.Structs("IpPermissions")
	if in.Has("IpProtocol") { // the short form with one peer
		sent = append(sent, protocol.Struct{
			"IpProtocol": in["IpProtocol"], "FromPort": in["FromPort"], "ToPort": in["ToPort"], "IpRanges": []any{protocol.Struct{"CidrIp": in["CidrIp"]}},
		})
	}
	var out []*rule
	for _, p := range sent {
		base, err := readPorts(p)
		if err != nil {
			return nil, err
		}
		peers, err := s.readPeers(p)
		if err != nil {
			return nil, err
		}
		if len(peers) == 0 {
			return nil, protocol.Fail("MissingParameter", "The request must contain a peer of each permission")
		}
		for _, peer := range peers {
			allowed := base
			allowed.peerKind, allowed.peer = peer.kind, peer.value
			out = append(out, &rule{groupID: groupID, egress: egress, permission: allowed, description: peer.description})
		}
	}
	if len(out) == 0 {
		return nil, protocol.Fail("MissingParameter", "The request must contain the parameter ipPermissions")
	}
	return out, nil
}

// readPorts reads protocol and ports. Numbers of protocols with a name become the name; all protocols have no ports.
func readPorts(p protocol.Struct) (permission, error) {
	name := strings.ToLower(p.String("IpProtocol"))
	if known := map[string]string{"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", "all": "-1"}[name]; known != "" {
		name = known
	}
	out := permission{protocol: name}
	switch name {
	case "tcp", "udp":
		out.from, out.to = p.Int("FromPort"), p.Int("ToPort")
		if !p.Has("FromPort") || !p.Has("ToPort") || out.from < 0 || out.to > 65535 || out.from > out.to {
			return out, protocol.Fail("InvalidParameterValue", "Invalid TCP/UDP port range (%d:%d)", out.from, out.to)
		}
	case "icmp", "icmpv6":
		out.from, out.to = -1, -1
		if p.Has("FromPort") {
			out.from, out.to = p.Int("FromPort"), p.Int("ToPort")
		}
	case "":
		return out, protocol.Fail("MissingParameter", "The request must contain the parameter ipProtocol")
	}
	return out, nil
}

type rulePeer struct {
	kind, value, description string
}

func (s *Service) readPeers(p protocol.Struct) ([]rulePeer, error) {
	var out []rulePeer
	for _, r := range p.Structs("IpRanges") {
		prefix, err := parseIPv4(r.String("CidrIp"), "cidrIp")
		if err != nil {
			return nil, malformedBlock(r.String("CidrIp"))
		}
		out = append(out, rulePeer{peerIPv4, prefix.String(), r.String("Description")})
	}
	for _, r := range p.Structs("Ipv6Ranges") {
		prefix, err := netip.ParsePrefix(r.String("CidrIpv6"))
		if err != nil || !prefix.Addr().Is6() {
			return nil, malformedBlock(r.String("CidrIpv6"))
		}
		out = append(out, rulePeer{peerIPv6, prefix.Masked().String(), r.String("Description")})
	}
	for _, r := range p.Structs("PrefixListIds") {
		out = append(out, rulePeer{peerPrefix, r.String("PrefixListId"), r.String("Description")})
	}
	for _, r := range p.Structs("UserIdGroupPairs") {
		if _, err := s.groups.get(r.String("GroupId")); err != nil {
			return nil, err
		}
		out = append(out, rulePeer{peerGroup, r.String("GroupId"), r.String("Description")})
	}
	return out, nil
}

func malformedBlock(text string) *wire.Error {
	return protocol.Fail("InvalidParameterValue", "CIDR block %s is malformed", text)
}
