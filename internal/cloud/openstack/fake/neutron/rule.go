package neutron

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

type ruleInput struct {
	SecurityGroupID      core.Opt[string] `json:"security_group_id"`
	Direction            core.Opt[string] `json:"direction"`
	EtherType            core.Opt[string] `json:"ethertype"`
	Protocol             core.Opt[any]    `json:"protocol"`       // a name or a number
	PortRangeMin         core.Opt[any]    `json:"port_range_min"` // a number, maybe as a text
	PortRangeMax         core.Opt[any]    `json:"port_range_max"`
	RemoteGroupID        core.Opt[string] `json:"remote_group_id"`
	RemoteAddressGroupID core.Opt[string] `json:"remote_address_group_id"`
	RemoteIPPrefix       core.Opt[string] `json:"remote_ip_prefix"`
	Description          core.Opt[string] `json:"description"`
}

// registerSecurityGroupRules serves the rules, which belong to their groups.
func (svc *Service) registerSecurityGroupRules(e core.Endpoint) {
	const base = "/v2.0/security-group-rules"
	k := &collection[SecurityGroupRule]{filters: core.NewFilters[SecurityGroupRule](matchOwn)}
	id := func(r *SecurityGroupRule) string { return r.ID }
	svc.Route(e, "GET "+base, func(q *core.Request) (core.Reply, error) {
		svc.beforeGroups(q)
		if unknown := k.filters.Unknown(q.Values); len(unknown) > 0 {
			return core.Reply{}, invalid("['%s'] is invalid attribute for filtering", strings.Join(unknown, "', '"))
		}
		var rows []*SecurityGroupRule
		for _, g := range svc.Groups.Rows {
			for i := range g.Rules {
				if q.Owns(g.ProjectID) && k.filters.Match(reflect.ValueOf(g.Rules[i]), q.Values) {
					rows = append(rows, &g.Rules[i])
				}
			}
		}
		core.SortRows(k.filters, rows, q.Values)
		part, err := core.Paginate(rows, id, q, svc.Config.PageSize)
		if err != nil {
			return core.Reply{}, err
		}
		return core.ListReply("security_group_rules", core.Copies(part.Rows), part.Links, q)
	})
	svc.Route(e, "GET "+base+"/{id}", func(q *core.Request) (core.Reply, error) {
		_, r, err := svc.findRule(q)
		if err != nil {
			return core.Reply{}, err
		}
		return core.OK(map[string]any{"security_group_rule": r})
	})
	svc.Route(e, "DELETE "+base+"/{id}", func(q *core.Request) (core.Reply, error) {
		g, r, err := svc.findRule(q)
		if err != nil {
			return core.Reply{}, err
		}
		g.Rules = core.Without(g.Rules, func(o SecurityGroupRule) bool { return o.ID == r.ID })
		delete(svc.groupOfRule, r.ID)
		svc.Touch(g.Base())
		return core.NoContent()
	})
	svc.Route(e, "POST "+base, svc.createRules)
}

func (svc *Service) findRule(q *core.Request) (*SecurityGroup, SecurityGroupRule, error) {
	id := q.Path("id")
	g := svc.Groups.Get(svc.groupOfRule[id])
	if g == nil {
		return nil, SecurityGroupRule{}, core.NotFound("SecurityGroupRuleNotFound", "Security group rule %s does not exist", id)
	}
	if !q.Owns(g.ProjectID) {
		return nil, SecurityGroupRule{}, core.NotFound("HTTPNotFound", "The resource could not be found.")
	}
	at := slices.IndexFunc(g.Rules, func(r SecurityGroupRule) bool { return r.ID == id })
	return g, g.Rules[at], nil
}

// createRules creates one rule or, all or none, several of one group.
func (svc *Service) createRules(q *core.Request) (core.Reply, error) {
	raws, isOne, err := rulesIn(q.Body)
	if err != nil {
		return core.Reply{}, err
	}
	var rules []*SecurityGroupRule
	for _, raw := range raws {
		r, err := svc.readRule(q, raw)
		if err != nil {
			return core.Reply{}, err
		}
		if len(rules) > 0 && rules[0].SecurityGroupID != r.SecurityGroupID {
			return core.Reply{}, core.BadRequest("SecurityGroupNotSingleGroupRules", "Only allowed to update rules for one security profile at a time")
		}
		rules = append(rules, r)
	}
	for _, r := range rules {
		if err := svc.checkRule(q, r); err != nil {
			return core.Reply{}, err
		}
	}
	group := svc.Groups.Get(rules[0].SecurityGroupID)
	if err := checkNew(group, rules); err != nil {
		return core.Reply{}, err
	}
	if err := svc.checkQuota(group.ProjectID, "security_group_rule", svc.ownRules(group.ProjectID), len(rules)); err != nil {
		return core.Reply{}, err
	}
	for _, r := range rules {
		svc.storeRule(group, r)
		svc.Touch(group.Base())
	}
	if isOne {
		return core.Created(map[string]any{"security_group_rule": *rules[0]})
	}
	return core.Created(map[string]any{"security_group_rules": core.Copies(rules)})
}

