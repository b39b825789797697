package openstack

import (
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/inspect"
	"github.com/trellis-garden/trellis/internal/inspect/recorded"
)

// shoot is what is known of a shoot's resources.
type shoot struct {
	*recorded.Resources
	config openstackv1alpha1.InfrastructureConfig
	status openstackv1alpha1.InfrastructureStatus
}

// decode reads all parts, whatever the errors. The state is completed from the status, as the driver does.
func decode(from inspect.Recorded) (*shoot, error) {
	s := &shoot{}
	var err error
	s.Resources, err = recorded.Decode(from, recorded.Format{
		Group: openstackv1alpha1.GroupName, Prefix: openstackv1alpha1.StateKeyPrefix, Adopted: openstackv1alpha1.StateKeyAdopted,
		Keys: record.Keys{
			Intents: openstackv1alpha1.StateKeyIntents, Owners: openstackv1alpha1.StateKeyOwnership,
			UncertainCreates: openstackv1alpha1.StateKeyUncertainCreates,
		},
	}, &s.status, &s.config)
	s.IsGiven = s.isGiven
	s.complete()
	return s, err
}

// complete adds what the state lacks from the status.
func (s *shoot) complete() {
	networks := s.status.Networks
	facts := map[string]string{
		openstackv1alpha1.StateKeyNetwork:             networks.ID,
		openstackv1alpha1.StateKeyNetworkName:         networks.Name,
		openstackv1alpha1.StateKeyFloatingNetwork:     networks.FloatingPool.ID,
		openstackv1alpha1.StateKeyFloatingNetworkName: networks.FloatingPool.Name,
		openstackv1alpha1.StateKeyRouter:              networks.Router.ID,
		openstackv1alpha1.StateKeyKeyPair:             s.status.Node.KeyName,
	}
	if share := networks.ShareNetwork; share != nil {
		facts[openstackv1alpha1.StateKeyShareNetwork], facts[openstackv1alpha1.StateKeyShareNetworkName] = share.ID, share.Name
	}
	for _, kind := range subnets() {
		facts[string(kind.kind)] = s.subnet(kind.purpose).ID
	}
	for _, group := range s.status.SecurityGroups {
		if group.Purpose == openstackv1alpha1.PurposeNodes {
			facts[openstackv1alpha1.StateKeySecurityGroup], facts[openstackv1alpha1.StateKeySecurityGroupName] = group.ID, group.Name
		}
	}
	for key, value := range facts {
		s.SetMissingFact(key, value)
	}
}

// subnet returns the subnet of that purpose in the status, or an empty one.
func (s *shoot) subnet(purpose openstackv1alpha1.Purpose) openstackv1alpha1.Subnet {
	for _, subnet := range s.status.Networks.Subnets {
		if subnet.Purpose == purpose {
			return subnet
		}
	}
	return openstackv1alpha1.Subnet{}
}

// isGiven reports whether the configuration names the resource of a kind.
func (s *shoot) isGiven(kind record.Kind) bool {
	networks := s.config.Networks
	switch kind {
	case openstackv1alpha1.StateKeyNetwork:
		return networks.ID != nil
	case openstackv1alpha1.StateKeyRouter:
		return networks.Router != nil
	case openstackv1alpha1.StateKeySubnet:
		return networks.SubnetID != nil
	case openstackv1alpha1.StateKeySecurityGroup:
		return networks.SecurityGroupID != nil
	default:
		return false
	}
}
