package openstack

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

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
		case keyDoubts:
			err = decodeInto(l.doubts, value)
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
	if len(l.doubts) > 0 {
		data[keyDoubts] = encode(l.doubts)
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
