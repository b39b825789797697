package elb

import (
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

func (s *Service) actions() map[string]core.Action {
	return map[string]core.Action{
		"DescribeLoadBalancers": {Reads: "LoadBalancerArns Names Marker PageSize", Do: s.describe},
		"DeleteLoadBalancer":    {Reads: "LoadBalancerArn", Do: s.deleteBalancer},
		"DescribeTags":          {Reads: "ResourceArns", Do: s.describeTags},
		"DescribeTargetGroups":  {Reads: "LoadBalancerArn TargetGroupArns Names Marker PageSize", Do: s.describeTargets},
		"DeleteTargetGroup":     {Reads: "TargetGroupArn", Do: s.deleteTargets},
	}
}

func (s *Service) balancerWith(arn string) *balancer {
	for _, b := range s.balancers {
		if b.arn != "" && b.arn == arn {
			return b
		}
	}
	return nil
}

func (s *Service) describe(q *core.Request) (protocol.Struct, error) {
	var found []*balancer
	arns, names := q.In.Strings("LoadBalancerArns"), q.In.Strings("Names")
	for _, b := range s.balancers {
		wanted := len(arns)+len(names) == 0 || slices.Contains(arns, b.arn) || slices.Contains(names, b.Name)
		if b.Type != Classic && wanted {
			found = append(found, b)
		}
	}
	if wanted := len(arns) + len(names); wanted > len(found) {
		return nil, protocol.Fail("LoadBalancerNotFound", "One or more load balancers not found")
	}
	found, next := page(q, found)
	views := []any{}
	for _, b := range found {
		views = append(views, b.view())
	}
	return protocol.Struct{"LoadBalancers": views, "NextMarker": next}, nil
}

func (b *balancer) view() protocol.Struct {
	zones := []any{}
	for i, subnet := range b.Subnets {
		zones = append(zones, protocol.Struct{"SubnetId": subnet, "ZoneName": b.zones[i], "LoadBalancerAddresses": []any{}})
	}
	view := protocol.Struct{
		"LoadBalancerArn": b.arn, "LoadBalancerName": b.Name, "DNSName": b.dnsName, "Type": string(b.Type), "Scheme": b.scheme, "VpcId": b.vpcID,
		"State": protocol.Struct{"Code": "active"}, "IpAddressType": "ipv4", "SecurityGroups": protocol.ListOf(b.Groups), "AvailabilityZones": zones,
		"CreatedTime": b.created,
	}
	if b.Type == NetworkType {
		view["EnablePrefixForIpv6SourceNat"] = "off"
	}
	return view
}

// deleteBalancer succeeds also if there is no such load balancer.
func (s *Service) deleteBalancer(q *core.Request) (protocol.Struct, error) {
	if b := s.balancerWith(q.In.String("LoadBalancerArn")); b != nil {
		s.remove(b)
	}
	return protocol.Struct{}, nil
}

func (s *Service) describeTags(q *core.Request) (protocol.Struct, error) {
	views := []any{}
	for _, arn := range q.In.Strings("ResourceArns") {
		tags, err := s.tagsOf(arn)
		if err != nil {
			return nil, err
		}
		views = append(views, protocol.Struct{"ResourceArn": arn, "Tags": tagList(tags)})
	}
	return protocol.Struct{"TagDescriptions": views}, nil
}

func (s *Service) tagsOf(arn string) (map[string]string, error) {
	if b := s.balancerWith(arn); b != nil {
		return b.Tags, nil
	}
	if t := s.targetsWith(arn); t != nil {
		return t.tags, nil
	}
	if l := s.listenerWith(arn); l != nil {
		return l.tags, nil
	}
	if slices.ContainsFunc(s.listeners, func(l *listener) bool { return l.ruleARN() == arn }) {
		return nil, nil
	}
	switch {
	case strings.Contains(arn, ":targetgroup/"):
		return nil, protocol.Fail("TargetGroupNotFound", "Target groups '%s' not found", arn)
	case strings.Contains(arn, ":listener/"):
		return nil, protocol.Fail("ListenerNotFound", "One or more listeners not found")
	default:
		return nil, protocol.Fail("LoadBalancerNotFound", "Load balancers '%s' not found", arn)
	}
}

func (s *Service) describeTargets(q *core.Request) (protocol.Struct, error) {
	balancer, arns, names := q.In.String("LoadBalancerArn"), q.In.Strings("TargetGroupArns"), q.In.Strings("Names")
	if balancer != "" && s.balancerWith(balancer) == nil {
		return nil, protocol.Fail("LoadBalancerNotFound", "Load balancers '[%s]' not found", balancer)
	}
	var found []*targetGroup
	for _, t := range s.targets {
		named := len(arns)+len(names) == 0 || slices.Contains(arns, t.arn) || slices.Contains(names, t.name)
		if named && (balancer == "" || t.balancerARN == balancer) {
			found = append(found, t)
		}
	}
	if len(arns)+len(names) > len(found) {
		return nil, protocol.Fail("TargetGroupNotFound", "One or more target groups not found")
	}
	found, next := page(q, found)
	views := []any{}
	for _, t := range found {
		views = append(views, t.view())
	}
	return protocol.Struct{"TargetGroups": views, "NextMarker": next}, nil
}

func (t *targetGroup) view() protocol.Struct {
	attached := []any{}
	if t.balancerARN != "" {
		attached = append(attached, t.balancerARN)
	}
	view := protocol.Struct{"TargetGroupArn": t.arn, "TargetGroupName": t.name, "VpcId": t.vpcID, "LoadBalancerArns": attached}
	maps.Copy(view, t.settings)
	return view
}

// deleteTargets deletes a target group that no load balancer uses. It succeeds also if there is none.
func (s *Service) deleteTargets(q *core.Request) (protocol.Struct, error) {
	arn := q.In.String("TargetGroupArn")
	i := slices.IndexFunc(s.targets, func(t *targetGroup) bool { return t.arn == arn })
	if i < 0 {
		return protocol.Struct{}, nil
	}
	if s.targets[i].balancerARN != "" {
		return nil, protocol.Fail("ResourceInUse", "Target group '%s' is currently in use by a listener or a rule", arn)
	}
	s.targets = slices.Delete(s.targets, i, i+1)
	return protocol.Struct{}, nil
}
