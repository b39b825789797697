package openstack

import (
	"slices"
	"strings"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/record"
)

type kind = record.Kind

const (
	kindNetwork        kind = openstackv1alpha1.StateKeyNetwork
	kindRouter         kind = openstackv1alpha1.StateKeyRouter
	kindSubnet         kind = openstackv1alpha1.StateKeySubnet
	kindSubnetIPv6     kind = openstackv1alpha1.StateKeySubnetIPv6
	kindSubnetPods     kind = openstackv1alpha1.StateKeySubnetIPv6Pods
	kindSubnetServices kind = openstackv1alpha1.StateKeySubnetIPv6Services
	kindSecurityGroup  kind = openstackv1alpha1.StateKeySecurityGroup
	kindShareNetwork   kind = openstackv1alpha1.StateKeyShareNetwork
	// kindKeyPair is identified by its name.
	kindKeyPair kind = openstackv1alpha1.StateKeyKeyPair
	// kindInterface is the router's interface in a node subnet that the user gave. Its ID is the subnet's. Interfaces in
	// subnets of the shoot are not recorded: they are deleted with the subnet.
	kindInterface kind = openstackv1alpha1.StateKeyInterface
)

// subnetKinds are the kinds of subnets, the IPv4 one first.
func subnetKinds() []kind {
	return []kind{kindSubnet, kindSubnetIPv6, kindSubnetPods, kindSubnetServices}
}

// Keys of facts that only this driver reads.
const (
	// keyFloatingSubnet is the ID of the external subnet that gave the router its address.
	keyFloatingSubnet = openstackv1alpha1.StateKeyPrefix + "floatingSubnet"
	// keyKeyPairDigest is which public key was written to which key pair last: see keyrecord.go.
	keyKeyPairDigest = openstackv1alpha1.StateKeyPrefix + "keyPairDigest"
	// keyLeftovers lists resources that remain after the load balancers of a cloud-controller-manager: see leftovers.go.
	keyLeftovers = openstackv1alpha1.StateKeyLeftovers

	// keyWorkersCIDR is the IPv4 range of the nodes' subnet. Upstream's key for it means something else: see upstreamWorkersCIDR.
	keyWorkersCIDR = openstackv1alpha1.StateKeyPrefix + "workersCIDR"
	// keyConfig is the configuration of the last successful reconciliation, as JSON. Immutable fields are compared with it.
	keyConfig = openstackv1alpha1.StateKeyPrefix + "config"

	// keyAdopted is set for shoots that the upstream extension has recorded before.
	keyAdopted = openstackv1alpha1.StateKeyAdopted
	// keyUnrecorded lists the kinds that the state of an incomplete shoot of the upstream extension lacked: see unrecorded.go.
	keyUnrecorded = openstackv1alpha1.StateKeyPrefix + "unrecorded"
	// keyProject is the ID of the shoot's project.
	keyProject = openstackv1alpha1.StateKeyPrefix + "project"

	// keyUncertainCreates is since when creations have an unknown result, by kind, as JSON: see uncertain_create.go.
	keyUncertainCreates = openstackv1alpha1.StateKeyUncertainCreates
	// keyNothingCreated is set until the first attempt to create a resource.
	keyNothingCreated = openstackv1alpha1.StateKeyPrefix + "nothing"

	keyFloatingNetwork = openstackv1alpha1.StateKeyFloatingNetwork
)

// Owners of resources, see package record.
const (
	// ownershipUnknown is that of resources which the upstream extension recorded: the configuration decides.
	ownershipUnknown = record.Unknown
	own              = record.Own
	given            = record.Given
)

// state is what earlier reconciliations recorded of the shoot's resources, and what this one has found. It is safe for concurrent use.
type state struct{ *record.Record }

func newState() *state {
	return &state{record.New(record.Keys{
		Intents: openstackv1alpha1.StateKeyIntents, Owners: openstackv1alpha1.StateKeyOwnership, UncertainCreates: keyUncertainCreates,
	})}
}

// fromUpstream reports whether the upstream extension wrote the recorded state.
func (s *state) fromUpstream() bool {
	return s.OnlyData(func(key string) bool { return strings.HasPrefix(key, openstackv1alpha1.StateKeyPrefix) })
}

// nothingCreated reports whether it is recorded that the shoot cannot have any resource.
func (s *state) nothingCreated() bool { return s.Fact(keyNothingCreated) != "" }

// recordResource records a resource and removes the intent.
func (s *state) recordResource(k kind, id string, owner record.Owner) {
	s.RecordResource(k, id, owner)
	s.clearUnrecorded(k)
	if k == kindInterface || k == kindKeyPair {
		s.ClearUncertain(k) // there cannot be two
	}
}

// leftovers returns the recorded leftovers as kind/ID, sorted.
func (s *state) leftovers() []string {
	list := s.Fact(keyLeftovers)
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// setLeftovers records leftovers; none removes the record.
func (s *state) setLeftovers(list []string) {
	sorted := slices.Sorted(slices.Values(list))
	s.SetFact(keyLeftovers, strings.Join(slices.Compact(sorted), ","))
}
