package elb

import (
	"cmp"
	"maps"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

func (s *Service) networkActions() map[string]core.Action {
	const check = "HealthCheckEnabled HealthCheckIntervalSeconds HealthCheckPath HealthCheckPort HealthCheckProtocol HealthCheckTimeoutSeconds " +
		"HealthyThresholdCount UnhealthyThresholdCount"
	return map[string]core.Action{
		"CreateLoadBalancer":   {Reads: "Name Type Scheme SubnetMappings Subnets SecurityGroups IpAddressType EnablePrefixForIpv6SourceNat Tags", Do: s.createNetwork},
		"CreateTargetGroup":    {Reads: "Name Port Protocol VpcId TargetType Tags " + check, Do: s.createTargets},
		"RegisterTargets":      {Reads: "TargetGroupArn Targets", Do: s.onTargets(s.registerTargets)},
		"DeregisterTargets":    {Reads: "TargetGroupArn Targets", Do: s.onTargets(deregisterTargets)},
		"DescribeTargetHealth": {Reads: "TargetGroupArn Targets", Do: s.onTargets(describeTargetHealth)},
		"CreateListener":       {Reads: "LoadBalancerArn Port Protocol DefaultActions Tags", Do: s.onBalancer(s.createListener)},
		"DescribeListeners":    {Reads: "LoadBalancerArn Marker PageSize", Do: s.onBalancer(s.describeListeners)},
		"DeleteListener":       {Reads: "ListenerArn", Do: s.onListener(s.deleteListener)},

		"DescribeListenerAttributes":     {Reads: "ListenerArn", Do: s.onListener(describeListenerAttributes)},
		"DescribeRules":                  {Reads: "ListenerArn Marker PageSize", Do: s.onListener(describeRules)},
		"DescribeLoadBalancerAttributes": {Reads: "LoadBalancerArn", Do: s.onBalancer(describeNetworkAttributes)},
		"ModifyLoadBalancerAttributes":   {Reads: "LoadBalancerArn Attributes", Do: s.onBalancer(modifyNetworkAttributes)},
		"DescribeTargetGroupAttributes":  {Reads: "TargetGroupArn", Do: s.onTargets(describeTargetAttributes)},
		"ModifyTargetGroupAttributes":    {Reads: "TargetGroupArn Attributes", Do: s.onTargets(modifyTargetAttributes)},
	}
}

// onBalancer is an action on an existing load balancer.
func (s *Service) onBalancer(do func(b *balancer, q *core.Request) (protocol.Struct, error)) core.Handler {
	return func(q *core.Request) (protocol.Struct, error) {
		arn := q.In.String("LoadBalancerArn")
		b := s.balancerWith(arn)
		if b == nil {
			return nil, protocol.Fail("LoadBalancerNotFound", "Load balancers '[%s]' not found", arn)
		}
		return do(b, q)
	}
}

// onTargets is an action on an existing target group.
func (s *Service) onTargets(do func(t *targetGroup, q *core.Request) (protocol.Struct, error)) core.Handler {
	return func(q *core.Request) (protocol.Struct, error) {
		t := s.targetsWith(q.In.String("TargetGroupArn"))
		if t == nil {
			return nil, protocol.Fail("TargetGroupNotFound", "Target groups '%s' not found", q.In.String("TargetGroupArn"))
		}
		return do(t, q)
	}
}

func (s *Service) targetsWith(arn string) *targetGroup {
	i := slices.IndexFunc(s.targets, func(t *targetGroup) bool { return t.arn == arn })
	if i < 0 {
		return nil
	}
	return s.targets[i]
}

// createNetwork creates a network load balancer. An application load balancer would have rules, which are not implemented.
func (s *Service) createNetwork(q *core.Request) (protocol.Struct, error) {
	name, subnets := q.In.String("Name"), q.In.Strings("Subnets")
	if kind := cmp.Or(q.In.String("Type"), string(Application)); kind != string(NetworkType) {
		return nil, core.NotImplemented("load balancers of type " + kind)
	}
	if family := cmp.Or(q.In.String("IpAddressType"), "ipv4"); family != "ipv4" || q.In.String("EnablePrefixForIpv6SourceNat") == "on" {
		return nil, core.NotImplemented("load balancers with IPv6")
	}
	if slices.ContainsFunc(s.balancers, func(b *balancer) bool { return b.Type != Classic && b.Name == name }) {
		return nil, protocol.Fail("DuplicateLoadBalancerName", "A load balancer with the same name '%s' exists, but with different settings", name)
	}
	for _, mapping := range q.In.Structs("SubnetMappings") {
		if len(mapping) > 1 {
			return nil, core.NotImplemented("addresses of load balancers")
		}
		subnets = append(subnets, mapping.String("SubnetId"))
	}
	if err := s.checkSubnets(nil, subnets); err != nil {
		return nil, err
	}
	b, _, err := s.newBalancer(LoadBalancer{Type: NetworkType, Name: name, Subnets: subnets, Groups: q.In.Strings("SecurityGroups"), Tags: tagsIn(q.In)})
	if err != nil {
		return nil, invalidGroup(err)
	}
	b.scheme = cmp.Or(q.In.String("Scheme"), internetFacing)
	s.balancers = append(s.balancers, b)
	return protocol.Struct{"LoadBalancers": []any{b.view()}}, nil
}

func (s *Service) createTargets(q *core.Request) (protocol.Struct, error) {
	name := q.In.String("Name")
	if slices.ContainsFunc(s.targets, func(t *targetGroup) bool { return t.name == name }) {
		return nil, protocol.Fail("DuplicateTargetGroupName", "A target group with the same name '%s' exists, but with different settings", name)
	}
	t := &targetGroup{
		arn: s.core.ARN("elasticloadbalancing", s.core.Config.Region, "targetgroup/"+name+"/"+core.NewKeyID("")), name: name, vpcID: q.In.String("VpcId"), tags: tagsIn(q.In),
		settings: protocol.Struct{
			"TargetType": "instance", "HealthCheckEnabled": true, "HealthCheckIntervalSeconds": int64(30), "HealthCheckPort": "traffic-port", "HealthCheckProtocol": "TCP",
			"HealthCheckTimeoutSeconds": healthCheckTimeout(q.In.String("Protocol")), "HealthyThresholdCount": int64(5), "UnhealthyThresholdCount": int64(2),
		},
	}
	for member, value := range q.In {
		if member != "Name" && member != "Tags" {
			t.settings[member] = value
		}
	}
	s.targets = append(s.targets, t)
	return protocol.Struct{"TargetGroups": []any{t.view()}}, nil
}

// healthCheckTimeout is the default for a group of a protocol.
func healthCheckTimeout(protocol string) int64 {
	switch protocol {
	case "HTTP":
		return 6
	case "GENEVE":
		return 5
	default:
		return 10
	}
}

// withPort gives a target the port of its group, if it has none of its own.
func (t *targetGroup) withPort(target protocol.Struct) protocol.Struct {
	target = maps.Clone(target)
	if !target.Has("Port") {
		target["Port"] = t.settings["Port"]
	}
	return target
}

func (s *Service) registerTargets(t *targetGroup, q *core.Request) (protocol.Struct, error) {
	for _, target := range q.In.Structs("Targets") {
		if s.network.VPCOfInstance(target.String("Id")) != t.vpcID {
			return nil, protocol.Fail("InvalidTarget", "The following targets are not in the target group VPC '%s': '%s'", t.vpcID, target.String("Id"))
		}
	}
	for _, target := range q.In.Structs("Targets") {
		added := t.withPort(target)
		if !slices.ContainsFunc(t.targets, func(other protocol.Struct) bool { return maps.Equal(other, added) }) {
			t.targets = append(t.targets, added)
		}
	}
	return protocol.Struct{}, nil
}

// deregisterTargets removes targets at once; AWS drains them first.
func deregisterTargets(t *targetGroup, q *core.Request) (protocol.Struct, error) {
	for _, target := range q.In.Structs("Targets") {
		removed := t.withPort(target)
		t.targets = slices.DeleteFunc(t.targets, func(other protocol.Struct) bool { return maps.Equal(other, removed) })
	}
	return protocol.Struct{}, nil
}

// describeTargetHealth shows all targets, or those that are asked for, whether they are registered or not.
func describeTargetHealth(t *targetGroup, q *core.Request) (protocol.Struct, error) {
	shown := t.targets
	if q.In.Has("Targets") {
		shown = nil
		for _, target := range q.In.Structs("Targets") {
			shown = append(shown, t.withPort(target))
		}
	}
	views := []any{}
	for _, target := range shown {
		views = append(views, protocol.Struct{"Target": target, "TargetHealth": t.healthOf(target)})
	}
	return protocol.Struct{"TargetHealthDescriptions": views}, nil
}

func (t *targetGroup) healthOf(target protocol.Struct) protocol.Struct {
	switch {
	case !slices.ContainsFunc(t.targets, func(other protocol.Struct) bool { return maps.Equal(other, target) }):
		return protocol.Struct{"State": "unused", "Reason": "Target.NotRegistered"}
	case t.balancerARN == "":
		return protocol.Struct{"State": "unused", "Reason": "Target.NotInUse"}
	default:
		return protocol.Struct{"State": "healthy"}
	}
}

// networkAttributes are the attributes of a network load balancer with those that were set.
func (b *balancer) networkAttributes() protocol.Struct {
	attributes := map[string]string{
		"access_logs.s3.enabled": "false", "access_logs.s3.bucket": "", "access_logs.s3.prefix": "", "deletion_protection.enabled": "false",
		"load_balancing.cross_zone.enabled": "false",
	}
	maps.Copy(attributes, b.changedAttributes)
	return protocol.Struct{"Attributes": tagList(attributes)}
}

func describeNetworkAttributes(b *balancer, _ *core.Request) (protocol.Struct, error) {
	return b.networkAttributes(), nil
}

func modifyNetworkAttributes(b *balancer, q *core.Request) (protocol.Struct, error) {
	if b.changedAttributes == nil {
		b.changedAttributes = map[string]string{}
	}
	for _, attribute := range q.In.Structs("Attributes") {
		b.changedAttributes[attribute.String("Key")] = attribute.String("Value")
	}
	return b.networkAttributes(), nil
}
