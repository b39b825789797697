package openstack

import (
	"context"
	"errors"
	"net/http"
	"net/url"
)

// SecurityGroup is a Neutron security group with its rules.
type SecurityGroup struct {
	ID             string              `json:"id"`
	Name           string              `json:"name"`
	Description    string              `json:"description"`
	ProjectID      string              `json:"project_id"`
	Rules          []SecurityGroupRule `json:"security_group_rules"`
	Tags           []string            `json:"tags"`
	RevisionNumber int                 `json:"revision_number"`
}

// SecurityGroupCreate is the request for a new security group. Neutron adds two egress rules (IPv4 and IPv6).
type SecurityGroupCreate struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
}

// SecurityGroupUpdate changes fields that are not nil.
type SecurityGroupUpdate struct {
	Name        *string `json:"name,omitempty"`
	Description *string `json:"description,omitempty"`
}

// SecurityGroupFilter selects security groups; all given criteria must match. IDs is a set: any of them.
type SecurityGroupFilter struct {
	IDs               []string
	Name, Description string
}

// SecurityGroupRule is a rule of a security group. An empty Protocol, RemoteGroupID or RemoteIPPrefix means any; PortMin
// and PortMax are 0 for any port.
type SecurityGroupRule struct {
	ID              string `json:"id,omitempty"`
	SecurityGroupID string `json:"security_group_id"`
	Description     string `json:"description,omitempty"`
	Direction       string `json:"direction"`          // ingress or egress
	EtherType       string `json:"ethertype"`          // IPv4 or IPv6
	Protocol        string `json:"protocol,omitempty"` // tcp, udp, icmp, ...
	PortMin         int    `json:"port_range_min,omitempty"`
	PortMax         int    `json:"port_range_max,omitempty"`
	RemoteGroupID   string `json:"remote_group_id,omitempty"`
	RemoteIPPrefix  string `json:"remote_ip_prefix,omitempty"`
}

func (s *Session) securityGroups() resource[SecurityGroup] {
	return resource[SecurityGroup]{
		session: s, service: networkService, path: "security-groups", singular: "security_group", plural: "security_groups",
	}
}

func (s *Session) securityGroupRules() resource[SecurityGroupRule] {
	return resource[SecurityGroupRule]{
		session: s, service: networkService,
		path: "security-group-rules", singular: "security_group_rule", plural: "security_group_rules",
	}
}

// ListSecurityGroups returns the security groups that match the filter, with their rules.
func (s *Session) ListSecurityGroups(ctx context.Context, filter SecurityGroupFilter) ([]SecurityGroup, error) {
	return s.securityGroups().list(ctx, filter)
}

// CreateSecurityGroup creates a security group. The response contains the egress rules that Neutron adds.
func (s *Session) CreateSecurityGroup(ctx context.Context, group SecurityGroupCreate) (SecurityGroup, error) {
	return s.securityGroups().create(ctx, group)
}

// UpdateSecurityGroup changes a security group and returns the changed one.
func (s *Session) UpdateSecurityGroup(ctx context.Context, id string, update SecurityGroupUpdate) (SecurityGroup, error) {
	return s.securityGroups().update(ctx, id, update, nil)
}

// DeleteSecurityGroup deletes a security group with its rules. It fails with cloud.NotFound when there is none, and with
// cloud.InUse while a port has it.
func (s *Session) DeleteSecurityGroup(ctx context.Context, id string) error {
	return s.securityGroups().remove(ctx, id, nil)
}

// CreateSecurityGroupRules creates all the rules in one call and returns the created ones. If the cloud rejects
// that call, it creates each rule on its own; an existing rule is then accepted, but is not in the result.
func (s *Session) CreateSecurityGroupRules(ctx context.Context, rules []SecurityGroupRule) ([]SecurityGroupRule, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	var response struct {
		Rules []SecurityGroupRule `json:"security_group_rules"`
	}
	err := s.do(ctx, call{
		service: networkService, method: http.MethodPost, path: s.securityGroupRules().path,
		body: map[string]any{"security_group_rules": rules}, response: &response,
	})
	if err != nil && shouldCreateIndividually(err) {
		return s.createRulesIndividually(ctx, rules)
	}
	return response.Rules, err
}

// DeleteSecurityGroupRule deletes one rule. It fails with cloud.NotFound when there is none.
func (s *Session) DeleteSecurityGroupRule(ctx context.Context, id string) error {
	return s.securityGroupRules().remove(ctx, id, nil)
}

// shouldCreateIndividually reports whether a bulk call was rejected as a whole: because it is one (400, 405, 501), or because of a
// single rule, which only single calls can identify or skip.
func shouldCreateIndividually(err error) bool {
	fault, ok := errors.AsType[*ResponseError](err)
	if !ok {
		return false
	}
	switch fault.Status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	default:
		return fault.Type == faultRuleExists
	}
}

func (s *Session) createRulesIndividually(ctx context.Context, rules []SecurityGroupRule) ([]SecurityGroupRule, error) {
	var created []SecurityGroupRule
	for _, rule := range rules {
		done, err := s.securityGroupRules().create(ctx, rule)
		if fault, ok := errors.AsType[*ResponseError](err); ok && fault.Type == faultRuleExists {
			continue
		}
		if err != nil {
			return created, err
		}
		created = append(created, done)
	}
	return created, nil
}

func (f SecurityGroupFilter) query() url.Values {
	q := query{}
	q.any("id", f.IDs)
	q.text("name", f.Name)
	q.text("description", f.Description)
	return url.Values(q)
}

func (f SecurityGroupFilter) matches(g SecurityGroup) bool {
	return emptyOrContains(f.IDs, g.ID) && emptyOrEqual(f.Name, g.Name) && emptyOrEqual(f.Description, g.Description)
}
