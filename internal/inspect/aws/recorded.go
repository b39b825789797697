package aws

import (
	"slices"
	"strings"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/inspect"
	"github.com/trellis-garden/trellis/internal/inspect/recorded"
)

// shoot is what is known of a shoot's resources.
type shoot struct {
	*recorded.Resources
	config awsv1alpha1.InfrastructureConfig
	status awsv1alpha1.InfrastructureStatus
	// given are the zones with subnets of the user, by their names.
	given map[string]bool
}

// decode reads all parts, whatever the errors. The state is completed from the status.
func decode(from inspect.Recorded) (*shoot, error) {
	s := &shoot{given: map[string]bool{}}
	var err error
	s.Resources, err = recorded.Decode(from, recorded.Format{
		Group: awsv1alpha1.GroupName, Prefix: awsv1alpha1.StateKeyPrefix, Adopted: awsv1alpha1.StateKeyAdopted,
		Keys: record.Keys{Intents: awsv1alpha1.StateKeyIntents, Owners: awsv1alpha1.StateKeyOwners, UncertainCreates: awsv1alpha1.StateKeyUncertainCreates},
	}, &s.status, &s.config)
	for _, zone := range s.config.Networks.Zones {
		s.given[zone.Name] = zone.WorkersSubnetID != nil
	}
	s.IsGiven = s.isGiven
	s.complete()
	return s, err
}

// complete adds what the state lacks from the status.
func (s *shoot) complete() {
	facts := map[string]string{
		awsv1alpha1.StateKeyVPC:               s.status.VPC.ID,
		awsv1alpha1.StateKeyKeyPair:           s.status.EC2.KeyName,
		awsv1alpha1.StateKeyElasticFileSystem: s.status.ElasticFileSystem.ID,
	}
	for _, profile := range s.status.IAM.InstanceProfiles {
		if profile.Purpose == awsv1alpha1.PurposeNodes {
			facts[awsv1alpha1.StateKeyIAMInstanceProfileName] = profile.Name
		}
	}
	for _, role := range s.status.IAM.Roles {
		if role.Purpose == awsv1alpha1.PurposeNodes {
			facts[awsv1alpha1.StateKeyIAMRoleARN] = role.ARN
			facts[awsv1alpha1.StateKeyIAMRoleName] = role.ARN[strings.LastIndex(role.ARN, "/")+1:]
		}
	}
	for _, group := range s.status.VPC.SecurityGroups {
		if group.Purpose == awsv1alpha1.PurposeNodes {
			facts[awsv1alpha1.StateKeyNodesSecurityGroup] = group.ID
		}
	}
	for _, subnet := range s.status.VPC.Subnets {
		for _, kind := range subnets() {
			if kind.purpose == subnet.Purpose {
				facts[awsv1alpha1.ZoneStateKey(subnet.Zone, kind.key)] = subnet.ID
			}
		}
	}
	for key, value := range facts {
		s.SetMissingFact(key, value)
	}
}

// state returns the completed state.
func (s *shoot) state() *awsv1alpha1.InfrastructureState {
	state := awsv1alpha1.NewInfrastructureState()
	state.Data = s.Encode()
	return state
}

// zones names the zones of the configuration, of the state, and those in which something was about to be created, sorted.
func (s *shoot) zones() []string {
	state := s.state()
	for _, kind := range s.Intended() {
		state.Data[string(kind)] = ""
	}
	zones := state.Zones()
	for _, zone := range s.config.Networks.Zones {
		zones = append(zones, zone.Name)
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// configOf returns the configuration of a zone, or an empty one.
func (s *shoot) configOf(name string) awsv1alpha1.Zone {
	for _, zone := range s.config.Networks.Zones {
		if zone.Name == name {
			return zone
		}
	}
	return awsv1alpha1.Zone{}
}

// isGiven reports whether the configuration names the resource of a kind, or what it belongs to.
func (s *shoot) isGiven(kind record.Kind) bool {
	networks := s.config.Networks
	switch kind {
	case awsv1alpha1.StateKeyVPC, awsv1alpha1.StateKeyInternetGateway, awsv1alpha1.StateKeyEgressOnlyInternetGateway:
		return networks.VPC.ID != nil
	case awsv1alpha1.StateKeyNodesSecurityGroup:
		return networks.NodesSecurityGroupID != nil
	case awsv1alpha1.StateKeyElasticFileSystem:
		return s.config.ElasticFileSystem != nil && s.config.ElasticFileSystem.ID != nil
	}
	for zone, isGiven := range s.given {
		if isGiven && strings.HasPrefix(string(kind), awsv1alpha1.ZoneStateKey(zone, "")) {
			return true
		}
	}
	return false
}
