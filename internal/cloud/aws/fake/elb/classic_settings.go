package elb

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// classicSettings are those that only a classic load balancer has, in the form of requests and responses.
type classicSettings struct {
	listeners               []protocol.Struct
	instances               []string // IDs
	healthCheck, attributes protocol.Struct
	policies                map[string]protocol.Struct // by name
	backendPolicies         map[int64][]string         // names of policies, by port of the instances
}

const internetFacing = "internet-facing"

// newClassicSettings are those of a new load balancer.
func newClassicSettings(listeners []protocol.Struct) classicSettings {
	port := int64(80)
	if len(listeners) > 0 {
		port = listeners[0].Int("InstancePort")
	}
	return classicSettings{
		listeners: listeners,
		healthCheck: protocol.Struct{
			"Target": fmt.Sprintf("TCP:%d", port), "Interval": int64(30), "Timeout": int64(5), "UnhealthyThreshold": int64(2), "HealthyThreshold": int64(10),
		},
		attributes: protocol.Struct{
			"AccessLog": protocol.Struct{"Enabled": false}, "ConnectionDraining": protocol.Struct{"Enabled": false, "Timeout": int64(300)},
			"ConnectionSettings": protocol.Struct{"IdleTimeout": int64(60)}, "CrossZoneLoadBalancing": protocol.Struct{"Enabled": false},
		},
		policies: map[string]protocol.Struct{}, backendPolicies: map[int64][]string{},
	}
}

func (b *balancer) viewClassic() protocol.Struct {
	listeners, backends, instances := []any{}, []any{}, []any{}
	for _, listener := range b.listeners {
		listeners = append(listeners, protocol.Struct{"Listener": listener, "PolicyNames": []any{}})
	}
	for _, port := range slices.Sorted(maps.Keys(b.backendPolicies)) {
		backends = append(backends, protocol.Struct{"InstancePort": port, "PolicyNames": protocol.ListOf(b.backendPolicies[port])})
	}
	for _, id := range b.instances {
		instances = append(instances, protocol.Struct{"InstanceId": id})
	}
	return protocol.Struct{
		"LoadBalancerName": b.Name, "DNSName": b.dnsName, "CanonicalHostedZoneName": b.dnsName, "VPCId": b.vpcID, "Scheme": b.scheme,
		"Subnets": protocol.ListOf(b.Subnets), "SecurityGroups": protocol.ListOf(b.Groups), "AvailabilityZones": protocol.ListOf(b.zones),
		"Instances": instances, "ListenerDescriptions": listeners, "BackendServerDescriptions": backends, "HealthCheck": b.healthCheck, "CreatedTime": b.created,
		"Policies": protocol.Struct{"OtherPolicies": protocol.ListOf(slices.Sorted(maps.Keys(b.policies)))},
	}
}

func configureHealthCheck(b *balancer, q *core.Request) (protocol.Struct, error) {
	check := q.In.Struct("HealthCheck")
	if check.Int("Timeout") >= check.Int("Interval") {
		return nil, protocol.Fail("ValidationError", "HealthCheck timeout must be less than interval")
	}
	b.healthCheck = check
	return protocol.Struct{"HealthCheck": check}, nil
}

func describeAttributes(b *balancer, _ *core.Request) (protocol.Struct, error) {
	return protocol.Struct{"LoadBalancerAttributes": b.attributes}, nil
}

// modifyAttributes changes the attributes that were sent.
func modifyAttributes(b *balancer, q *core.Request) (protocol.Struct, error) {
	sent := q.In.Struct("LoadBalancerAttributes")
	if sent.Has("AdditionalAttributes") {
		return nil, core.NotImplemented("the parameter AdditionalAttributes of " + q.Action)
	}
	for name := range sent {
		changed := maps.Clone(b.attributes.Struct(name))
		maps.Copy(changed, sent.Struct(name))
		b.attributes[name] = changed
	}
	return protocol.Struct{"LoadBalancerName": b.Name, "LoadBalancerAttributes": sent}, nil
}

const proxyProtocolPolicy = "ProxyProtocolPolicyType"

// createPolicy succeeds also if there is such a policy already.
func createPolicy(b *balancer, q *core.Request) (protocol.Struct, error) {
	name, kind := q.In.String("PolicyName"), q.In.String("PolicyTypeName")
	if kind != proxyProtocolPolicy {
		return nil, core.NotImplemented("policies of type " + kind)
	}
	policy := protocol.Struct{"PolicyTypeName": kind, "PolicyAttributes": q.In["PolicyAttributes"]}
	if former, found := b.policies[name]; found && fmt.Sprint(former) != fmt.Sprint(policy) {
		return nil, protocol.Fail("DuplicatePolicyName", "A policy with the name '%s' exists already", name)
	}
	b.policies[name] = policy
	return protocol.Struct{}, nil
}

// setBackendPolicies replaces the policies of a port of the instances.
func setBackendPolicies(b *balancer, q *core.Request) (protocol.Struct, error) {
	names, port := q.In.Strings("PolicyNames"), q.In.Int("InstancePort")
	for _, name := range names {
		if _, found := b.policies[name]; !found {
			return nil, protocol.Fail("PolicyNotFound", "There is no policy with name %s for load balancer %s", name, b.Name)
		}
	}
	b.backendPolicies[port] = names
	if len(names) == 0 {
		delete(b.backendPolicies, port)
	}
	return protocol.Struct{}, nil
}
