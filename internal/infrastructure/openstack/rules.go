package openstack

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

const (
	ingress = "ingress"
	egress  = "egress"

	nodePortMin = 30000
	nodePortMax = 32767

	// fromPods is the suffix of descriptions of the rules for the pods' ranges.
	fromPods = ": allow all incoming traffic from the pod network (overlay disabled)"
)

// ruleFamily is the part of rules' descriptions that depends on the IP family.
type ruleFamily struct {
	etherType string
	anywhere  string
}

func familyOf(version int) ruleFamily {
	if version == 6 {
		return ruleFamily{etherType: "IPv6", anywhere: "::/0"}
	}
	return ruleFamily{etherType: "IPv4", anywhere: "0.0.0.0/0"}
}

// wantedRules returns the rules of the nodes' security group, with the same descriptions as the upstream extension's, so that an adopted group needs no change.
// The descriptions also identify Gardener's rules later.
func wantedRules(wanted securityGroupSpec, groupID string) []cloudopenstack.SecurityGroupRule {
	rules := []cloudopenstack.SecurityGroupRule{
		{Direction: egress, EtherType: "IPv4", Description: "IPv4: allow all outgoing traffic"},
		{Direction: egress, EtherType: "IPv6", Description: "IPv6: allow all outgoing traffic"},
	}
	for _, version := range wanted.families {
		family := familyOf(version)
		rules = append(rules, cloudopenstack.SecurityGroupRule{
			Direction: ingress, EtherType: family.etherType, RemoteGroupID: groupID,
			Description: family.etherType + ": allow all incoming traffic within the same security group",
		})
		rules = append(rules, nodePortRules(family, ofVersion(version, wanted.nodePortSources))...)
	}
	for _, podRange := range wanted.podRanges {
		if podRange == "" {
			continue // to Neutron no range is every address
		}
		family := familyOf(ipVersion(podRange))
		rules = append(rules, cloudopenstack.SecurityGroupRule{
			Direction: ingress, EtherType: family.etherType, RemoteIPPrefix: podRange,
			Description: family.etherType + fromPods,
		})
	}
	for i := range rules {
		rules[i].SecurityGroupID = groupID
	}
	return rules
}

// nodePortRules permits the node ports of both protocols from the sources.
func nodePortRules(family ruleFamily, sources []string) []cloudopenstack.SecurityGroupRule {
	var rules []cloudopenstack.SecurityGroupRule
	for _, protocol := range []string{"tcp", "udp"} {
		for _, source := range sources {
			description := fmt.Sprintf("%s: allow all incoming %s traffic with port range %d-%d", family.etherType, protocol, nodePortMin, nodePortMax)
			if source != family.anywhere {
				description += " from " + source
			}
			rules = append(rules, cloudopenstack.SecurityGroupRule{
				Direction: ingress, EtherType: family.etherType, Protocol: protocol,
				PortMin: nodePortMin, PortMax: nodePortMax, RemoteIPPrefix: source, Description: description,
			})
		}
	}
	return rules
}

// ruleChanges are the changes of a security group.
type ruleChanges struct {
	// create is missing.
	create []cloudopenstack.SecurityGroupRule
	// remove was Gardener's and is not wanted any more, e.g. open node ports after sources were restricted.
	remove []cloudopenstack.SecurityGroupRule
	// formerPodRanges permitted a range of pods before. They stay, since nodes may route natively until they are replaced.
	formerPodRanges []cloudopenstack.SecurityGroupRule
	// unmanaged was added by others, and stays.
	unmanaged []cloudopenstack.SecurityGroupRule
}

// diffRules compares by meaning: protocol 6 is tcp, no prefix is every address, and host bits of a prefix are ignored.
func diffRules(wanted, have []cloudopenstack.SecurityGroupRule) ruleChanges {
	var changes ruleChanges
	unmatched := slices.Clone(have)
	for _, rule := range wanted {
		meaning := normalise(rule)
		same := func(other cloudopenstack.SecurityGroupRule) bool { return normalise(other) == meaning }
		if !slices.ContainsFunc(unmatched, same) {
			changes.create = append(changes.create, rule)
			continue
		}
		unmatched = slices.DeleteFunc(unmatched, same)
	}
	for _, rule := range unmatched {
		switch {
		case !isGardenerRule(rule.Description):
			changes.unmanaged = append(changes.unmanaged, rule)
		case strings.HasSuffix(rule.Description, fromPods) && normalisePrefix(rule.RemoteIPPrefix) != "":
			changes.formerPodRanges = append(changes.formerPodRanges, rule)
		default:
			changes.remove = append(changes.remove, rule)
		}
	}
	return changes
}

