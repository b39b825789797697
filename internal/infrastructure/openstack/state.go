package openstack

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	// keyKeyPairDigest is the digest of the public key that was put into the key pair last.
	keyKeyPairDigest = openstackv1alpha1.StateKeyPrefix + "keyPairDigest"
	// keyLeftovers lists what outlives the load balancers of a cloud-controller-manager: see leftovers.go.
	keyLeftovers = openstackv1alpha1.StateKeyPrefix + "leftovers"

	// keyConfig is the configuration that was fulfilled last, as JSON: what is immutable is compared with it.
	keyConfig = openstackv1alpha1.StateKeyPrefix + "config"

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
}

func newLedger() *ledger {
	return &ledger{data: map[string]string{}, owners: map[kind]ownership{}, intents: map[kind]string{}}
}

// loadLedger reads status.state, of ours or the upstream extension's making, and fills what it lacks from
// status.providerStatus. State in another format, such as that of shoots created with Terraform, counts as empty.
func loadLedger(status extensionsv1alpha1.InfrastructureStatus) (*ledger, error) {
	result := newLedger()
	if status.State != nil && len(status.State.Raw) > 0 {
		if err := result.decode(status.State.Raw); err != nil {
			return nil, fmt.Errorf("reading status.state of the Infrastructure: %w", err)
		}
	}
	if status.ProviderStatus != nil && len(status.ProviderStatus.Raw) > 0 {
		var known openstackv1alpha1.InfrastructureStatus
		if err := json.Unmarshal(status.ProviderStatus.Raw, &known); err != nil {
			return nil, fmt.Errorf("reading status.providerStatus of the Infrastructure: %w", err)
		}
		result.complete(known)
	}
	return result, nil
}

func (l *ledger) decode(raw []byte) error {
	var typeMeta metav1.TypeMeta
	if err := json.Unmarshal(raw, &typeMeta); err != nil {
		return err
	}
	if !strings.HasPrefix(typeMeta.APIVersion, openstackv1alpha1.GroupName+"/") {
		return nil
	}
	var state openstackv1alpha1.InfrastructureState
	if err := json.Unmarshal(raw, &state); err != nil {
		return err
	}
	for key, value := range state.Data {
		var err error
		switch key {
		case openstackv1alpha1.StateKeyIntents:
			err = decodeInto(l.intents, value)
		case openstackv1alpha1.StateKeyOwnership:
			err = decodeInto(l.owners, value)
		case openstackv1alpha1.StateKeyRouterIP:
		default:
			l.noteMissing(key, value)
		}
		if err != nil {
			return fmt.Errorf("data[%s]: %w", key, err)
		}
	}
	return nil
}

func decodeInto[V ~string](values map[kind]V, text string) error {
	var decoded map[kind]V
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		return err
	}
	maps.Copy(values, decoded)
	return nil
}

// complete takes from the provider status what the state does not say.
func (l *ledger) complete(status openstackv1alpha1.InfrastructureStatus) {
	l.noteMissing(string(kindNetwork), status.Networks.ID)
	l.noteMissing(openstackv1alpha1.StateKeyNetworkName, status.Networks.Name)
	l.noteMissing(openstackv1alpha1.StateKeyFloatingNetwork, status.Networks.FloatingPool.ID)
	l.noteMissing(openstackv1alpha1.StateKeyFloatingNetworkName, status.Networks.FloatingPool.Name)
	l.noteMissing(string(kindRouter), status.Networks.Router.ID)
	l.noteMissing(string(kindKeyPair), status.Node.KeyName)
	if share := status.Networks.ShareNetwork; share != nil {
		l.noteMissing(string(kindShareNetwork), share.ID)
		l.noteMissing(openstackv1alpha1.StateKeyShareNetworkName, share.Name)
	}
	for _, subnet := range status.Networks.Subnets {
		l.noteMissing(string(kindOfPurpose(subnet.Purpose)), subnet.ID)
	}
	for _, group := range status.SecurityGroups {
		if group.Purpose == openstackv1alpha1.PurposeNodes {
			l.noteMissing(string(kindSecurityGroup), group.ID)
			l.noteMissing(openstackv1alpha1.StateKeySecurityGroupName, group.Name)
		}
	}
}

func kindOfPurpose(purpose openstackv1alpha1.Purpose) kind {
	switch purpose {
	case openstackv1alpha1.PurposeNodesIPv6:
		return kindSubnetIPv6
	case openstackv1alpha1.PurposePods:
		return kindSubnetPods
	case openstackv1alpha1.PurposeServices:
		return kindSubnetServices
	default:
		return kindSubnet
	}
}

func (l *ledger) noteMissing(key, value string) {
	if value != "" && l.data[key] == "" {
		l.data[key] = value
	}
}

// empty tells whether nothing was ever recorded.
func (l *ledger) empty() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.data) == 0 && len(l.intents) == 0
}

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

// hold records a resource and fulfils the intent.
func (l *ledger) hold(k kind, id string, owner ownership) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.data[string(k)] = id
	l.owners[k] = owner
	delete(l.intents, k)
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

// state returns the ledger in the form in which it is saved: strings under data, decodable by the upstream extension.
func (l *ledger) state() *openstackv1alpha1.InfrastructureState {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	data := maps.Clone(l.data)
	if len(l.intents) > 0 {
		data[openstackv1alpha1.StateKeyIntents] = encode(l.intents)
	}
	if len(l.owners) > 0 {
		data[openstackv1alpha1.StateKeyOwnership] = encode(l.owners)
	}
	return &openstackv1alpha1.InfrastructureState{
		TypeMeta: metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: "InfrastructureState"},
		Data:     data,
	}
}

// encode writes a map of strings as JSON with sorted keys.
func encode[V ~string](values map[kind]V) string {
	plain := make(map[string]string, len(values))
	for k, v := range values {
		plain[string(k)] = string(v)
	}
	raw, _ := json.Marshal(plain) //nolint:errchkjson // strings can always be encoded
	return string(raw)
}

// config returns the configuration that was fulfilled last, or nil.
func (l *ledger) config() *openstackv1alpha1.InfrastructureConfig {
	text := l.fact(keyConfig)
	if text == "" {
		return nil
	}
	config := &openstackv1alpha1.InfrastructureConfig{}
	if err := json.Unmarshal([]byte(text), config); err != nil {
		return nil // another version's: there is nothing to compare with
	}
	config.Default()
	return config
}

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
