package aws

import (
	"fmt"
	"strings"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/record"
)

type kind = record.Kind

// Kinds of resources of which a shoot has one. Those of zones and endpoints are made by zoneKind and endpointKind.
const (
	kindVPC             kind = awsv1alpha1.StateKeyVPC
	kindDHCPOptions     kind = awsv1alpha1.StateKeyDHCPOptions
	kindInternetGateway kind = awsv1alpha1.StateKeyInternetGateway
	kindMainRouteTable  kind = awsv1alpha1.StateKeyMainRouteTable
	kindNodesGroup      kind = awsv1alpha1.StateKeyNodesSecurityGroup
	kindRole            kind = awsv1alpha1.StateKeyIAMRoleName
	kindProfile         kind = awsv1alpha1.StateKeyIAMInstanceProfileName
	kindRolePolicy      kind = awsv1alpha1.StateKeyIAMRolePolicyName
	kindKeyPair         kind = awsv1alpha1.StateKeyKeyPair
)

// Keys that only this driver reads.
const (
	// keyConfig is the configuration of the last successful reconciliation, as JSON. Immutable fields are compared with it.
	keyConfig = awsv1alpha1.StateKeyPrefix + "config"
	// keyNothingCreated is set until the first attempt to create a resource.
	keyNothingCreated = awsv1alpha1.StateKeyPrefix + "nothing"
	// keyTargetGroups is set from the deletion of load balancers on that may have target groups.
	keyTargetGroups = awsv1alpha1.StateKeyPrefix + "targetGroups"
	// keyDefaultGroup is the ID of the security group that AWS made with the VPC.
	keyDefaultGroup = awsv1alpha1.StateKeyDefaultSecurityGroup
)

// natGatewayPrefix begins the IDs of NAT gateways.
const natGatewayPrefix = "nat-"

func zoneKind(zone, key string) kind   { return kind(awsv1alpha1.ZoneStateKey(zone, key)) }
func endpointKind(service string) kind { return kind(awsv1alpha1.VPCEndpointStateKey(service)) }

// subnetKind is the kind of a subnet of a zone.
func subnetKind(zone string, r role) kind {
	return zoneKind(zone, map[role]string{
		workers: awsv1alpha1.ZoneKeySubnetWorkers, public: awsv1alpha1.ZoneKeySubnetPublic, internal: awsv1alpha1.ZoneKeySubnetInternal,
	}[r])
}

// associationKey is the key of the ID of the association of a subnet with its route table.
func associationKey(zone string, r role) string {
	return awsv1alpha1.ZoneStateKey(zone, map[role]string{
		workers: awsv1alpha1.ZoneKeyWorkersRouteTableAssoc, public: awsv1alpha1.ZoneKeyPublicRouteTableAssoc,
		internal: awsv1alpha1.ZoneKeyInternalRouteTableAssoc,
	}[r])
}

// state is what earlier reconciliations recorded of the shoot's resources, and what this one has found. It is safe for concurrent use.
type state struct{ *record.Record }

func recordKeys() record.Keys {
	return record.Keys{Intents: awsv1alpha1.StateKeyIntents, Owners: awsv1alpha1.StateKeyOwners, UncertainCreates: awsv1alpha1.StateKeyUncertainCreates}
}

// loadState returns the recorded state of an Infrastructure, which this driver or upstream's wrote.
func loadState(status extensionsv1alpha1.InfrastructureStatus) (*state, error) {
	recorded := &state{record.New(recordKeys())}
	stored, err := awsv1alpha1.DecodeInfrastructureState(status.State)
	if err == nil && stored != nil {
		err = recorded.Decode(stored.Data)
	}
	if err != nil {
		return nil, fmt.Errorf("reading status.state of the Infrastructure: %w", err)
	}
	for _, zone := range recorded.infrastructureState().Zones() {
		// Upstream's import of a Terraform state has put the ID of a route table here.
		nat := zoneKind(zone, awsv1alpha1.ZoneKeyNATGateway)
		if id := recorded.ID(nat); id != "" && !strings.HasPrefix(id, natGatewayPrefix) {
			recorded.Forget(nat)
		}
	}
	return recorded, nil
}

// infrastructureState returns the state in the form in which it is saved.
func (s *state) infrastructureState() *awsv1alpha1.InfrastructureState {
	saved := awsv1alpha1.NewInfrastructureState()
	saved.Data = s.Encode()
	return saved
}

// suffixes are the recorded numbers of zones by their names.
func (s *state) suffixes() map[string]string {
	all := map[string]string{}
	for _, zone := range s.infrastructureState().Zones() {
		if suffix := s.Fact(awsv1alpha1.ZoneStateKey(zone, awsv1alpha1.ZoneKeySuffix)); suffix != "" {
			all[zone] = suffix
		}
	}
	return all
}

// noteUpstream records that the upstream extension has recorded the shoot before, if so.
func (s *state) noteUpstream() {
	if s.OnlyData(func(key string) bool { return strings.HasPrefix(key, awsv1alpha1.StateKeyPrefix) }) {
		s.SetFact(awsv1alpha1.StateKeyAdopted, "true")
	}
}

// nothingCreated reports whether it is recorded that the shoot cannot have any resource.
func (s *state) nothingCreated() bool { return s.Fact(keyNothingCreated) != "" }
