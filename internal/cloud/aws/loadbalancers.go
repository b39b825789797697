package aws

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// LoadBalancer is a load balancer of either version: a classic one, or an application or network load balancer.
type LoadBalancer struct {
	// ARN identifies a load balancer of the second version; it is empty for a classic one, which its Name identifies.
	ARN, Name, VPCID string
	Tags             Tags
}

// TargetGroup is what a load balancer of the second version sends connections to.
type TargetGroup struct {
	ARN, Name, VPCID string
	// LoadBalancerARNs are those that use it.
	LoadBalancerARNs []string
	Tags             Tags
}

// The limits of one request: names or ARNs in DescribeTags, and load balancers in a page.
const (
	maxDescribedTags = 20
	loadBalancerPage = 400
)

func elbOperation(service, name string, e effect) operation {
	return operation{service: service, name: name, effect: e}
}

// ListLoadBalancers returns the load balancers of both versions in a VPC, with their tags: one request for each version and page, and one for the tags of 20.
func (s *Session) ListLoadBalancers(ctx context.Context, vpcID string) ([]LoadBalancer, error) {
	classic, err := s.listClassic(ctx, vpcID)
	if err != nil {
		return nil, err
	}
	second, err := s.listSecond(ctx, vpcID)
	return slices.Concat(classic, second), err
}

func (s *Session) listClassic(ctx context.Context, vpcID string) ([]LoadBalancer, error) {
	all, err := listAll(ctx, s, elbOperation("elasticloadbalancing", "DescribeLoadBalancers", reads), s.elb.DescribeLoadBalancers,
		func(token *string) *elasticloadbalancing.DescribeLoadBalancersInput {
			return &elasticloadbalancing.DescribeLoadBalancersInput{Marker: token, PageSize: aws.Int32(loadBalancerPage)}
		}, func(page *elasticloadbalancing.DescribeLoadBalancersOutput) ([]LoadBalancer, *string) {
			return convert(page.LoadBalancerDescriptions, classicOf), page.NextMarker
		})
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(all, func(one LoadBalancer) bool { return one.VPCID != vpcID })
	return found, s.readClassicTags(ctx, found)
}

func classicOf(b *elbtypes.LoadBalancerDescription) LoadBalancer {
	return LoadBalancer{Name: aws.ToString(b.LoadBalancerName), VPCID: aws.ToString(b.VPCId)}
}

func (s *Session) readClassicTags(ctx context.Context, balancers []LoadBalancer) error {
	byName := map[string]*LoadBalancer{}
	names := make([]string, 0, len(balancers))
	for i := range balancers {
		byName[balancers[i].Name] = &balancers[i]
		names = append(names, balancers[i].Name)
	}
	for chunk := range slices.Chunk(names, maxDescribedTags) {
		output, err := invoke(ctx, s, elbOperation("elasticloadbalancing", "DescribeTags", reads), s.elb.DescribeTags, &elasticloadbalancing.DescribeTagsInput{
			LoadBalancerNames: chunk,
		})
		if err != nil {
			return err
		}
		for i := range output.TagDescriptions {
			if one := byName[aws.ToString(output.TagDescriptions[i].LoadBalancerName)]; one != nil {
				one.Tags = elbTagsOf(output.TagDescriptions[i].Tags)
			}
		}
	}
	return nil
}

func (s *Session) listSecond(ctx context.Context, vpcID string) ([]LoadBalancer, error) {
	all, err := listAll(ctx, s, elbOperation("elasticloadbalancingv2", "DescribeLoadBalancers", reads), s.elbv2.DescribeLoadBalancers,
		func(token *string) *elasticloadbalancingv2.DescribeLoadBalancersInput {
			return &elasticloadbalancingv2.DescribeLoadBalancersInput{Marker: token, PageSize: aws.Int32(loadBalancerPage)}
		}, func(page *elasticloadbalancingv2.DescribeLoadBalancersOutput) ([]LoadBalancer, *string) {
			return convert(page.LoadBalancers, secondOf), page.NextMarker
		})
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(all, func(one LoadBalancer) bool { return one.VPCID != vpcID })
	arns := make([]string, 0, len(found))
	for i := range found {
		arns = append(arns, found[i].ARN)
	}
	tags, err := s.tagsByARN(ctx, arns)
	for i := range found {
		found[i].Tags = tags[found[i].ARN]
	}
	return found, err
}