// isGardenerRule recognizes all variants of wantedRules' descriptions.
func isGardenerRule(description string) bool {
	_, text, ok := strings.Cut(description, ": ")
	if !ok || (!strings.HasPrefix(description, "IPv4: ") && !strings.HasPrefix(description, "IPv6: ")) {
		return false
	}
	switch text {
	case "allow all incoming traffic within the same security group", "allow all outgoing traffic", strings.TrimPrefix(fromPods, ": "):
		return true
	}
	for _, protocol := range []string{"tcp", "udp"} {
		nodePorts := fmt.Sprintf("allow all incoming %s traffic with port range %d-%d", protocol, nodePortMin, nodePortMax)
		if source, ok := strings.CutPrefix(text, nodePorts); ok && (source == "" || strings.HasPrefix(source, " from ")) {
			return true
		}
	}
	return false
}

// ruleMeaning is a rule without ID and description. Neutron treats rules with the same meaning alike.
type ruleMeaning struct {
	direction, etherType, protocol string
	portMin, portMax               int
	remoteGroup, remotePrefix      string
}

func normalise(rule cloudopenstack.SecurityGroupRule) ruleMeaning {
	return ruleMeaning{
		direction:    strings.ToLower(rule.Direction),
		etherType:    strings.ToLower(rule.EtherType),
		protocol:     normaliseProtocol(rule.Protocol),
		portMin:      rule.PortMin,
		portMax:      rule.PortMax,
		remoteGroup:  rule.RemoteGroupID,
		remotePrefix: normalisePrefix(rule.RemoteIPPrefix),
	}
}

// normaliseProtocol maps IANA numbers to names, and all spellings of any protocol to an empty string.
func normaliseProtocol(protocol string) string {
	switch name := strings.ToLower(protocol); name {
	case "any", "0":
		return ""
	case "1":
		return "icmp"
	case "6":
		return "tcp"
	case "17":
		return "udp"
	case "58", "icmpv6", "ipv6-icmp":
		return "icmpv6"
	default:
		return name
	}
}

// normalisePrefix removes host bits and maps a prefix of all addresses to an empty string.
func normalisePrefix(text string) string {
	if text == "" {
		return ""
	}
	prefix, err := parsePrefix(text)
	if err != nil {
		return text
	}
	if prefix.Bits() == 0 {
		return ""
	}
	return prefix.String()
}

// parsePrefix parses a CIDR, or a single address, and removes host bits.
func parsePrefix(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return prefix.Masked(), nil
}

// ipVersion returns 4 or 6 for a CIDR or an address, and 4 for other texts.
func ipVersion(text string) int {
	prefix, err := parsePrefix(text)
	if err == nil && prefix.Addr().Is6() && !prefix.Addr().Is4In6() {
		return 6
	}
	return 4
}

// ofVersion returns the ranges or addresses of the IP version.
func ofVersion(version int, texts []string) []string {
	var result []string
	for _, text := range texts {
		if ipVersion(text) == version {
			result = append(result, text)
		}
	}
	return result
}

// describeRule describes what a rule permits.
func describeRule(rule cloudopenstack.SecurityGroupRule) string {
	meaning := normalise(rule)
	text := meaning.direction + " " + rule.EtherType
	if meaning.protocol != "" {
		text += " " + meaning.protocol
	}
	if meaning.portMax != 0 {
		text += fmt.Sprintf(" %d-%d", meaning.portMin, meaning.portMax)
	}
	switch {
	case meaning.remoteGroup != "":
		return text + " group " + meaning.remoteGroup
	case meaning.remotePrefix != "":
		return text + " " + meaning.remotePrefix
	default:
		return text + " any"
	}
}
