package aws

import (
	"context"
	"fmt"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/contract"
)

// removeLoadBalancers deletes the load balancers, target groups and security groups that a cloud-controller-manager or a controller for load balancers made
// for Services and left. They have the tag of the cluster with the value for what the cluster owns.
func (rec *reconciliation) removeLoadBalancers(ctx context.Context) error {
	vpcID := rec.toDelete.vpcID
	if vpcID == "" {
		return nil
	}
	var balancers []cloudaws.LoadBalancer
	var groups []cloudaws.SecurityGroup
	err := contract.InParallel(
		func() (err error) {
			balancers, err = rec.cloud.ListLoadBalancers(ctx, vpcID)
			return wrap(err, "reading load balancers")
		},
		func() (err error) {
			groups, err = rec.cloud.ListSecurityGroups(ctx, cloudaws.Filter{VPCID: vpcID, TagKeys: []string{rec.plan.clusterTag()}})
			return wrap(err, "reading security groups of load balancers")
		},
	)
	if err != nil {
		return err
	}
	if err := rec.removeOwnBalancers(ctx, balancers); err != nil {
		return err
	}
	for _, group := range groups {
		isNodes := group.ID == rec.state.ID(kindNodesGroup) || group.Name == rec.plan.nodesName()
		if rec.plan.owns(group.Tags) && !isNodes && !rec.isGiven(group.ID) {
			rec.toDelete.leftGroups = append(rec.toDelete.leftGroups, group)
		}
	}
	return nil
}

// removeOwnBalancers deletes the shoot's load balancers and their target groups.
func (rec *reconciliation) removeOwnBalancers(ctx context.Context, balancers []cloudaws.LoadBalancer) error {
	hadSecond := rec.state.Fact(keyTargetGroups) != ""
	var steps []func() error
	for _, balancer := range balancers {
		if !rec.plan.owns(balancer.Tags) {
			continue
		}
		hadSecond = hadSecond || balancer.ARN != ""
		steps = append(steps, func() error {
			return wrap(rec.cloud.DeleteLoadBalancer(ctx, balancer), "deleting load balancer "+balancer.Name)
		})
	}
	if hadSecond {
		if err := rec.saveTargetGroups(ctx); err != nil {
			return err
		}
	}
	if err := contract.InParallel(steps...); err != nil {
		return err
	}
	if !hadSecond {
		return nil
	}
	return rec.removeTargetGroups(ctx, rec.toDelete.vpcID)
}

// saveTargetGroups saves, before load balancers are deleted, that their target groups have to be. Without the load balancers nothing tells that there are some.
func (rec *reconciliation) saveTargetGroups(ctx context.Context) error {
	rec.saving.Lock()
	defer rec.saving.Unlock()
	if rec.state.Fact(keyTargetGroups) != "" {
		return nil
	}
	rec.state.SetFact(keyTargetGroups, "true")
	return wrap(rec.recorder.RecordIntent(ctx, rec.state.infrastructureState()), "saving that target groups are about to be deleted")
}

// removeTargetGroups waits until the deleted load balancers release their target groups.
func (rec *reconciliation) removeTargetGroups(ctx context.Context, vpcID string) error {
	groups, err := rec.cloud.ListTargetGroups(ctx, vpcID)
	if err != nil {
		return fmt.Errorf("reading target groups: %w", err)
	}
	for _, group := range groups {
		if !rec.plan.owns(group.Tags) {
			continue
		}
		err := contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
			err := rec.cloud.DeleteTargetGroup(ctx, group.ARN)
			if cloud.KindOf(err) == cloud.InUse {
				return fmt.Sprintf("target group %s is in use", group.Name), nil
			}
			return "", ignoreMissing(err, "deleting target group "+group.Name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// removeGroups deletes the security groups of load balancers and of nodes. Their rules name each other, so the rules go first.
func (rec *reconciliation) removeGroups(ctx context.Context) error {
	ids := rec.toDelete.groups
	if len(rec.toDelete.leftGroups) > 0 {
		if err := rec.removeMutualRules(ctx); err != nil {
			return err
		}
		for _, group := range rec.toDelete.leftGroups {
			ids = append(ids, group.ID)
		}
	}
	return rec.removeEach(ctx, "security group", ids, rec.cloud.DeleteSecurityGroup)
}

func (rec *reconciliation) removeMutualRules(ctx context.Context) error {
	groups := rec.toDelete.leftGroups
	if len(rec.toDelete.groups) > 0 {
		nodes, err := rec.cloud.ListSecurityGroups(ctx, cloudaws.Filter{IDs: rec.toDelete.groups})
		if err != nil {
			return fmt.Errorf("reading the security group of nodes: %w", err)
		}
		groups = append(groups, nodes...)
	}
	for _, group := range groups {
		var mutual []cloudaws.Rule
		for _, rule := range group.Rules {
			if rule.GroupID != "" && rule.GroupID != group.ID {
				mutual = append(mutual, rule)
			}
		}
		if err := ignoreMissing(rec.cloud.RemoveRules(ctx, group.ID, mutual), "removing rules of security group "+group.ID); err != nil {
			return err
		}
	}
	return nil
}
