package ec2

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Service is EC2. Its methods run with the cloud's lock.
type Service struct {
	core     *core.Cloud
	sequence int
	tagged   []tagged

	vpcs           *collection[*vpc]
	dhcpOptions    *collection[*dhcpOptions]
	subnets        *collection[*subnet]
	reservations   *collection[*cidrReservation]
	gateways       *collection[*internetGateway]
	egressGateways *collection[*egressOnlyGateway]
	routeTables    *collection[*routeTable]
	natGateways    *collection[*natGateway]
	addresses      *collection[*address]
	groups         *collection[*securityGroup]
	rules          *collection[*rule]
	endpoints      *collection[*endpoint]
	keyPairs       *collection[*keyPair]
	interfaces     *collection[*networkInterface]
	instances      *collection[*instance]
	volumes        *collection[*volume]
	images         *collection[*image]
	acls           *collection[*networkACL]

	defaultDHCPOptions string
	ipv6Blocks         int                     // of Amazon that were allocated
	pools              map[string]netip.Prefix // of IPv6 addresses, by ID
	profiles           InstanceProfiles
}

// InstanceProfiles are those of IAM.
type InstanceProfiles interface {
	// FindProfile returns the ARN and ID of the instance profile that has the name or the ARN, and whether EC2 sees it already.
	FindProfile(q *core.Request, name, arn string) (profileARN, id string, found bool)
}

// New returns EC2 without VPCs, and registers its actions.
func New(shared *core.Cloud, profiles InstanceProfiles) (*Service, error) {
	s := &Service{core: shared, pools: map[string]netip.Prefix{}, profiles: profiles}
	s.vpcs, s.dhcpOptions, s.subnets, s.reservations = s.newVPCs(), s.newDHCPOptions(), s.newSubnets(), s.newReservations()
	s.gateways, s.egressGateways, s.routeTables = s.newInternetGateways(), s.newEgressOnlyGateways(), s.newRouteTables()
	s.natGateways, s.addresses, s.groups, s.rules = s.newNATGateways(), s.newAddresses(), s.newSecurityGroups(), s.newRules()
	s.endpoints, s.keyPairs, s.interfaces, s.acls = s.newEndpoints(), s.newKeyPairs(), s.newInterfaces(), s.newACLs()
	s.instances, s.volumes, s.images = s.newInstances(), s.newVolumes(), s.newImages()
	s.tagged = []tagged{
		taggedIn(s.vpcs), taggedIn(s.dhcpOptions), taggedIn(s.subnets), taggedIn(s.reservations), taggedIn(s.gateways), taggedIn(s.egressGateways),
		taggedIn(s.routeTables), taggedIn(s.natGateways), taggedIn(s.addresses), taggedIn(s.groups), taggedIn(s.rules), taggedIn(s.endpoints),
		taggedIn(s.keyPairs), taggedIn(s.interfaces), taggedIn(s.acls), taggedIn(s.instances), taggedIn(s.volumes), taggedIn(s.images),
	}
	s.addDefaultDHCPOptions()
	actions := map[string]core.Action{}
	for _, some := range []map[string]core.Action{
		s.vpcActions(), s.vpcCIDRActions(), s.dhcpActions(), s.subnetActions(), s.reservationActions(), s.internetGatewayActions(), s.egressOnlyGatewayActions(),
		s.routeTableActions(), s.associationActions(), s.routeActions(), s.natGatewayActions(), s.addressActions(), s.securityGroupActions(), s.ruleActions(),
		s.endpointActions(), s.keyPairActions(), s.interfaceActions(), s.ipv6Actions(), s.instanceActions(), s.volumeActions(), s.imageActions(), s.tagActions(), s.zoneActions(),
	} {
		maps.Copy(actions, some)
	}
	for name, action := range actions {
		actions[name] = s.refusingHidden(name, action)
	}
	return s, shared.Register("ec2", actions)
}

// newMeta returns the common part of a new resource. Tags in the call must be for its kind.
func (s *Service) newMeta(prefix, kind string, q *core.Request) (meta, error) {
	tags, err := tagsByKind(q, kind)
	if err != nil {
		return meta{}, err
	}
	return s.metaWith(prefix, tags[kind]), nil
}

