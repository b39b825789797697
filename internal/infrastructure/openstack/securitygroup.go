package openstack

import (
	"context"
	"fmt"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// ensureGroup uses the given security group, the shoot's own, or creates one.
func (rec *reconciliation) ensureGroup(ctx context.Context) error {
	wanted, observed := rec.plan.group, rec.observed.group
	if observed == nil {
		created, err := rec.cloud.CreateSecurityGroup(ctx, cloudopenstack.SecurityGroupCreate{Name: wanted.name, Description: rec.mark})
		if err != nil {
			rec.recordFailedCreate(kindSecurityGroup, err)
			return fmt.Errorf("creating security group %q: %w", wanted.name, err)
		}
		rec.log.Info("Created security group", "id", created.ID)
		observed = &created
	}
	rec.secGroup = *observed
	rec.recordResource(kindSecurityGroup, observed.ID, ownerOf(wanted.givenID), map[string]string{openstackv1alpha1.StateKeySecurityGroupName: observed.Name})
	return nil
}

// ensureRules adds the missing rules in one request and removes those of Gardener that are not wanted any more. The rules of a given group are only checked.
func (rec *reconciliation) ensureRules(ctx context.Context) error {
	group := rec.secGroup
	changes := diffRules(rec.wantedRules(group.ID), group.Rules)
	if rec.plan.group.givenID != "" {
		for _, rule := range changes.create {
			rec.addFindings(fmt.Sprintf("security group %s lacks a rule that nodes need: %s", group.ID, describeRule(rule)))
		}
		return nil
	}
	for _, rule := range changes.unmanaged {
		rec.addFindings(fmt.Sprintf("security group %s has a rule that is not Gardener's: %s (%s)", group.ID, describeRule(rule), rule.ID))
	}
	for _, rule := range changes.formerPodRanges {
		rec.addFindings(fmt.Sprintf("security group %s still lets in a pod range that is not routed natively any more: %s (%s); "+
			"remove the rule when no node is left that routes", group.ID, describeRule(rule), rule.ID))
	}
	if len(changes.create) > 0 {
		if _, err := rec.cloud.CreateSecurityGroupRules(ctx, changes.create); err != nil {
			return fmt.Errorf("adding rules to security group %s: %w", group.ID, err)
		}
		rec.log.Info("Added security group rules", "group", group.ID, "count", len(changes.create))
	}
	for _, rule := range changes.remove {
		if err := rec.cloud.DeleteSecurityGroupRule(ctx, rule.ID); err != nil && !cloud.IsNotFound(err) {
			return fmt.Errorf("removing rule %s (%s) from security group %s: %w", rule.ID, describeRule(rule), group.ID, err)
		}
		rec.log.Info("Removed security group rule", "group", group.ID, "rule", describeRule(rule))
	}
	return nil
}
