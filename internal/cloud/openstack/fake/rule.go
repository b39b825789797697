package fake

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

type ruleInput struct {
	SecurityGroupID      opt[string] `json:"security_group_id"`
	Direction            opt[string] `json:"direction"`
	EtherType            opt[string] `json:"ethertype"`
	Protocol             opt[any]    `json:"protocol"` // a name or a number
	PortRangeMin         opt[int]    `json:"port_range_min"`
	PortRangeMax         opt[int]    `json:"port_range_max"`
	RemoteGroupID        opt[string] `json:"remote_group_id"`
	RemoteAddressGroupID opt[string] `json:"remote_address_group_id"`
	RemoteIPPrefix       opt[string] `json:"remote_ip_prefix"`
	Description          opt[string] `json:"description"`
}

// registerSecurityGroupRules serves the rules, which live inside their groups.
func (c *Cloud) registerSecurityGroupRules(e endpoint) {
	const base = "/v2.0/security-group-rules"
	k := &collection[SecurityGroupRule]{filters: newFilters[SecurityGroupRule]()}
	id := func(r *SecurityGroupRule) string { return r.ID }
	c.route(e, "GET "+base, func(q *request) (reply, error) {
		if unknown := k.filters.unknown(q.values); len(unknown) > 0 {
			return reply{}, invalid("['%s'] is invalid attribute for filtering", strings.Join(unknown, "', '"))
		}
		var rows []*SecurityGroupRule
		for _, g := range c.neutron.groups.rows {
			for i := range g.Rules {
				if q.owns(g.ProjectID) && k.filters.match(reflect.ValueOf(g.Rules[i]), q.values) {
					rows = append(rows, &g.Rules[i])
				}
			}
		}
		sortRows(k.filters, rows, q.values)
		part, err := paginate(rows, id, q, c.config.pageSize)
		if err != nil {
			return reply{}, err
		}
		return listReply("security_group_rules", copies(part.rows), part.links, q)
	})
	c.route(e, "GET "+base+"/{id}", func(q *request) (reply, error) {
		_, r, err := c.findRule(q)
		if err != nil {
			return reply{}, err
		}
		return ok(map[string]any{"security_group_rule": r})
	})
	c.route(e, "DELETE "+base+"/{id}", func(q *request) (reply, error) {
		g, r, err := c.findRule(q)
		if err != nil {
			return reply{}, err
		}
		g.Rules = without(g.Rules, func(o SecurityGroupRule) bool { return o.ID == r.ID })
		delete(c.neutron.ruleHome, r.ID)
		c.touch(g.standard())
		return noContent()
	})
	c.route(e, "POST "+base, c.createRules)
}

func (c *Cloud) findRule(q *request) (*SecurityGroup, SecurityGroupRule, error) {
	id := q.path("id")
	g := c.neutron.groups.get(c.neutron.ruleHome[id])
	if g == nil || !q.owns(g.ProjectID) {
		return nil, SecurityGroupRule{}, notFound("SecurityGroupRuleNotFound", "Security group rule %s does not exist", id)
	}
	at := slices.IndexFunc(g.Rules, func(r SecurityGroupRule) bool { return r.ID == id })
	return g, g.Rules[at], nil
}

// createRules creates one rule or, all or nothing, several.
func (c *Cloud) createRules(q *request) (reply, error) {
	raws := []json.RawMessage{nil}
	one, isOne := unwrap(q.body, "security_group_rule")
	if isOne {
		raws[0] = one
	} else if many, isMany := unwrap(q.body, "security_group_rules"); !isMany || json.Unmarshal(many, &raws) != nil || len(raws) == 0 {
		return reply{}, badRequest("HTTPBadRequest", "Unable to find 'security_group_rule' in request body")
	}
	var rules []*SecurityGroupRule
	for _, raw := range raws {
		r, err := c.newRule(q, raw)
		if err != nil {
			return reply{}, err
		}
		if slices.ContainsFunc(rules, func(o *SecurityGroupRule) bool { return sameRule(o, r) }) {
			return reply{}, conflict("DuplicateSecurityGroupRuleInPost", "Duplicate Security Group Rule in POST.")
		}
		rules = append(rules, r)
	}
	group := c.neutron.groups.get(rules[0].SecurityGroupID)
	have := 0
	for _, g := range c.neutron.groups.rows {
		if g.ProjectID == group.ProjectID {
			have += len(g.Rules)
		}
	}
	if err := c.checkQuota(group.ProjectID, "security_group_rule", have, len(rules)); err != nil {
		return reply{}, err
	}
	for _, r := range rules {
		g := c.neutron.groups.get(r.SecurityGroupID)
		c.storeRule(g, r)
		c.touch(g.standard())
	}
	if isOne {
		return created(map[string]any{"security_group_rule": *rules[0]})
	}
	return created(map[string]any{"security_group_rules": copies(rules)})
}

