package fake_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// classic creates a load balancer a1 with a listener in a subnet of a new VPC, and returns what an instance there needs.
func (a *account) classic(more ...string) launch {
	a.t.Helper()
	l := a.launchpad()
	a.do("elb:CreateLoadBalancer", with([]string{
		"LoadBalancerName", "a1", "Listeners.member.1.Protocol", "tcp", "Listeners.member.1.LoadBalancerPort", "80", "Listeners.member.1.InstancePort", "30080",
		"Subnets.member.1", l.subnet, "SecurityGroups.member.1", l.group, "Tags.member.1.Key", "team", "Tags.member.1.Value", "web",
	}, more...)...)
	return l
}

const classicPath = "DescribeLoadBalancersResult/LoadBalancerDescriptions/member/"

func TestClassicLoadBalancers(t *testing.T) {
	const pages = "https://docs.aws.amazon.com/elasticloadbalancing/2012-06-01/APIReference/API_"
	const guide = "https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/"
	// a1 names the load balancer in a request.
	a1 := func(more ...string) []string { return append([]string{"LoadBalancerName", "a1"}, more...) }
	testBehaviours(t, map[string]behaviour{
		"a new load balancer has its listener, a name in DNS, and a health check of the instances' port": {
			source: pages + "CreateLoadBalancer.html; " + guide + "elb-getting-started.html shows the health check",
			check: func(t *testing.T, a *account) {
				l := a.classic()
				shown := a.do("elb:DescribeLoadBalancers", "LoadBalancerNames.member.1", "a1")
				for member, want := range map[string]string{
					"DNSName": "a1-1.eu-west-1.elb.amazonaws.com", "Scheme": "internet-facing", "VPCId": l.vpc, "Subnets/member": l.subnet, "SecurityGroups/member": l.group,
					"ListenerDescriptions/member/Listener/Protocol": "TCP", "ListenerDescriptions/member/Listener/InstanceProtocol": "TCP",
					"ListenerDescriptions/member/Listener/InstancePort": "30080", "HealthCheck/Target": "TCP:30080", "HealthCheck/Interval": "30",
				} {
					assert.Equal(t, want, shown.text(classicPath+member), member)
				}
				a.fails("DuplicateLoadBalancerName", "elb:CreateLoadBalancer", "LoadBalancerName", "a1", "Subnets.member.1", l.subnet,
					"Listeners.member.1.Protocol", "TCP", "Listeners.member.1.LoadBalancerPort", "80", "Listeners.member.1.InstancePort", "80")
				a.do("elb:AddTags", "LoadBalancerNames.member.1", "a1", "Tags.member.1.Key", "team", "Tags.member.1.Value", "other")
				assert.Equal(t, []string{"other"}, a.do("elb:DescribeTags", "LoadBalancerNames.member.1", "a1").texts("DescribeTagsResult/TagDescriptions/member/Tags/member/Value"))
			},
		},
		"the name of an internal load balancer in DNS says so": {
			source: pages + "CreateLoadBalancer.html shows one",
			check: func(t *testing.T, a *account) {
				a.classic("Scheme", "internal")
				assert.Equal(t, "internal-a1-1.eu-west-1.elb.amazonaws.com", a.do("elb:DescribeLoadBalancers").text(classicPath+"DNSName"))
			},
		},
		"a load balancer is refused with a subnet, group, scheme or protocol that does not exist": {
			source: pages + "CreateLoadBalancer.html",
			check: func(_ *testing.T, a *account) {
				l := a.launchpad()
				request := []string{
					"LoadBalancerName", "a1", "Listeners.member.1.Protocol", "TCP", "Listeners.member.1.LoadBalancerPort", "80", "Listeners.member.1.InstancePort", "80",
					"Subnets.member.1", l.subnet,
				}
				a.fails("SubnetNotFound", "elb:CreateLoadBalancer", with(request, "Subnets.member.1", "subnet-1")...)
				a.fails("InvalidSecurityGroup", "elb:CreateLoadBalancer", with(request, "SecurityGroups.member.1", "sg-1")...)
				a.fails("InvalidScheme", "elb:CreateLoadBalancer", with(request, "Scheme", "hidden")...)
				a.fails("UnsupportedProtocol", "elb:CreateLoadBalancer", with(request, "Listeners.member.1.Protocol", "UDP")...)
				a.fails("InvalidConfigurationRequest", "elb:CreateLoadBalancer", with(request, "Subnets.member.2", a.subnet(l.vpc, "10.250.1.0/24"))...)
				assert.NotContains(a.t, a.Resources(), "loadbalancer/a1")
			},
		},
		"listeners are added once, and deleted any number of times": {
			source: pages + "CreateLoadBalancerListeners.html and " + pages + "DeleteLoadBalancerListeners.html",
			check: func(t *testing.T, a *account) {
				a.classic()
				https := a1("Listeners.member.1.Protocol", "TCP", "Listeners.member.1.LoadBalancerPort", "443", "Listeners.member.1.InstancePort", "30443")
				a.do("elb:CreateLoadBalancerListeners", https...)
				a.do("elb:CreateLoadBalancerListeners", https...)
				a.fails("DuplicateListener", "elb:CreateLoadBalancerListeners", with(https, "Listeners.member.1.InstancePort", "1")...)
				ports := func() []string {
					return a.do("elb:DescribeLoadBalancers").texts(classicPath + "ListenerDescriptions/member/Listener/LoadBalancerPort")
				}
				assert.Equal(t, []string{"80", "443"}, ports())
				for range 2 {
					a.do("elb:DeleteLoadBalancerListeners", a1("LoadBalancerPorts.member.1", "80")...)
				}
				assert.Equal(t, []string{"443"}, ports())
			},
		},
		"instances of the VPC are registered and deregistered": {
			source: pages + "RegisterInstancesWithLoadBalancer.html and " + pages + "DeregisterInstancesFromLoadBalancer.html",
			check: func(t *testing.T, a *account) {
				l := a.classic()
				id := a.run(l)
				for range 2 {
					registered := a.do("elb:RegisterInstancesWithLoadBalancer", a1("Instances.member.1.InstanceId", id)...)
					assert.Equal(t, []string{id}, registered.texts("RegisterInstancesWithLoadBalancerResult/Instances/member/InstanceId"))
				}
				a.fails("InvalidInstance", "elb:RegisterInstancesWithLoadBalancer", a1("Instances.member.1.InstanceId", "i-1")...)
				for range 2 {
					a.do("elb:DeregisterInstancesFromLoadBalancer", a1("Instances.member.1.InstanceId", id)...)
				}
				assert.Empty(t, a.do("elb:DescribeLoadBalancers").texts(classicPath+"Instances/member/InstanceId"))
			},
		},
		"a health check is replaced": {
			source: pages + "ConfigureHealthCheck.html; " + guide + "elb-healthchecks.html says that the timeout is less than the interval",
			check: func(t *testing.T, a *account) {
				a.classic()
				check := a1("HealthCheck.Target", "HTTP:10256/healthz", "HealthCheck.Interval", "10", "HealthCheck.Timeout", "5",
					"HealthCheck.UnhealthyThreshold", "6", "HealthCheck.HealthyThreshold", "2")
				a.do("elb:ConfigureHealthCheck", check...)
				assert.Equal(t, "HTTP:10256/healthz", a.do("elb:DescribeLoadBalancers").text(classicPath+"HealthCheck/Target"))
				a.fails("ValidationError", "elb:ConfigureHealthCheck", with(check, "HealthCheck.Timeout", "10")...)
			},
		},
		"attributes have defaults, and are changed one by one": {
			source: pages + "DescribeLoadBalancerAttributes.html and " + pages + "ModifyLoadBalancerAttributes.html",
			check: func(t *testing.T, a *account) {
				a.classic()
				attributes := func() response { return a.do("elb:DescribeLoadBalancerAttributes", a1()...) }
				const path = "DescribeLoadBalancerAttributesResult/LoadBalancerAttributes/"
				assert.Equal(t, []string{"60", "300"}, append(attributes().texts(path+"ConnectionSettings/IdleTimeout"), attributes().texts(path+"ConnectionDraining/Timeout")...))
				a.do("elb:ModifyLoadBalancerAttributes", a1("LoadBalancerAttributes.ConnectionSettings.IdleTimeout", "90",
					"LoadBalancerAttributes.ConnectionDraining.Enabled", "true")...)
				assert.Equal(t, []string{"90", "300"}, append(attributes().texts(path+"ConnectionSettings/IdleTimeout"), attributes().texts(path+"ConnectionDraining/Timeout")...))
				assert.Equal(t, "true", attributes().text(path+"ConnectionDraining/Enabled"))
			},
		},
		"groups are replaced, and the former ones can be deleted": {
			source: pages + "ApplySecurityGroupsToLoadBalancer.html",
			check: func(t *testing.T, a *account) {
				l := a.classic()
				other := a.group(l.vpc, "other")
				a.fails("InvalidSecurityGroup", "elb:ApplySecurityGroupsToLoadBalancer", a1("SecurityGroups.member.1", "sg-1")...)
				a.fails("DependencyViolation", "DeleteSecurityGroup", "GroupId", l.group)
				a.do("elb:ApplySecurityGroupsToLoadBalancer", a1("SecurityGroups.member.1", other)...)
				assert.Equal(t, []string{other}, a.do("elb:DescribeLoadBalancers").texts(classicPath+"SecurityGroups/member"))
				a.do("DeleteSecurityGroup", "GroupId", l.group)
				a.fails("DependencyViolation", "DeleteSecurityGroup", "GroupId", other)
			},
		},
		"subnets are added, one in each zone, and removed, but for the last": {
			source: pages + "AttachLoadBalancerToSubnets.html and " + pages + "DetachLoadBalancerFromSubnets.html; the last one is our judgement",
			check: func(t *testing.T, a *account) {
				l := a.classic()
				elsewhere := a.do("CreateSubnet", "VpcId", l.vpc, "CidrBlock", "10.250.1.0/24", "AvailabilityZone", fake.DefaultRegion+"b").text("subnet/subnetId")
				for range 2 {
					a.do("elb:AttachLoadBalancerToSubnets", a1("Subnets.member.1", elsewhere)...)
				}
				assert.Equal(t, []string{l.subnet, elsewhere}, a.do("elb:DescribeLoadBalancers").texts(classicPath+"Subnets/member"))
				a.fails("InvalidConfigurationRequest", "elb:AttachLoadBalancerToSubnets", a1("Subnets.member.1", a.subnet(l.vpc, "10.250.2.0/24"))...)
				for range 2 {
					a.do("elb:DetachLoadBalancerFromSubnets", a1("Subnets.member.1", l.subnet)...)
				}
				a.do("DeleteSubnet", "SubnetId", l.subnet)
				a.fails("InvalidConfigurationRequest", "elb:DetachLoadBalancerFromSubnets", a1("Subnets.member.1", elsewhere)...)
			},
		},
		"a port of the instances gets the proxy protocol by a policy, and loses it": {
			source: guide + "enable-proxy-protocol.html; that a policy may be created twice is in cloud-provider-aws, aws_loadbalancer.go",
			check: func(t *testing.T, a *account) {
				a.classic()
				policy := a1("PolicyName", "proxy", "PolicyTypeName", "ProxyProtocolPolicyType",
					"PolicyAttributes.member.1.AttributeName", "ProxyProtocol", "PolicyAttributes.member.1.AttributeValue", "true")
				set := a1("InstancePort", "30080", "PolicyNames.member.1", "proxy")
				a.fails("PolicyNotFound", "elb:SetLoadBalancerPoliciesForBackendServer", set...)
				a.do("elb:CreateLoadBalancerPolicy", policy...)
				a.do("elb:CreateLoadBalancerPolicy", policy...)
				a.fails("DuplicatePolicyName", "elb:CreateLoadBalancerPolicy", with(policy, "PolicyAttributes.member.1.AttributeValue", "false")...)
				a.do("elb:SetLoadBalancerPoliciesForBackendServer", set...)
				const backend = classicPath + "BackendServerDescriptions/member/"
				shown := a.do("elb:DescribeLoadBalancers")
				assert.Equal(t, []string{"30080", "proxy"}, []string{shown.text(backend + "InstancePort"), shown.text(backend + "PolicyNames/member")})
				a.do("elb:SetLoadBalancerPoliciesForBackendServer", a1("InstancePort", "30080", "PolicyNames", "")...)
				assert.Empty(t, a.do("elb:DescribeLoadBalancers").texts(backend+"InstancePort"))
			},
		},
	})
}