// rulesIn returns the rules in a request body, and whether it has a single one.
func rulesIn(body []byte) (raws []json.RawMessage, isOne bool, err error) {
	if one, isOne := core.Unwrap(body, "security_group_rule"); isOne {
		return []json.RawMessage{one}, true, nil
	}
	many, isMany := core.Unwrap(body, "security_group_rules")
	if !isMany || json.Unmarshal(many, &raws) != nil {
		return nil, false, core.BadRequest("HTTPBadRequest", "Unable to find 'security_group_rule' in request body")
	}
	if len(raws) == 0 {
		return nil, false, core.BadRequest("HTTPBadRequest", "Resources required")
	}
	return raws, false, nil
}

// readRule parses a rule, without validating the combination of its values.
func (svc *Service) readRule(q *core.Request, raw json.RawMessage) (*SecurityGroupRule, error) {
	projectID, raw, err := ownerOf(q, raw)
	if err != nil {
		return nil, err
	}
	var in ruleInput
	if err := decodeNeutron[SecurityGroupRule](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if !in.SecurityGroupID.Given() {
		return nil, required("security_group_id")
	}
	if !in.Direction.Given() {
		return nil, required("direction")
	}
	if in.Direction.Value != "ingress" && in.Direction.Value != "egress" {
		return nil, core.BadRequest("HTTPBadRequest", "Invalid input for direction. Reason: %s is not in valid_values.", in.Direction.Value)
	}
	r := &SecurityGroupRule{
		Standard: svc.newStandard(projectID, ""), Description: RuleText(in.Description.Value), SecurityGroupID: in.SecurityGroupID.Value, Direction: in.Direction.Value,
		RemoteGroupID: core.Null(in.RemoteGroupID.Value), RemoteAddressGroupID: core.Null(in.RemoteAddressGroupID.Value),
	}
	return r, in.convert(r)
}

// convert converts the values of a rule to the form in which Neutron stores them.
func (in *ruleInput) convert(r *SecurityGroupRule) error {
	var err error
	if r.Protocol, err = protocolOf(in.Protocol); err != nil {
		return err
	}
	if r.PortRangeMin, err = portOf(in.PortRangeMin); err != nil {
		return err
	}
	if r.PortRangeMax, err = portOf(in.PortRangeMax); err != nil {
		return err
	}
	if r.EtherType, err = etherType(in.EtherType.Or("IPv4")); err != nil {
		return err
	}
	r.RemoteIPPrefix, r.NormalizedCIDR, err = prefixesIn(in.RemoteIPPrefix.Value)
	return err
}

// checkRule makes all of Neutron's checks of a rule, except whether it is new in its group.
func (svc *Service) checkRule(q *core.Request, r *SecurityGroupRule) error {
	r.canonical()
	for _, check := range []func(*SecurityGroupRule) error{checkPorts, checkFamily, checkOneRemote} {
		if err := check(r); err != nil {
			return err
		}
	}
	if remote := svc.Groups.Get(string(r.RemoteGroupID)); r.RemoteGroupID != "" && (remote == nil || !q.Owns(remote.ProjectID) && !remote.Shared) {
		return groupNotFound(string(r.RemoteGroupID))
	}
	if g := svc.Groups.Get(r.SecurityGroupID); g == nil || !q.Owns(g.ProjectID) {
		return groupNotFound(r.SecurityGroupID)
	}
	return nil
}

// checkNew requires that rules differ from each other and from their group's.
func checkNew(g *SecurityGroup, rules []*SecurityGroupRule) error {
	for i, r := range rules {
		if slices.ContainsFunc(rules[:i], func(o *SecurityGroupRule) bool { return sameRule(o, r) }) {
			return core.Conflict("DuplicateSecurityGroupRuleInPost", "Duplicate Security Group Rule in POST.")
		}
	}
	for _, have := range g.Rules {
		if slices.ContainsFunc(rules, func(r *SecurityGroupRule) bool { return sameRule(&have, r) }) {
			return core.Conflict("SecurityGroupRuleExists", "Security group rule already exists. Rule id is %s.", have.ID)
		}
	}
	return nil
}

// sameRule reports whether Neutron considers two rules of a group equal. Descriptions are ignored, and a prefix of length 0 equals none; but a prefix
// with host bits does not equal one without.
func sameRule(a, b *SecurityGroupRule) bool {
	remote := func(r *SecurityGroupRule) core.Null {
		if r.RemoteIPPrefix == "0.0.0.0/0" || r.RemoteIPPrefix == "::/0" {
			return ""
		}
		return r.RemoteIPPrefix
	}
	return a.SecurityGroupID == b.SecurityGroupID && a.Direction == b.Direction && a.EtherType == b.EtherType &&
		a.protocolNumber() == b.protocolNumber() && a.PortRangeMin == b.PortRangeMin && a.PortRangeMax == b.PortRangeMax &&
		a.RemoteGroupID == b.RemoteGroupID && a.RemoteAddressGroupID == b.RemoteAddressGroupID && remote(a) == remote(b)
}
