package openstack

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// kind is a sort of resource of which a shoot has one. Its value is the ledger's key for the ID.
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
	// subnets of our own need no record: they go with the subnet.
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
	// keyKeyPairDigest says which public key was put into which key pair last: see keyrecord.go.
	keyKeyPairDigest = openstackv1alpha1.StateKeyPrefix + "keyPairDigest"
	// keyLeftovers lists what outlives the load balancers of a cloud-controller-manager: see leftovers.go.
	keyLeftovers = openstackv1alpha1.StateKeyPrefix + "leftovers"

	// keyWorkersCIDR is the IPv4 range of the nodes' subnet. Upstream's key for it means something else: see upstreamWorkersCIDR.
	keyWorkersCIDR = openstackv1alpha1.StateKeyPrefix + "workersCIDR"
	// keyConfig is the configuration that was fulfilled last, as JSON: what is immutable is compared with it.
	keyConfig = openstackv1alpha1.StateKeyPrefix + "config"

	// keyAdopted stands for shoots that the upstream extension recorded before.
	keyAdopted = openstackv1alpha1.StateKeyPrefix + "adopted"
	// keyUnrecorded lists the kinds that the state of an unfinished shoot of the upstream extension lacked: see unrecorded.go.
	keyUnrecorded = openstackv1alpha1.StateKeyPrefix + "unrecorded"
	// keyProject is the ID of the project in which the shoot lives.
	keyProject = openstackv1alpha1.StateKeyPrefix + "project"

	// keyDoubts holds since when creates are in doubt, by kind, as JSON: see doubt.go.
	keyDoubts = openstackv1alpha1.StateKeyPrefix + "doubts"
	// keyNothing stands as long as nobody tried to create anything.
	keyNothing = openstackv1alpha1.StateKeyPrefix + "nothing"

	keyFloatingNetwork = openstackv1alpha1.StateKeyFloatingNetwork
)

// ownership says who brought a resource into being.
type ownership string

const (
	// ownershipUnknown is that of resources which the upstream extension recorded: the configuration tells.
	ownershipUnknown ownership = ""
	// own resources are removed with the shoot.
	own ownership = "own"
	// given resources are the user's and stay.
	given ownership = "given"
)

// ledger is what is known about the shoot's resources from earlier passes and learned in this one. It is safe for
// concurrent use.
type ledger struct {
	mutex   sync.Mutex
	data    map[string]string
	owners  map[kind]ownership
	intents map[kind]string
	doubts  map[kind]string // the time in RFC 3339
}

func newLedger() *ledger {
	return &ledger{data: map[string]string{}, owners: map[kind]ownership{}, intents: map[kind]string{}, doubts: map[kind]string{}}
}

// empty tells whether nothing was ever recorded.
func (l *ledger) empty() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.data) == 0 && len(l.intents) == 0
}

// foreign tells whether somebody else wrote the ledger: the upstream extension.
func (l *ledger) foreign() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for key := range l.data {
		if strings.HasPrefix(key, openstackv1alpha1.StateKeyPrefix) {
			return false
		}
	}
	return len(l.data) > 0 && len(l.intents)+len(l.owners)+len(l.doubts) == 0
}

// nothing tells whether it is recorded that nothing of the shoot can exist.
func (l *ledger) nothing() bool { return l.fact(keyNothing) != "" }

// fact returns what is recorded under a key, or nothing.
func (l *ledger) fact(key string) string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.data[key]
}

// note records a fact; an empty value removes it.
func (l *ledger) note(key, value string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if value == "" {
		delete(l.data, key)
		return
	}
	l.data[key] = value
}

// id returns the recorded ID of the shoot's resource of that kind, or nothing.
func (l *ledger) id(k kind) string { return l.fact(string(k)) }

// owner returns who owns the recorded resource, as far as it is recorded.
func (l *ledger) owner(k kind) ownership {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.owners[k]
}

// intent returns the name of what was about to be created when the state was saved, or nothing.
func (l *ledger) intent(k kind) string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.intents[k]
}

// intend records that a resource of that name is about to be created.
func (l *ledger) intend(k kind, name string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.intents[k] = name
}

// hold records a resource and fulfils the intent. What was given once never becomes the shoot's own.
func (l *ledger) hold(k kind, id string, owner ownership) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.data[string(k)] == id && l.owners[k] == given {
		owner = given
	}
	l.data[string(k)] = id
	l.owners[k] = owner
	delete(l.intents, k)
	l.settleUnrecorded(k)
	if k == kindInterface || k == kindKeyPair {
		delete(l.doubts, k) // there cannot be two of them
	}
}

// forget removes all that is known about the kind, and the facts that go with it.
func (l *ledger) forget(k kind, facts ...string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.data, string(k))
	delete(l.owners, k)
	delete(l.intents, k)
	for _, key := range facts {
		delete(l.data, key)
	}
}

// intended returns the kinds of which something was about to be created.
func (l *ledger) intended() []kind {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Sorted(maps.Keys(l.intents))
}

// withdraw removes an intent of which nothing came.
func (l *ledger) withdraw(k kind) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.intents, k)
}

// doubt records that nobody knows what came of a create.
func (l *ledger) doubt(k kind, now time.Time) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.doubts[k] = now.UTC().Format(time.RFC3339)
}

// trust removes a doubt.
func (l *ledger) trust(k kind) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.doubts, k)
}

// doubted tells whether a create is in doubt.
func (l *ledger) doubted(k kind) bool {
	_, doubted := l.doubtedSince(k)
	return doubted
}

func (l *ledger) doubtedSince(k kind) (time.Time, bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	text, doubted := l.doubts[k]
	since, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, doubted // long ago
	}
	return since, doubted
}

// uncertain tells whether there may be more of a kind than what is recorded.
func (l *ledger) uncertain(k kind) bool { return l.intent(k) != "" || l.doubted(k) }

// leftovers returns the recorded leftovers in the form kind/ID, sorted.
func (l *ledger) leftovers() []string {
	list := l.fact(keyLeftovers)
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// setLeftovers records leftovers; none removes the record.
func (l *ledger) setLeftovers(list []string) {
	sorted := slices.Sorted(slices.Values(list))
	l.note(keyLeftovers, strings.Join(slices.Compact(sorted), ","))
}
