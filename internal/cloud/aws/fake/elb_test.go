package fake_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// balancer adds a load balancer in a new VPC and returns its name or ARN, and its subnet and group.
func (a *account) balancer(kind fake.LoadBalancer) (id, subnet, group string) {
	a.t.Helper()
	v := a.vpc()
	subnet, group = a.subnet(v, "10.250.0.0/24"), a.group(v, "k8s-elb-a1")
	kind.Subnets, kind.Groups, kind.Tags = []string{subnet}, []string{group}, map[string]string{"kubernetes.io/cluster/shoot": "owned"}
	id, err := a.AddLoadBalancer(kind)
	require.NoError(a.t, err)
	return id, subnet, group
}

func TestLoadBalancers(t *testing.T) {
	const classicReference = "https://docs.aws.amazon.com/elasticloadbalancing/2012-06-01/APIReference/"
	const v2Reference = "https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/"
	testBehaviours(t, map[string]behaviour{
		"a classic load balancer is found by its tags, and deleted any number of times": {
			source: classicReference + "API_DeleteLoadBalancer.html",
			check: func(t *testing.T, a *account) {
				id, _, group := a.balancer(fake.LoadBalancer{Type: fake.Classic, Name: "a1"})
				shown := a.do("elb:DescribeLoadBalancers")
				assert.Equal(t, []string{"a1"}, shown.texts("DescribeLoadBalancersResult/LoadBalancerDescriptions/member/LoadBalancerName"))
				assert.Equal(t, []string{group}, shown.texts("DescribeLoadBalancersResult/LoadBalancerDescriptions/member/SecurityGroups/member"))
				tags := a.do("elb:DescribeTags", "LoadBalancerNames.member.1", id)
				assert.Equal(t, []string{"owned"}, tags.texts("DescribeTagsResult/TagDescriptions/member/Tags/member/Value"))
				assert.Empty(t, a.do("elbv2:DescribeLoadBalancers").texts("DescribeLoadBalancersResult/LoadBalancers/member/LoadBalancerName"))
				a.do("elb:DeleteLoadBalancer", "LoadBalancerName", id)
				a.do("elb:DeleteLoadBalancer", "LoadBalancerName", id)
				a.fails("LoadBalancerNotFound", "elb:DescribeTags", "LoadBalancerNames.member.1", id)
				a.fails("LoadBalancerNotFound", "elb:DescribeLoadBalancers", "LoadBalancerNames.member.1", id)
			},
		},
		"the interfaces of a deleted load balancer hold its subnet and group for a time": {
			source:  "https://github.com/kubernetes/cloud-provider-aws waits for that when it deletes the group",
			options: []fake.Option{fake.WithTransition(fake.LoadBalancerDelete, fake.Transition{Reads: 1})},
			check: func(t *testing.T, a *account) {
				id, subnet, group := a.balancer(fake.LoadBalancer{Type: fake.Classic, Name: "a1"})
				a.do("elb:DeleteLoadBalancer", "LoadBalancerName", id)
				a.fails("DependencyViolation", "DeleteSubnet", "SubnetId", subnet)
				a.fails("DependencyViolation", "DeleteSecurityGroup", "GroupId", group)
				shown := a.do("DescribeNetworkInterfaces", filter(1, "subnet-id", subnet)...)
				assert.Equal(t, []string{"ELB a1"}, shown.texts("networkInterfaceSet/item/description"))
				a.do("DeleteSubnet", "SubnetId", subnet)
				a.do("DeleteSecurityGroup", "GroupId", group)
			},
		},
		"a network load balancer is found by its tags, and its target group is deleted after it": {
			source: v2Reference + "API_DeleteTargetGroup.html",
			check: func(t *testing.T, a *account) {
				arn, subnet, _ := a.balancer(fake.LoadBalancer{Type: fake.Network, Name: "a2"})
				shown := a.do("elbv2:DescribeLoadBalancers")
				assert.Equal(t, []string{arn}, shown.texts("DescribeLoadBalancersResult/LoadBalancers/member/LoadBalancerArn"))
				assert.Equal(t, []string{"network"}, shown.texts("DescribeLoadBalancersResult/LoadBalancers/member/Type"))
				i := a.do("DescribeNetworkInterfaces", filter(1, "subnet-id", subnet)...)
				assert.Contains(t, i.text("networkInterfaceSet/item/description"), "ELB net/a2/")
				assert.Equal(t, "network_load_balancer", i.text("networkInterfaceSet/item/interfaceType"))
				targets := a.do("elbv2:DescribeTargetGroups", "LoadBalancerArn", arn).text("DescribeTargetGroupsResult/TargetGroups/member/TargetGroupArn")
				tags := a.do("elbv2:DescribeTags", "ResourceArns.member.1", arn, "ResourceArns.member.2", targets)
				assert.Equal(t, []string{"owned", "owned"}, tags.texts("DescribeTagsResult/TagDescriptions/member/Tags/member/Value"))
				a.fails("ResourceInUse", "elbv2:DeleteTargetGroup", "TargetGroupArn", targets)
				a.do("elbv2:DeleteLoadBalancer", "LoadBalancerArn", arn)
				a.do("elbv2:DeleteLoadBalancer", "LoadBalancerArn", arn)
				a.fails("LoadBalancerNotFound", "elbv2:DescribeTags", "ResourceArns.member.1", arn)
				a.do("elbv2:DeleteTargetGroup", "TargetGroupArn", targets)
				a.do("elbv2:DeleteTargetGroup", "TargetGroupArn", targets)
				a.fails("TargetGroupNotFound", "elbv2:DescribeTags", "ResourceArns.member.1", targets)
			},
		},
		"load balancers come in pages": {
			source: v2Reference + "API_DescribeLoadBalancers.html",
			check: func(t *testing.T, a *account) {
				subnet := a.subnet(a.vpc(), "10.250.0.0/24")
				for _, name := range []string{"a1", "a2", "a3"} {
					_, err := a.AddLoadBalancer(fake.LoadBalancer{Type: fake.Application, Name: name, Subnets: []string{subnet}})
					require.NoError(t, err)
				}
				first := a.do("elbv2:DescribeLoadBalancers", "PageSize", "2")
				assert.Equal(t, []string{"a1", "a2"}, first.texts("DescribeLoadBalancersResult/LoadBalancers/member/LoadBalancerName"))
				second := a.do("elbv2:DescribeLoadBalancers", "PageSize", "2", "Marker", first.text("DescribeLoadBalancersResult/NextMarker"))
				assert.Equal(t, []string{"a3"}, second.texts("DescribeLoadBalancersResult/LoadBalancers/member/LoadBalancerName"))
				assert.Empty(t, second.texts("DescribeLoadBalancersResult/NextMarker"))
				a.fails("LoadBalancerNotFound", "elbv2:DescribeLoadBalancers", "Names.member.1", "a4")
			},
		},
	})
}
