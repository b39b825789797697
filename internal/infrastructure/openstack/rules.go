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

	// fromPods ends the wording of the rules that let the pod ranges in.
	fromPods = ": allow all incoming traffic from the pod network (overlay disabled)"
)

// ruleFamily is what one IP family contributes to the wording of rules.
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

// wantedRules returns the rules of the nodes' security group: the same ones, in the same words, that the upstream
// extension writes, so that an adopted group needs no change. The words also tell later which rules are Gardener's.
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

// nodePortRules opens the node ports of both protocols to the sources.
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

// ruleChanges is what a security group needs to have the wanted rules.
type ruleChanges struct {
	// create is missing.
	create []cloudopenstack.SecurityGroupRule
	// remove was Gardener's once and is not wanted any more, e.g. the open node ports after sources were restricted.
	remove []cloudopenstack.SecurityGroupRule
	// formerPodRanges let a pod range in once. It stays: the nodes may route natively for as long as they are not replaced.
	formerPodRanges []cloudopenstack.SecurityGroupRule
	// unmanaged was added by somebody else. It stays.
	unmanaged []cloudopenstack.SecurityGroupRule
}

// diffRules compares by meaning: protocol 6 is tcp, no prefix is every address, a prefix counts with its host bits cut.
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

// isGardenerRule recognises the wording of wantedRules in all its variants, and of nothing else.
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

// ruleMeaning is a rule without its identity and wording. Equal meanings are rules that Neutron treats alike.
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

// normaliseProtocol maps IANA numbers to names, and everything that stands for any protocol to nothing.
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

// normalisePrefix cuts host bits and turns a prefix that covers everything into nothing.
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

// parsePrefix reads a CIDR, or a bare address as the range of just that address, with its host bits cut.
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

// ipVersion returns 4 or 6 for a CIDR or an address; what is neither counts as 4.
func ipVersion(text string) int {
	prefix, err := parsePrefix(text)
	if err == nil && prefix.Addr().Is6() && !prefix.Addr().Is4In6() {
		return 6
	}
	return 4
}

// ofVersion returns those of the ranges or addresses that belong to the IP version.
func ofVersion(version int, texts []string) []string {
	var result []string
	for _, text := range texts {
		if ipVersion(text) == version {
			result = append(result, text)
		}
	}
	return result
}

// describeRule says in a few words what a rule lets through.
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