// newRule checks a rule against all that Neutron checks, also against the rules its group has.
func (c *Cloud) newRule(q *request, raw json.RawMessage) (*SecurityGroupRule, error) {
	projectID, raw, err := ownerOf(q, raw)
	if err != nil {
		return nil, err
	}
	var in ruleInput
	if err := decodeNeutron[SecurityGroupRule](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if !in.SecurityGroupID.given() {
		return nil, required("security_group_id")
	}
	if !in.Direction.given() {
		return nil, required("direction")
	}
	g := c.neutron.groups.get(in.SecurityGroupID.v)
	if g == nil || !q.owns(g.ProjectID) {
		return nil, groupNotFound(in.SecurityGroupID.v)
	}
	r := &SecurityGroupRule{
		Standard: c.newStandard(projectID, in.Description.v), SecurityGroupID: g.ID, Direction: in.Direction.v,
		EtherType: etherType(in.EtherType.or("IPv4")), PortRangeMin: NullInt(in.PortRangeMin.v), PortRangeMax: NullInt(in.PortRangeMax.v),
		RemoteGroupID: Null(in.RemoteGroupID.v), RemoteAddressGroupID: Null(in.RemoteAddressGroupID.v), RemoteIPPrefix: Null(in.RemoteIPPrefix.v),
	}
	if err := setProtocol(r, in.Protocol); err != nil {
		return nil, err
	}
	if err := checkRule(r); err != nil {
		return nil, err
	}
	if err := checkPorts(r, in.PortRangeMin, in.PortRangeMax); err != nil {
		return nil, err
	}
	return r, c.checkNeighbours(q, g, r)
}

// checkNeighbours looks up the remote group of a rule, and wants it to be new to its group.
func (c *Cloud) checkNeighbours(q *request, g *SecurityGroup, r *SecurityGroupRule) error {
	if r.RemoteGroupID != "" {
		if remote := c.neutron.groups.get(string(r.RemoteGroupID)); remote == nil || !q.owns(remote.ProjectID) && !remote.Shared {
			return groupNotFound(string(r.RemoteGroupID))
		}
	}
	for _, have := range g.Rules {
		if sameRule(&have, r) {
			return conflict("SecurityGroupRuleExists", "Security group rule already exists. Rule id is %s.", have.ID)
		}
	}
	return nil
}

// etherType accepts any case, as Neutron does.
func etherType(s string) string {
	for _, known := range []string{"IPv4", "IPv6"} {
		if strings.EqualFold(known, s) {
			return known
		}
	}
	return s
}

func protocols() map[string]int {
	return map[string]int{
		"ah": 51, "dccp": 33, "egp": 8, "esp": 50, "gre": 47, "icmp": 1, "icmpv6": 58, "igmp": 2, "ipip": 4, "ipv6-encap": 41,
		"ipv6-frag": 44, "ipv6-icmp": 58, "ipv6-nonxt": 59, "ipv6-opts": 60, "ipv6-route": 43, "ospf": 89, "pgm": 113,
		"rsvp": 46, "sctp": 132, "tcp": 6, "udp": 17, "udplite": 136, "vrrp": 112,
	}
}

// setProtocol takes a name or a number; null and "any" mean any.
func setProtocol(r *SecurityGroupRule, in opt[any]) error {
	if !in.given() {
		return nil
	}
	var text string
	switch v := in.v.(type) {
	case string:
		text = strings.ToLower(v)
	case float64:
		text = strconv.Itoa(int(v))
	}
	number, err := strconv.Atoi(text)
	_, known := protocols()[text]
	switch {
	case text == "any" || text == "":
		return nil
	case known || err == nil && number >= 0 && number <= 255:
		r.Protocol = Null(text)
		return nil
	}
	return badRequest("SecurityGroupRuleInvalidProtocol", "Security group rule protocol %s not supported. Only protocol values [...] and integer representations [0 to 255] are supported.", text)
}

// protocolNumber is -1 for any. What is ICMP for IPv4 is ICMPv6 for IPv6.
func (r *SecurityGroupRule) protocolNumber() int {
	if r.Protocol == "" {
		return -1
	}
	number, known := protocols()[string(r.Protocol)]
	if !known {
		number, _ = strconv.Atoi(string(r.Protocol))
	}
	if number == 1 && r.EtherType == "IPv6" {
		return 58
	}
	return number
}

func checkRule(r *SecurityGroupRule) error {
	if r.Direction != "ingress" && r.Direction != "egress" {
		return badRequest("HTTPBadRequest", "Invalid input for direction. Reason: '%s' is not in ['ingress', 'egress'].", r.Direction)
	}
	if r.EtherType != "IPv4" && r.EtherType != "IPv6" {
		return badRequest("SecurityGroupRuleInvalidEtherType", "Security group rule for ethertype '%s' not supported. Allowed values are ['IPv4', 'IPv6'].", r.EtherType)
	}
	if r.RemoteIPPrefix != "" && r.RemoteGroupID != "" {
		return badRequest("SecurityGroupMultipleRemoteEntites", "Only one of remote_ip_prefix, remote_group_id or remote_address_group_id may be provided.")
	}
	if r.RemoteIPPrefix == "" {
		return nil
	}
	prefix, err := netip.ParsePrefix(string(r.RemoteIPPrefix))
	if err != nil {
		addr, err := netip.ParseAddr(string(r.RemoteIPPrefix))
		if err != nil {
			return badRequest("InvalidCIDR", "Invalid CIDR %s given as IP prefix.", r.RemoteIPPrefix)
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
		r.RemoteIPPrefix = Null(prefix.String())
	}
	if prefix.Addr().Is4() != (r.EtherType == "IPv4") {
		return badRequest("SecurityGroupRuleParameterConflict", "Conflicting value ethertype %s for CIDR %s", r.EtherType, r.RemoteIPPrefix)
	}
	r.NormalizedCIDR = Null(prefix.Masked().String())
	return nil
}

// checkPorts checks the two numbers, which mean ports, or type and code of ICMP.
func checkPorts(r *SecurityGroupRule, low, high opt[int]) error {
	if !low.given() && !high.given() {
		return nil
	}
	switch r.protocolNumber() {
	case -1:
		return badRequest("SecurityGroupProtocolRequiredWithPorts", "Must also specify protocol if port range is given.")
	case 1, 58:
		if !low.given() {
			return badRequest("SecurityGroupMissingIcmpType", "ICMP code (port-range-max) %d is provided but ICMP type (port-range-min) is missing.", high.v)
		}
		if min(low.v, high.v) < 0 || max(low.v, high.v) > 255 {
			return badRequest("SecurityGroupInvalidIcmpValue", "Invalid value for ICMP type or code (port-range-min %d, port-range-max %d). It must be 0 to 255.", low.v, high.v)
		}
		return nil
	case 6, 17, 33, 132, 136:
		if low.v < 0 || high.v > 65535 {
			return badRequest("SecurityGroupInvalidPortValue", "Invalid value for port %d", max(high.v, low.v))
		}
		if low.v < 1 || low.v > high.v {
			return badRequest("SecurityGroupInvalidPortRange", "For TCP/UDP protocols, port_range_min must be <= port_range_max")
		}
		return nil
	default:
		return badRequest("SecurityGroupInvalidProtocolForPort", "Ports are not supported for protocol %s.", r.Protocol)
	}
}

// sameRule reports whether two rules of a group let the same through; their descriptions do not matter, and a prefix
// that covers everything is the same as none.
func sameRule(a, b *SecurityGroupRule) bool {
	remote := func(r *SecurityGroupRule) Null {
		if r.NormalizedCIDR == "0.0.0.0/0" || r.NormalizedCIDR == "::/0" {
			return ""
		}
		return r.NormalizedCIDR
	}
	return a.SecurityGroupID == b.SecurityGroupID && a.Direction == b.Direction && a.EtherType == b.EtherType &&
		a.protocolNumber() == b.protocolNumber() && a.PortRangeMin == b.PortRangeMin && a.PortRangeMax == b.PortRangeMax &&
		a.RemoteGroupID == b.RemoteGroupID && a.RemoteAddressGroupID == b.RemoteAddressGroupID && remote(a) == remote(b)
}
