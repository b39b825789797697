package elb

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// createClassic creates a load balancer in subnets. One without subnets would be outside of a VPC.
func (s *Service) createClassic(q *core.Request) (protocol.Struct, error) {
	name, scheme, subnets := q.In.String("LoadBalancerName"), q.In.String("Scheme"), q.In.Strings("Subnets")
	if _, err := s.classicNamed([]string{name}); err == nil {
		return nil, protocol.Fail("DuplicateLoadBalancerName", "The specified load balancer name already exists: %s", name)
	}
	if scheme != "" && scheme != "internal" && scheme != internetFacing {
		return nil, protocol.Fail("InvalidScheme", "The scheme '%s' is not valid", scheme)
	}
	if len(subnets) == 0 {
		return nil, core.NotImplemented("load balancers outside of a VPC")
	}
	listeners, err := withListeners(nil, q.In.Structs("Listeners"))
	if err != nil {
		return nil, err
	}
	if err := s.checkSubnets(nil, subnets); err != nil {
		return nil, err
	}
	b, _, err := s.newBalancer(LoadBalancer{Type: Classic, Name: name, Subnets: subnets, Groups: q.In.Strings("SecurityGroups"), Tags: tagsIn(q.In)})
	if err != nil {
		return nil, invalidGroup(err)
	}
	b.classicSettings = newClassicSettings(listeners)
	if scheme == "internal" {
		b.scheme, b.dnsName = scheme, "internal-"+b.dnsName
	}
	s.balancers = append(s.balancers, b)
	return protocol.Struct{"DNSName": b.dnsName}, nil
}

// tagsIn returns the tags of a request.
func tagsIn(in protocol.Struct) map[string]string {
	tags := map[string]string{}
	for _, tag := range in.Structs("Tags") {
		tags[tag.String("Key")] = tag.String("Value")
	}
	return tags
}

func (s *Service) addClassicTags(q *core.Request) (protocol.Struct, error) {
	found, err := s.classicNamed(q.In.Strings("LoadBalancerNames"))
	if err != nil {
		return nil, err
	}
	for _, b := range found {
		maps.Copy(b.Tags, tagsIn(q.In))
	}
	return protocol.Struct{}, nil
}

// withListeners returns listeners with those of a request. A listener that exists already stays.
func withListeners(existing, sent []protocol.Struct) ([]protocol.Struct, error) {
	all := slices.Clone(existing)
	for _, listener := range sent {
		listener = maps.Clone(listener)
		listener["Protocol"] = strings.ToUpper(listener.String("Protocol"))
		if !listener.Has("InstanceProtocol") {
			listener["InstanceProtocol"] = listener["Protocol"]
		}
		listener["InstanceProtocol"] = strings.ToUpper(listener.String("InstanceProtocol"))
		i := slices.IndexFunc(all, func(other protocol.Struct) bool {
			return other.Int("LoadBalancerPort") == listener.Int("LoadBalancerPort")
		})
		switch {
		case !slices.Contains([]string{"HTTP", "HTTPS", "TCP", "SSL"}, listener.String("Protocol")):
			return nil, protocol.Fail("UnsupportedProtocol", "The protocol '%s' is not supported", listener.String("Protocol"))
		case i < 0:
			all = append(all, listener)
		case !maps.Equal(all[i], listener):
			return nil, protocol.Fail("DuplicateListener", "A listener already exists for the port %d, with other properties", listener.Int("LoadBalancerPort"))
		}
	}
	return all, nil
}

func createListeners(b *balancer, q *core.Request) (_ protocol.Struct, err error) {
	changed, err := withListeners(b.listeners, q.In.Structs("Listeners"))
	if err != nil {
		return nil, err
	}
	b.listeners = changed
	return protocol.Struct{}, nil
}

// deleteListeners succeeds also for ports without a listener.
func deleteListeners(b *balancer, q *core.Request) (protocol.Struct, error) {
	ports, _ := q.In["LoadBalancerPorts"].([]any)
	b.listeners = slices.DeleteFunc(b.listeners, func(listener protocol.Struct) bool { return slices.Contains(ports, listener["LoadBalancerPort"]) })
	return protocol.Struct{}, nil
}

