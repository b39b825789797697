package fake_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const (
	networkPath = "CreateLoadBalancerResult/LoadBalancers/member/"
	targetsPath = "CreateTargetGroupResult/TargetGroups/member/"
	healthPath  = "DescribeTargetHealthResult/TargetHealthDescriptions/member/"
)

// network creates a network load balancer n1 in a new VPC, and returns its ARN and what an instance there needs.
func (a *account) network() (string, launch) {
	a.t.Helper()
	l := a.launchpad()
	created := a.do("elbv2:CreateLoadBalancer", "Name", "n1", "Type", "network", "SubnetMappings.member.1.SubnetId", l.subnet,
		"Tags.member.1.Key", "team", "Tags.member.1.Value", "web")
	return created.text(networkPath + "LoadBalancerArn"), l
}

// targetGroup creates a target group and returns its ARN.
func (a *account) targetGroup(l launch, name string, more ...string) string {
	a.t.Helper()
	return a.do("elbv2:CreateTargetGroup", with([]string{"Name", name, "Protocol", "TCP", "Port", "30080", "VpcId", l.vpc, "TargetType", "instance"}, more...)...).
		text(targetsPath + "TargetGroupArn")
}

func TestNetworkLoadBalancers(t *testing.T) {
	const pages = "https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_"
	listen := func(balancer, group, port string) []string {
		return []string{
			"LoadBalancerArn", balancer, "Port", port, "Protocol", "TCP", "DefaultActions.member.1.Type", "forward", "DefaultActions.member.1.TargetGroupArn", group,
		}
	}
	testBehaviours(t, map[string]behaviour{
		"a network load balancer is made once by its name, with its tags": {
			source: pages + "CreateLoadBalancer.html",
			check: func(t *testing.T, a *account) {
				arn, l := a.network()
				shown := a.do("elbv2:DescribeLoadBalancers", "Names.member.1", "n1")
				assert.Equal(t, []string{arn}, shown.texts("DescribeLoadBalancersResult/LoadBalancers/member/LoadBalancerArn"))
				assert.Equal(t, []string{l.subnet}, shown.texts("DescribeLoadBalancersResult/LoadBalancers/member/AvailabilityZones/member/SubnetId"))
				assert.Equal(t, []string{"web"}, a.do("elbv2:DescribeTags", "ResourceArns.member.1", arn).texts("DescribeTagsResult/TagDescriptions/member/Tags/member/Value"))
				a.fails("DuplicateLoadBalancerName", "elbv2:CreateLoadBalancer", "Name", "n1", "Type", "network", "Subnets.member.1", l.subnet)
				a.fails("SubnetNotFound", "elbv2:CreateLoadBalancer", "Name", "n2", "Type", "network", "Subnets.member.1", "subnet-1")
			},
		},
		"a target group has the port and the health check of the request, and defaults": {
			source: pages + "CreateTargetGroup.html",
			check: func(t *testing.T, a *account) {
				_, l := a.network()
				arn := a.targetGroup(l, "t1", "HealthCheckPort", "10256")
				shown := a.do("elbv2:DescribeTargetGroups", "TargetGroupArns.member.1", arn)
				const path = "DescribeTargetGroupsResult/TargetGroups/member/"
				for member, want := range map[string]string{
					"Port": "30080", "HealthCheckPort": "10256", "HealthCheckIntervalSeconds": "30", "HealthCheckTimeoutSeconds": "10",
					"HealthyThresholdCount": "5", "TargetType": "instance",
				} {
					assert.Equal(t, want, shown.text(path+member), member)
				}
				timeout := func(name string, more ...string) string {
					a.targetGroup(l, name, more...)
					return a.do("elbv2:DescribeTargetGroups", "Names.member.1", name).text(path + "HealthCheckTimeoutSeconds")
				}
				assert.Equal(t, "6", timeout("t2", "Protocol", "HTTP"))
				assert.Equal(t, "10", timeout("t3", "Protocol", "TLS"))
				assert.Equal(t, "7", timeout("t4", "HealthCheckTimeoutSeconds", "7"))
				a.fails("ValidationError", "elbv2:CreateTargetGroup", "Name", "t5", "HealthCheckTimeoutSeconds", "121")
				a.fails("DuplicateTargetGroupName", "elbv2:CreateTargetGroup", "Name", "t1", "Protocol", "TCP", "Port", "1", "VpcId", l.vpc)
			},
		},
		"a target group is used while a listener forwards to it, by one load balancer": {
			source: pages + "CreateListener.html and " + pages + "DeleteListener.html",
			check: func(t *testing.T, a *account) {
				balancer, l := a.network()
				group := a.targetGroup(l, "t1")
				made := a.do("elbv2:CreateListener", listen(balancer, group, "80")...).text("CreateListenerResult/Listeners/member/ListenerArn")
				a.fails("DuplicateListener", "elbv2:CreateListener", listen(balancer, group, "80")...)
				a.fails("TargetGroupNotFound", "elbv2:CreateListener", listen(balancer, "arn", "81")...)
				a.fails("LoadBalancerNotFound", "elbv2:CreateListener", listen("arn", group, "80")...)
				other := a.do("elbv2:CreateLoadBalancer", "Name", "n2", "Type", "network", "Subnets.member.1", l.subnet).text(networkPath + "LoadBalancerArn")
				a.fails("TargetGroupAssociationLimit", "elbv2:CreateListener", listen(other, group, "80")...)
				assert.Equal(t, []string{made}, a.do("elbv2:DescribeListeners", "LoadBalancerArn", balancer).texts("DescribeListenersResult/Listeners/member/ListenerArn"))
				a.fails("ResourceInUse", "elbv2:DeleteTargetGroup", "TargetGroupArn", group)
				a.do("elbv2:DeleteListener", "ListenerArn", made)
				a.fails("ListenerNotFound", "elbv2:DeleteListener", "ListenerArn", made)
				a.do("elbv2:DeleteTargetGroup", "TargetGroupArn", group)
			},
		},
		"listeners go with their load balancer, and target groups stay": {
			source: pages + "DeleteLoadBalancer.html",
			check: func(t *testing.T, a *account) {
				balancer, l := a.network()
				group := a.targetGroup(l, "t1")
				made := a.do("elbv2:CreateListener", listen(balancer, group, "80")...).text("CreateListenerResult/Listeners/member/ListenerArn")
				a.do("elbv2:DeleteLoadBalancer", "LoadBalancerArn", balancer)
				a.fails("ListenerNotFound", "elbv2:DeleteListener", "ListenerArn", made)
				assert.Contains(t, a.Resources(), "targetgroup/t1")
				a.do("elbv2:DeleteTargetGroup", "TargetGroupArn", group)
			},
		},
		"instances of the VPC are targets, and unused without a listener": {
			source: pages + "RegisterTargets.html, " + pages + "DescribeTargetHealth.html and " + pages + "DeregisterTargets.html",
			check: func(t *testing.T, a *account) {
				balancer, l := a.network()
				group, id := a.targetGroup(l, "t1"), a.run(l)
				targets := []string{"TargetGroupArn", group, "Targets.member.1.Id", id}
				a.do("elbv2:RegisterTargets", targets...)
				a.do("elbv2:RegisterTargets", with(targets, "Targets.member.1.Port", "30080")...)
				a.fails("InvalidTarget", "elbv2:RegisterTargets", with(targets, "Targets.member.1.Id", "i-1")...)
				health := func() []string {
					return a.do("elbv2:DescribeTargetHealth", "TargetGroupArn", group).texts(healthPath + "TargetHealth/State")
				}
				assert.Equal(t, []string{"unused"}, health(), "the default of the port is the group's")
				a.do("elbv2:CreateListener", listen(balancer, group, "80")...)
				assert.Equal(t, []string{"healthy"}, health())
				a.do("elbv2:DeregisterTargets", targets...)
				assert.Empty(t, health())
				shown := a.do("elbv2:DescribeTargetHealth", targets...)
				assert.Equal(t, []string{"Target.NotRegistered"}, shown.texts(healthPath+"TargetHealth/Reason"), "asked for by name, it is shown")
			},
		},
		"attributes of a target group have defaults by its protocol and targets, and are changed one by one": {
			source: pages + "TargetGroupAttribute.html",
			check: func(t *testing.T, a *account) {
				_, l := a.network()
				read := func(group string) map[string]string {
					shown := a.do("elbv2:DescribeTargetGroupAttributes", "TargetGroupArn", group)
					const path = "DescribeTargetGroupAttributesResult/Attributes/member/"
					values := shown.texts(path + "Value")
					attributes := map[string]string{}
					for i, key := range shown.texts(path + "Key") {
						attributes[key] = values[i]
					}
					return attributes
				}
				group := a.targetGroup(l, "t1")
				before := read(group)
				assert.Equal(t, "300", before["deregistration_delay.timeout_seconds"])
				assert.Equal(t, "true", before["preserve_client_ip.enabled"])
				assert.Equal(t, "false", before["deregistration_delay.connection_termination.enabled"])
				assert.Equal(t, "use_load_balancer_configuration", before["load_balancing.cross_zone.enabled"])
				assert.Equal(t, "false", read(a.targetGroup(l, "t2", "TargetType", "ip"))["preserve_client_ip.enabled"])
				assert.Equal(t, "true", read(a.targetGroup(l, "t3", "TargetType", "ip", "Protocol", "UDP"))["preserve_client_ip.enabled"])
				assert.Equal(t, "true", read(a.targetGroup(l, "t4", "Protocol", "TCP_UDP"))["deregistration_delay.connection_termination.enabled"])

				set := []string{"TargetGroupArn", group, "Attributes.member.1.Key", "proxy_protocol_v2.enabled", "Attributes.member.1.Value", "true"}
				changed := a.do("elbv2:ModifyTargetGroupAttributes", set...)
				assert.Equal(t, []string{"proxy_protocol_v2.enabled"}, changed.texts("ModifyTargetGroupAttributesResult/Attributes/member/Key"))
				before["proxy_protocol_v2.enabled"] = "true"
				assert.Equal(t, before, read(group))
				a.fails("NotImplemented", "elbv2:ModifyTargetGroupAttributes", with(set, "Attributes.member.2.Key", "slow_start.duration_seconds", "Attributes.member.2.Value", "30")...)
				assert.Equal(t, before, read(group), "all or none")
				a.fails("TargetGroupNotFound", "elbv2:DescribeTargetGroupAttributes", "TargetGroupArn", "arn")
				a.fails("TargetGroupNotFound", "elbv2:ModifyTargetGroupAttributes", with(set, "TargetGroupArn", "arn")...)
			},
		},
		"attributes have defaults, and are changed one by one": {
			source: pages + "LoadBalancerAttribute.html",
			check: func(t *testing.T, a *account) {
				balancer, _ := a.network()
				const path = "DescribeLoadBalancerAttributesResult/Attributes/member/Value"
				assert.Equal(t, []string{"", "false", "", "false", "false"}, a.do("elbv2:DescribeLoadBalancerAttributes", "LoadBalancerArn", balancer).texts(path))
				a.do("elbv2:ModifyLoadBalancerAttributes", "LoadBalancerArn", balancer, "Attributes.member.1.Key", "load_balancing.cross_zone.enabled",
					"Attributes.member.1.Value", "true")
				assert.Equal(t, []string{"", "false", "", "false", "true"}, a.do("elbv2:DescribeLoadBalancerAttributes", "LoadBalancerArn", balancer).texts(path))
			},
		},
		"a listener has tags and attributes, and names its target group in either way": {
			source: pages + "DescribeListenerAttributes.html",
			check: func(t *testing.T, a *account) {
				balancer, l := a.network()
				group := a.targetGroup(l, "t1")
				created := a.do("elbv2:CreateListener", "LoadBalancerArn", balancer, "Port", "80", "Protocol", "TCP", "DefaultActions.member.1.Type", "forward",
					"DefaultActions.member.1.ForwardConfig.TargetGroups.member.1.TargetGroupArn", group, "Tags.member.1.Key", "team", "Tags.member.1.Value", "web")
				arn := created.text("CreateListenerResult/Listeners/member/ListenerArn")
				assert.Equal(t, []string{"web"}, a.do("elbv2:DescribeTags", "ResourceArns.member.1", arn).texts("DescribeTagsResult/TagDescriptions/member/Tags/member/Value"))
				shown := a.do("elbv2:DescribeListenerAttributes", "ListenerArn", arn)
				assert.Equal(t, []string{"350"}, shown.texts("DescribeListenerAttributesResult/Attributes/member/Value"))
				assert.Equal(t, []string{"default"}, a.do("elbv2:DescribeRules", "ListenerArn", arn).texts("DescribeRulesResult/Rules/member/Priority"))
				a.fails("ResourceInUse", "elbv2:DeleteTargetGroup", "TargetGroupArn", group)
				a.do("elbv2:DeleteListener", "ListenerArn", arn)
				a.fails("ListenerNotFound", "elbv2:DescribeListenerAttributes", "ListenerArn", arn)
				a.fails("ListenerNotFound", "elbv2:DescribeTags", "ResourceArns.member.1", arn)
			},
		},
	})
}
