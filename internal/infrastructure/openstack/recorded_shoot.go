package openstack

import (
	"cmp"
	"slices"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// recordedShoot is what is wanted and what is recorded of a shoot. Its methods make no requests, so that a driver and an observer share them.
type recordedShoot struct {
	*plan
	state *state
}

// owns reports whether the recorded resource of a kind is the shoot's own. Given ones are not; if the upstream extension wrote the state, which does not say,
// the configuration decides.
func (s recordedShoot) owns(k kind, givenID string) bool {
	id := s.state.ID(k)
	if s.isGiven(id) {
		return false
	}
	switch s.state.Owner(k) {
	case own:
		return true
	case given:
		return false
	default:
		return givenID == ""
	}
}

func (s recordedShoot) knownID(k kind, givenID string) string {
	if givenID != "" {
		return givenID
	}
	return s.state.ID(k)
}

func (s recordedShoot) keyPairFacts(name string, observed *cloudopenstack.KeyPair) keyPairFacts {
	return keyPairFacts{
		wanted: s.plan.keyPair.publicKey, observed: observed,
		recorded: s.state.ID(kindKeyPair) == name, digests: parseKeyRecord(s.state.Fact(keyKeyPairDigest)).of(name),
	}
}

// effectiveKeyPairName is the recorded name, which machine classes contain already, or else the new one.
func (s recordedShoot) effectiveKeyPairName() string {
	if recorded := s.state.ID(kindKeyPair); recorded != "" {
		return recorded
	}
	return s.plan.keyPair.name
}

func (s recordedShoot) createdForCluster(balancer cloudopenstack.LoadBalancer) bool {
	service, ok := ccmLoadBalancerService(balancer.Name, balancer.Description)
	return ok && slices.Contains(s.clusterNames, service.cluster)
}

// recordedNodeRoutes are selected by the recorded ranges. The range of pods selects routes in subnets that are shared with others, too.
func (s recordedShoot) recordedNodeRoutes() nodeRoutes {
	routes := nodeRoutes{
		own:  nonEmptyList(s.state.Fact(openstackv1alpha1.StateKeyNodeSubnetIPv6CIDR)),
		pods: append(nonEmptyList(s.pods), nonEmptyList(s.state.Fact(openstackv1alpha1.StateKeyPodSubnetIPv6CIDR))...),
	}
	nodes, _ := s.subnet(kindSubnet)
	if workers := nonEmptyList(cmp.Or(s.state.Fact(keyWorkersCIDR), s.state.Fact(openstackv1alpha1.StateKeyWorkersCIDR))); s.owns(kindSubnet, nodes.givenID) {
		routes.own = append(routes.own, workers...)
	} else {
		routes.given = workers
	}
	return routes
}

// wantedRules are the rules of the nodes' security group. The IPv6 range of pods is known once its subnet exists.
func (s recordedShoot) wantedRules(groupID string) []cloudopenstack.SecurityGroupRule {
	wanted := s.plan.group
	if wanted.routesPods {
		ipv6 := nonEmptyList(s.state.Fact(openstackv1alpha1.StateKeyPodSubnetIPv6CIDR))
		wanted.podRanges = slices.Concat(wanted.podRanges, ipv6)
	}
	return wantedRules(wanted, groupID)
}