func secondOf(b *elbv2types.LoadBalancer) LoadBalancer {
	return LoadBalancer{ARN: aws.ToString(b.LoadBalancerArn), Name: aws.ToString(b.LoadBalancerName), VPCID: aws.ToString(b.VpcId)}
}

// tagsByARN returns the tags of resources of the second version.
func (s *Session) tagsByARN(ctx context.Context, arns []string) (map[string]Tags, error) {
	all := map[string]Tags{}
	for chunk := range slices.Chunk(arns, maxDescribedTags) {
		output, err := invoke(ctx, s, elbOperation("elasticloadbalancingv2", "DescribeTags", reads), s.elbv2.DescribeTags, &elasticloadbalancingv2.DescribeTagsInput{
			ResourceArns: chunk,
		})
		if err != nil {
			return nil, err
		}
		for i := range output.TagDescriptions {
			all[aws.ToString(output.TagDescriptions[i].ResourceArn)] = elbv2TagsOf(output.TagDescriptions[i].Tags)
		}
	}
	return all, nil
}

// ListTargetGroups returns the target groups in a VPC, with their tags.
func (s *Session) ListTargetGroups(ctx context.Context, vpcID string) ([]TargetGroup, error) {
	all, err := listAll(ctx, s, elbOperation("elasticloadbalancingv2", "DescribeTargetGroups", reads), s.elbv2.DescribeTargetGroups,
		func(token *string) *elasticloadbalancingv2.DescribeTargetGroupsInput {
			return &elasticloadbalancingv2.DescribeTargetGroupsInput{Marker: token, PageSize: aws.Int32(loadBalancerPage)}
		}, func(page *elasticloadbalancingv2.DescribeTargetGroupsOutput) ([]TargetGroup, *string) {
			return convert(page.TargetGroups, targetGroupOf), page.NextMarker
		})
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(all, func(one TargetGroup) bool { return one.VPCID != vpcID })
	arns := make([]string, 0, len(found))
	for i := range found {
		arns = append(arns, found[i].ARN)
	}
	tags, err := s.tagsByARN(ctx, arns)
	for i := range found {
		found[i].Tags = tags[found[i].ARN]
	}
	return found, err
}

func targetGroupOf(g *elbv2types.TargetGroup) TargetGroup {
	return TargetGroup{
		ARN: aws.ToString(g.TargetGroupArn), Name: aws.ToString(g.TargetGroupName), VPCID: aws.ToString(g.VpcId), LoadBalancerARNs: g.LoadBalancerArns,
	}
}

// DeleteLoadBalancer deletes a load balancer of either version. One that does not exist is no error. Its interfaces vanish some seconds later.
func (s *Session) DeleteLoadBalancer(ctx context.Context, balancer LoadBalancer) error {
	if balancer.ARN == "" {
		_, err := invoke(ctx, s, elbOperation("elasticloadbalancing", "DeleteLoadBalancer", settles), s.elb.DeleteLoadBalancer,
			&elasticloadbalancing.DeleteLoadBalancerInput{LoadBalancerName: aws.String(balancer.Name)})
		return err
	}
	_, err := invoke(ctx, s, elbOperation("elasticloadbalancingv2", "DeleteLoadBalancer", settles), s.elbv2.DeleteLoadBalancer,
		&elasticloadbalancingv2.DeleteLoadBalancerInput{LoadBalancerArn: aws.String(balancer.ARN)})
	return err
}

// DeleteTargetGroup deletes a target group. It fails with cloud.InUse while a load balancer uses it.
func (s *Session) DeleteTargetGroup(ctx context.Context, arn string) error {
	_, err := invoke(ctx, s, elbOperation("elasticloadbalancingv2", "DeleteTargetGroup", settles), s.elbv2.DeleteTargetGroup,
		&elasticloadbalancingv2.DeleteTargetGroupInput{TargetGroupArn: aws.String(arn)})
	return err
}

func elbTagsOf(tags []elbtypes.Tag) Tags {
	all := Tags{}
	for _, tag := range tags {
		all[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return all
}

func elbv2TagsOf(tags []elbv2types.Tag) Tags {
	all := Tags{}
	for _, tag := range tags {
		all[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return all
}
