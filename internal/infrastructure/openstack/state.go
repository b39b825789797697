package openstack

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// kind is a kind of resource of which a shoot has one. Its value is the key of the ID in the recorded state.
type kind string

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
	kindInterface kind = openstackv1alpha1.StateKeyPrefix + "interface"
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
	keyLeftovers = openstackv1alpha1.StateKeyPrefix + "leftovers"

	// keyWorkersCIDR is the IPv4 range of the nodes' subnet. Upstream's key for it means something else: see upstreamWorkersCIDR.
	keyWorkersCIDR = openstackv1alpha1.StateKeyPrefix + "workersCIDR"
	// keyConfig is the configuration of the last successful reconciliation, as JSON. Immutable fields are compared with it.
	keyConfig = openstackv1alpha1.StateKeyPrefix + "config"

	// keyAdopted is set for shoots that the upstream extension has recorded before.
	keyAdopted = openstackv1alpha1.StateKeyPrefix + "adopted"
	// keyUnrecorded lists the kinds that the state of an incomplete shoot of the upstream extension lacked: see unrecorded.go.
	keyUnrecorded = openstackv1alpha1.StateKeyPrefix + "unrecorded"
	// keyProject is the ID of the shoot's project.
	keyProject = openstackv1alpha1.StateKeyPrefix + "project"

	// keyUncertainCreates is since when creations have an unknown result, by kind, as JSON: see uncertain_create.go.
	keyUncertainCreates = openstackv1alpha1.StateKeyPrefix + "uncertainCreates"
	// keyNothingCreated is set until the first attempt to create a resource.
	keyNothingCreated = openstackv1alpha1.StateKeyPrefix + "nothing"

	keyFloatingNetwork = openstackv1alpha1.StateKeyFloatingNetwork
)

// ownership is the owner of a resource.
type ownership string

const (
	// ownershipUnknown is that of resources which the upstream extension recorded: the configuration decides.
	ownershipUnknown ownership = ""
	// own resources are deleted with the shoot.
	own ownership = "own"
	// given resources belong to the user and are never deleted.
	given ownership = "given"
)

// state is what earlier reconciliations recorded of the shoot's resources, and what this one has found. It is safe for concurrent use.
type state struct {
	mutex            sync.Mutex
	data             map[string]string
	owners           map[kind]ownership
	intents          map[kind]string
	uncertainCreates map[kind]string // the time in RFC 3339
}

func newState() *state {
	return &state{data: map[string]string{}, owners: map[kind]ownership{}, intents: map[kind]string{}, uncertainCreates: map[kind]string{}}
}

// empty reports whether nothing was ever recorded.
func (s *state) empty() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.data) == 0 && len(s.intents) == 0
}

// fromUpstream reports whether the upstream extension wrote the recorded state.
func (s *state) fromUpstream() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for key := range s.data {
		if strings.HasPrefix(key, openstackv1alpha1.StateKeyPrefix) {
			return false
		}
	}
	return len(s.data) > 0 && len(s.intents)+len(s.owners)+len(s.uncertainCreates) == 0
}

// nothingCreated reports whether it is recorded that the shoot cannot have any resource.
func (s *state) nothingCreated() bool { return s.fact(keyNothingCreated) != "" }

// fact returns the recorded value of a key, or an empty string.
func (s *state) fact(key string) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.data[key]
}

// setFact records a fact; an empty value removes it.
func (s *state) setFact(key, value string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if value == "" {
		delete(s.data, key)
		return
	}
	s.data[key] = value
}

// id returns the recorded ID of the shoot's resource of that kind, or an empty string.
func (s *state) id(k kind) string { return s.fact(string(k)) }

// owner returns who owns the recorded resource, as far as it is recorded.
func (s *state) owner(k kind) ownership {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.owners[k]
}

// intent returns the name of the resource that was about to be created when the state was saved, or an empty string.
func (s *state) intent(k kind) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.intents[k]
}

// recordIntent records that a resource of that name is about to be created.
func (s *state) recordIntent(k kind, name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.intents[k] = name
}

// recordResource records a resource and removes the intent. A given resource never becomes the shoot's own.
func (s *state) recordResource(k kind, id string, owner ownership) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.data[string(k)] == id && s.owners[k] == given {
		owner = given
	}
	s.data[string(k)] = id
	s.owners[k] = owner
	delete(s.intents, k)
	s.clearUnrecorded(k)
	if k == kindInterface || k == kindKeyPair {
		delete(s.uncertainCreates, k) // there cannot be two
	}
}

// forget removes everything recorded of the kind, and the facts that depend on it.
func (s *state) forget(k kind, facts ...string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.data, string(k))
	delete(s.owners, k)
	delete(s.intents, k)
	for _, key := range facts {
		delete(s.data, key)
	}
}

// intended returns the kinds with an intent.
func (s *state) intended() []kind {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Sorted(maps.Keys(s.intents))
}

// withdraw removes an intent whose resource was not created.
func (s *state) withdraw(k kind) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.intents, k)
}

// markUncertain records that the result of a creation is unknown.
func (s *state) markUncertain(k kind, now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.uncertainCreates[k] = now.UTC().Format(time.RFC3339)
}

// clearUncertain records that the result of a creation is known.
func (s *state) clearUncertain(k kind) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.uncertainCreates, k)
}

// isUncertain reports whether the result of a creation is unknown.
func (s *state) isUncertain(k kind) bool {
	_, uncertain := s.uncertainSince(k)
	return uncertain
}

func (s *state) uncertainSince(k kind) (time.Time, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	text, uncertain := s.uncertainCreates[k]
	since, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, uncertain // long ago
	}
	return since, uncertain
}

// mayHaveMore reports whether there may be more resources of a kind than the recorded one.
func (s *state) mayHaveMore(k kind) bool { return s.intent(k) != "" || s.isUncertain(k) }

// leftovers returns the recorded leftovers as kind/ID, sorted.
func (s *state) leftovers() []string {
	list := s.fact(keyLeftovers)
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// setLeftovers records leftovers; none removes the record.
func (s *state) setLeftovers(list []string) {
	sorted := slices.Sorted(slices.Values(list))
	s.setFact(keyLeftovers, strings.Join(slices.Compact(sorted), ","))
}