// tagsByKind reads the tags in a call that creates resources of these kinds.
func tagsByKind(q *core.Request, kinds ...string) (map[string]map[string]string, error) {
	byKind := map[string]map[string]string{}
	for _, kind := range kinds {
		byKind[kind] = map[string]string{}
	}
	for _, specification := range q.In.Structs("TagSpecifications") {
		tags := byKind[specification.String("ResourceType")]
		if tags == nil {
			return nil, protocol.Fail("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", specification.String("ResourceType"))
		}
		maps.Copy(tags, tagsIn(specification.Structs("Tags")))
		if err := checkTags(tags); err != nil {
			return nil, err
		}
	}
	return byKind, nil
}

// metaWith returns the common part of a new resource with these tags.
func (s *Service) metaWith(prefix string, tags map[string]string) meta {
	created := s.bareMeta(prefix)
	created.setTags(tags, s.core.Config.Lag)
	created.missingReads = s.core.Config.Lag.Reads
	created.visible = time.Now().Add(s.core.Config.Lag.For)
	return created
}

// bareMeta returns the common part of a resource that AWS makes itself, without tags.
func (s *Service) bareMeta(prefix string) meta {
	s.sequence++
	return meta{id: s.core.NewID(prefix), sequence: s.sequence, tags: map[string]string{}}
}

func (s *Service) owner() string { return s.core.Config.AccountID }

// one returns a filter by one value.
func one[T object](value func(T) string) func(T) []string {
	return func(item T) []string { return []string{value(item)} }
}

// yes is the value of a boolean in filters.
func yes(v bool) string {
	if v {
		return "true"
	}
	return "false"
}

// dependencyError is the error of a deletion that others prevent. AWS does not name them.
func dependencyError(noun, id string) *wire.Error {
	return protocol.Fail("DependencyViolation", "The %s '%s' has dependencies and cannot be deleted.", noun, id)
}

// Dependants lists the IDs of resources that prevent the deletion of a resource, sorted.
func (s *Service) Dependants(id string) []string {
	var out []string
	out = append(out, s.vpcDependants(id)...)
	out = append(out, s.subnetDependants(id)...)
	out = append(out, s.groupDependants(id)...)
	out = append(out, idsOf(s.vpcs.where(func(v *vpc) bool { return v.dhcpID == id }))...)
	if gateway, found := s.gateways.find(id); found && gateway.vpcID != "" {
		out = append(out, gateway.vpcID)
	}
	if table, found := s.routeTables.find(id); found {
		for _, a := range table.associations {
			out = append(out, a.id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IDs lists the resources that somebody created and that are not deleted, sorted, without rules of security groups.
func (s *Service) IDs() []string {
	out := slices.Concat(
		idsOf(s.vpcs.items), idsOf(s.subnets.items), idsOf(s.reservations.items), idsOf(s.gateways.items), idsOf(s.egressGateways.items),
		idsOf(s.addresses.items), idsOf(s.endpoints.items), idsOf(s.keyPairs.items), idsOf(s.interfaces.items), idsOf(s.volumes.items),
		idsOf(s.instances.where(func(i *instance) bool { return i.state != instanceTerminated })),
		idsOf(s.dhcpOptions.where(func(d *dhcpOptions) bool { return d.id != s.defaultDHCPOptions })),
		idsOf(s.routeTables.where(func(t *routeTable) bool { return !t.isMain() })),
		idsOf(s.natGateways.where(func(g *natGateway) bool { return g.state != natDeleted })),
		idsOf(s.groups.where(func(g *securityGroup) bool { return !g.isDefault })),
	)
	slices.Sort(out)
	return out
}

// describing returns an action that describes resources.
func describing[T object](s *Service, c *collection[T]) core.Action {
	return core.Action{Reads: c.ids + " Filters MaxResults NextToken", Do: func(q *core.Request) (protocol.Struct, error) { return describe(s, c, q) }}
}
