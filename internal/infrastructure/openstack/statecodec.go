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

// loadState reads status.state, written by this driver or the upstream extension, and completes it from status.providerStatus. State in another format,
// such as that of shoots created with Terraform, counts as empty.
func loadState(status extensionsv1alpha1.InfrastructureStatus) (*state, error) {
	result := newState()
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

func (s *state) decode(raw []byte) error {
	var typeMeta metav1.TypeMeta
	if err := json.Unmarshal(raw, &typeMeta); err != nil {
		return err
	}
	if !strings.HasPrefix(typeMeta.APIVersion, openstackv1alpha1.GroupName+"/") {
		return nil
	}
	var decoded openstackv1alpha1.InfrastructureState
	if err := json.Unmarshal(raw, &decoded); err != nil {
		return err
	}
	for key, value := range decoded.Data {
		var err error
		switch key {
		case openstackv1alpha1.StateKeyIntents:
			err = decodeInto(s.intents, value)
		case openstackv1alpha1.StateKeyOwnership:
			err = decodeInto(s.owners, value)
		case keyUncertainCreates:
			err = decodeInto(s.uncertainCreates, value)
		case openstackv1alpha1.StateKeyRouterIP:
		default:
			s.setMissingFact(key, value)
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

// complete adds what the state lacks from the provider status.
func (s *state) complete(status openstackv1alpha1.InfrastructureStatus) {
	s.setMissingFact(string(kindNetwork), status.Networks.ID)
	s.setMissingFact(openstackv1alpha1.StateKeyNetworkName, status.Networks.Name)
	s.setMissingFact(openstackv1alpha1.StateKeyFloatingNetwork, status.Networks.FloatingPool.ID)
	s.setMissingFact(openstackv1alpha1.StateKeyFloatingNetworkName, status.Networks.FloatingPool.Name)
	s.setMissingFact(string(kindRouter), status.Networks.Router.ID)
	s.setMissingFact(string(kindKeyPair), status.Node.KeyName)
	if share := status.Networks.ShareNetwork; share != nil {
		s.setMissingFact(string(kindShareNetwork), share.ID)
		s.setMissingFact(openstackv1alpha1.StateKeyShareNetworkName, share.Name)
	}
	for _, subnet := range status.Networks.Subnets {
		s.setMissingFact(string(kindOfPurpose(subnet.Purpose)), subnet.ID)
	}
	for _, group := range status.SecurityGroups {
		if group.Purpose == openstackv1alpha1.PurposeNodes {
			s.setMissingFact(string(kindSecurityGroup), group.ID)
			s.setMissingFact(openstackv1alpha1.StateKeySecurityGroupName, group.Name)
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

func (s *state) setMissingFact(key, value string) {
	if value != "" && s.data[key] == "" {
		s.data[key] = value
	}
}

// infrastructureState returns the recorded state as it is saved: strings under data, which the upstream extension can decode.
func (s *state) infrastructureState() *openstackv1alpha1.InfrastructureState {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	data := maps.Clone(s.data)
	if len(s.intents) > 0 {
		data[openstackv1alpha1.StateKeyIntents] = encode(s.intents)
	}
	if len(s.owners) > 0 {
		data[openstackv1alpha1.StateKeyOwnership] = encode(s.owners)
	}
	if len(s.uncertainCreates) > 0 {
		data[keyUncertainCreates] = encode(s.uncertainCreates)
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

// config returns the configuration of the last successful reconciliation, or nil.
func (s *state) config() *openstackv1alpha1.InfrastructureConfig {
	text := s.fact(keyConfig)
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
