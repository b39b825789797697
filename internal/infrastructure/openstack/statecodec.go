package openstack

import (
	"encoding/json"
	"fmt"
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
	delete(decoded.Data, openstackv1alpha1.StateKeyRouterIP)
	return s.Decode(decoded.Data)
}

// complete adds what the state lacks from the provider status.
func (s *state) complete(status openstackv1alpha1.InfrastructureStatus) {
	s.SetMissingFact(string(kindNetwork), status.Networks.ID)
	s.SetMissingFact(openstackv1alpha1.StateKeyNetworkName, status.Networks.Name)
	s.SetMissingFact(openstackv1alpha1.StateKeyFloatingNetwork, status.Networks.FloatingPool.ID)
	s.SetMissingFact(openstackv1alpha1.StateKeyFloatingNetworkName, status.Networks.FloatingPool.Name)
	s.SetMissingFact(string(kindRouter), status.Networks.Router.ID)
	s.SetMissingFact(string(kindKeyPair), status.Node.KeyName)
	if share := status.Networks.ShareNetwork; share != nil {
		s.SetMissingFact(string(kindShareNetwork), share.ID)
		s.SetMissingFact(openstackv1alpha1.StateKeyShareNetworkName, share.Name)
	}
	for _, subnet := range status.Networks.Subnets {
		s.SetMissingFact(string(kindOfPurpose(subnet.Purpose)), subnet.ID)
	}
	for _, group := range status.SecurityGroups {
		if group.Purpose == openstackv1alpha1.PurposeNodes {
			s.SetMissingFact(string(kindSecurityGroup), group.ID)
			s.SetMissingFact(openstackv1alpha1.StateKeySecurityGroupName, group.Name)
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

// infrastructureState returns the recorded state as it is saved: strings under data, which the upstream extension can decode.
func (s *state) infrastructureState() *openstackv1alpha1.InfrastructureState {
	return &openstackv1alpha1.InfrastructureState{
		TypeMeta: metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: "InfrastructureState"},
		Data:     s.Encode(),
	}
}

// config returns the configuration of the last successful reconciliation, or nil.
func (s *state) config() *openstackv1alpha1.InfrastructureConfig {
	text := s.Fact(keyConfig)
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
