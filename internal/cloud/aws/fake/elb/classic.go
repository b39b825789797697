package elb

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func (s *Service) classicActions() map[string]core.Action {
	return map[string]core.Action{
		"DescribeLoadBalancers": {Reads: "LoadBalancerNames Marker PageSize", Do: s.describeClassic},
		"DescribeTags":          {Reads: "LoadBalancerNames", Do: s.describeClassicTags},
		"DeleteLoadBalancer":    {Reads: "LoadBalancerName", Do: s.deleteClassic},
		"CreateLoadBalancer":    {Reads: "LoadBalancerName Listeners Subnets SecurityGroups Scheme Tags", Do: s.createClassic},
		"AddTags":               {Reads: "LoadBalancerNames Tags", Do: s.addClassicTags},

		"CreateLoadBalancerListeners":         {Reads: "LoadBalancerName Listeners", Do: s.onClassic(createListeners)},
		"DeleteLoadBalancerListeners":         {Reads: "LoadBalancerName LoadBalancerPorts", Do: s.onClassic(deleteListeners)},
		"ConfigureHealthCheck":                {Reads: "LoadBalancerName HealthCheck", Do: s.onClassic(configureHealthCheck)},
		"RegisterInstancesWithLoadBalancer":   {Reads: "LoadBalancerName Instances", Do: s.onClassic(s.registerInstances)},
		"DeregisterInstancesFromLoadBalancer": {Reads: "LoadBalancerName Instances", Do: s.onClassic(deregisterInstances)},
		"ApplySecurityGroupsToLoadBalancer":   {Reads: "LoadBalancerName SecurityGroups", Do: s.onClassic(s.applyGroups)},
		"AttachLoadBalancerToSubnets":         {Reads: "LoadBalancerName Subnets", Do: s.onClassic(s.attachSubnets)},
		"DetachLoadBalancerFromSubnets":       {Reads: "LoadBalancerName Subnets", Do: s.onClassic(s.detachSubnets)},
		"DescribeLoadBalancerAttributes":      {Reads: "LoadBalancerName", Do: s.onClassic(describeAttributes)},
		"ModifyLoadBalancerAttributes":        {Reads: "LoadBalancerName LoadBalancerAttributes", Do: s.onClassic(modifyAttributes)},

		"CreateLoadBalancerPolicy":                {Reads: "LoadBalancerName PolicyName PolicyTypeName PolicyAttributes", Do: s.onClassic(createPolicy)},
		"SetLoadBalancerPoliciesForBackendServer": {Reads: "LoadBalancerName InstancePort PolicyNames", Do: s.onClassic(setBackendPolicies)},
	}
}

// onClassic is an action on an existing load balancer.
func (s *Service) onClassic(do func(b *balancer, q *core.Request) (protocol.Struct, error)) core.Handler {
	return func(q *core.Request) (protocol.Struct, error) {
		found, err := s.classicNamed([]string{q.In.String("LoadBalancerName")})
		if err != nil {
			return nil, err
		}
		return do(found[0], q)
	}
}

func (s *Service) classic() []*balancer {
	return slices.DeleteFunc(slices.Clone(s.balancers), func(b *balancer) bool { return b.Type != Classic })
}

// classicNamed returns the load balancers of those names, all of which must exist.
func (s *Service) classicNamed(names []string) ([]*balancer, error) {
	var out []*balancer
	for _, name := range names {
		i := slices.IndexFunc(s.balancers, func(b *balancer) bool { return b.Type == Classic && b.Name == name })
		if i < 0 {
			return nil, classicNotFound(name)
		}
		out = append(out, s.balancers[i])
	}
	return out, nil
}

func classicNotFound(name string) *wire.Error {
	return protocol.Fail("LoadBalancerNotFound", "There is no ACTIVE Load Balancer named '%s'", name)
}

func (s *Service) describeClassic(q *core.Request) (protocol.Struct, error) {
	found := s.classic()
	if names := q.In.Strings("LoadBalancerNames"); len(names) > 0 {
		var err error
		if found, err = s.classicNamed(names); err != nil {
			return nil, err
		}
	}
	found, next := page(q, found)
	views := []any{}
	for _, b := range found {
		views = append(views, b.viewClassic())
	}
	return protocol.Struct{"LoadBalancerDescriptions": views, "NextMarker": next}, nil
}

func (s *Service) describeClassicTags(q *core.Request) (protocol.Struct, error) {
	found, err := s.classicNamed(q.In.Strings("LoadBalancerNames"))
	if err != nil {
		return nil, err
	}
	views := []any{}
	for _, b := range found {
		views = append(views, protocol.Struct{"LoadBalancerName": b.Name, "Tags": tagList(b.Tags)})
	}
	return protocol.Struct{"TagDescriptions": views}, nil
}

// deleteClassic succeeds also if there is no such load balancer.
func (s *Service) deleteClassic(q *core.Request) (protocol.Struct, error) {
	if found, err := s.classicNamed([]string{q.In.String("LoadBalancerName")}); err == nil {
		s.remove(found[0])
	}
	return protocol.Struct{}, nil
}