func instanceIDs(q *core.Request) []string {
	var ids []string
	for _, instance := range q.In.Structs("Instances") {
		ids = append(ids, instance.String("InstanceId"))
	}
	return ids
}

func (s *Service) registerInstances(b *balancer, q *core.Request) (protocol.Struct, error) {
	for _, id := range instanceIDs(q) {
		if s.network.VPCOfInstance(id) != b.vpcID {
			return nil, protocol.Fail("InvalidInstance", "Could not find EC2 instance %s.", id)
		}
	}
	for _, id := range instanceIDs(q) {
		if !slices.Contains(b.instances, id) {
			b.instances = append(b.instances, id)
		}
	}
	return protocol.Struct{"Instances": b.viewClassic()["Instances"]}, nil
}

// deregisterInstances succeeds also for instances that are not registered.
func deregisterInstances(b *balancer, q *core.Request) (protocol.Struct, error) {
	ids := instanceIDs(q)
	b.instances = slices.DeleteFunc(b.instances, func(id string) bool { return slices.Contains(ids, id) })
	return protocol.Struct{"Instances": b.viewClassic()["Instances"]}, nil
}

// applyGroups replaces the security groups.
func (s *Service) applyGroups(b *balancer, q *core.Request) (protocol.Struct, error) {
	groups := q.In.Strings("SecurityGroups")
	for _, id := range b.interfaces {
		if err := s.network.SetInterfaceGroups(id, groups); err != nil {
			return nil, invalidGroup(err)
		}
	}
	b.Groups = groups
	return protocol.Struct{"SecurityGroups": protocol.ListOf(groups)}, nil
}

// checkSubnets checks that there are such subnets, and one in each zone, besides those that a load balancer has in zones.
func (s *Service) checkSubnets(zones, subnets []string) error {
	taken := slices.Clone(zones)
	for _, id := range subnets {
		_, zone, err := s.network.VPCOf(id)
		if err != nil {
			return protocol.Fail("SubnetNotFound", "The subnet ID '%s' does not exist", id)
		}
		if slices.Contains(taken, zone) {
			return protocol.FailWith(409, "InvalidConfigurationRequest", "ELB cannot be attached to multiple subnets in the same AZ.")
		}
		taken = append(taken, zone)
	}
	return nil
}

func (s *Service) attachSubnets(b *balancer, q *core.Request) (protocol.Struct, error) {
	added := slices.DeleteFunc(q.In.Strings("Subnets"), func(id string) bool { return slices.Contains(b.Subnets, id) })
	if err := s.checkSubnets(b.zones, added); err != nil {
		return nil, err
	}
	for _, id := range added {
		if err := s.attach(b, id, "ELB "+b.Name); err != nil {
			return nil, err
		}
	}
	return protocol.Struct{"Subnets": protocol.ListOf(b.Subnets)}, nil
}

// detachSubnets removes subnets. At least one stays.
func (s *Service) detachSubnets(b *balancer, q *core.Request) (protocol.Struct, error) {
	removed := q.In.Strings("Subnets")
	if !slices.ContainsFunc(b.Subnets, func(id string) bool { return !slices.Contains(removed, id) }) {
		return nil, protocol.FailWith(409, "InvalidConfigurationRequest", "A load balancer must have at least one subnet")
	}
	for _, id := range removed {
		i := slices.Index(b.Subnets, id)
		if i < 0 {
			continue
		}
		s.network.RemoveInterface(b.interfaces[i])
		b.Subnets, b.zones, b.interfaces = slices.Delete(b.Subnets, i, i+1), slices.Delete(b.zones, i, i+1), slices.Delete(b.interfaces, i, i+1)
	}
	return protocol.Struct{"Subnets": protocol.ListOf(b.Subnets)}, nil
}

// invalidGroup is the error of EC2 for a security group, as Elastic Load Balancing reports it.
func invalidGroup(err error) error {
	failure, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return err
	}
	return protocol.Fail("InvalidSecurityGroup", "%s", failure.Message)
}
