package openstack

import (
	"context"
	"fmt"
	"slices"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// ensureGroup uses the given security group, the shoot's own, or creates one.
func (p *pass) ensureGroup(ctx context.Context) error {
	wanted, seen := p.plan.group, p.seen.group
	if seen == nil {
		created, err := p.cloud.CreateSecurityGroup(ctx, cloudopenstack.SecurityGroupCreate{Name: wanted.name, Description: p.mark})
		if err != nil {
			p.notCreated(kindSecurityGroup, err)
			return fmt.Errorf("creating security group %q: %w", wanted.name, err)
		}
		p.log.Info("Created security group", "id", created.ID)
		seen = &created
	}
	p.secGroup = *seen
	p.hold(kindSecurityGroup, seen.ID, ownerOf(wanted.givenID), map[string]string{openstackv1alpha1.StateKeySecurityGroupName: seen.Name})
	return nil
}

// ensureRules adds the missing rules in one request and removes those that Gardener added once and no longer wants. The
// rules of a given group are looked at and left alone.
func (p *pass) ensureRules(ctx context.Context) error {
	wanted := p.plan.group
	if wanted.routesPods {
		ipv6 := present(p.ledger.fact(openstackv1alpha1.StateKeyPodSubnetIPv6CIDR))
		wanted.podRanges = slices.Concat(wanted.podRanges, ipv6)
	}
	group := p.secGroup
	changes := diffRules(wantedRules(wanted, group.ID), group.Rules)
	if wanted.givenID != "" {
		for _, rule := range changes.create {
			p.report(fmt.Sprintf("security group %s lacks a rule that nodes need: %s", group.ID, describeRule(rule)))
		}
		return nil
	}
	for _, rule := range changes.foreign {
		p.report(fmt.Sprintf("security group %s has a rule that is not Gardener's: %s (%s)", group.ID, describeRule(rule), rule.ID))
	}
	for _, rule := range changes.former {
		p.report(fmt.Sprintf("security group %s still lets in a pod range that is not routed natively any more: %s (%s); "+
			"remove the rule when no node is left that routes", group.ID, describeRule(rule), rule.ID))
	}
	if len(changes.create) > 0 {
		if _, err := p.cloud.CreateSecurityGroupRules(ctx, changes.create); err != nil {
			return fmt.Errorf("adding rules to security group %s: %w", group.ID, err)
		}
		p.log.Info("Added security group rules", "group", group.ID, "count", len(changes.create))
	}
	for _, rule := range changes.remove {
		if err := p.cloud.DeleteSecurityGroupRule(ctx, rule.ID); err != nil && !cloud.IsNotFound(err) {
			return fmt.Errorf("removing rule %s (%s) from security group %s: %w", rule.ID, describeRule(rule), group.ID, err)
		}
		p.log.Info("Removed security group rule", "group", group.ID, "rule", describeRule(rule))
	}
	return nil
}
