package aws

import (
	"maps"
	"slices"
	"strings"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/inspect"
	"github.com/trellis-garden/trellis/internal/inspect/recorded"
)

// Type is the type of Infrastructures.
const Type = "aws"

// Cloud implements inspect.Cloud.
type Cloud struct{}

var _ inspect.Cloud = Cloud{}

// subnetKind is a kind of subnet of a zone.
type subnetKind struct {
	key     string
	purpose awsv1alpha1.Purpose
	word    string
	// cidrKey and ipv6Key are the keys of the ranges of existing subnets in the state.
	cidrKey, ipv6Key string
	// configured is the range in the configuration of a zone.
	configured func(awsv1alpha1.Zone) *string
}

func subnets() []subnetKind {
	return []subnetKind{
		{
			awsv1alpha1.ZoneKeySubnetPublic, awsv1alpha1.PurposePublic, "subnet for public load balancers",
			awsv1alpha1.ZoneKeySubnetPublicCIDR, awsv1alpha1.ZoneKeySubnetPublicIPv6CIDR, func(z awsv1alpha1.Zone) *string { return z.Public },
		},
		{
			awsv1alpha1.ZoneKeySubnetInternal, awsv1alpha1.PurposeInternal, "subnet for internal load balancers",
			awsv1alpha1.ZoneKeySubnetInternalCIDR, awsv1alpha1.ZoneKeySubnetInternalIPv6CIDR, func(z awsv1alpha1.Zone) *string { return z.Internal },
		},
		{
			awsv1alpha1.ZoneKeySubnetWorkers, awsv1alpha1.PurposeNodes, "subnet of nodes",
			awsv1alpha1.ZoneKeySubnetWorkersCIDR, awsv1alpha1.ZoneKeySubnetWorkersIPv6CIDR, func(z awsv1alpha1.Zone) *string { return z.Workers },
		},
	}
}

// Resources implements inspect.Cloud. The VPC is the root of what is in it.
func (Cloud) Resources(from inspect.Recorded) ([]inspect.Resource, error) {
	s, err := decode(from)
	vpc := s.Resource(awsv1alpha1.StateKeyVPC, "VPC", "", texts(s.config.Networks.VPC.CIDR, s.Fact(awsv1alpha1.StateKeyVPCIPv6CIDR)))
	inVPC := slices.Concat(
		s.Resource(awsv1alpha1.StateKeyDHCPOptions, "DHCP options", "", ""),
		s.Resource(awsv1alpha1.StateKeyInternetGateway, "internet gateway", "", ""),
		s.Resource(awsv1alpha1.StateKeyEgressOnlyInternetGateway, "egress-only internet gateway", "", ""),
		s.Resource(awsv1alpha1.StateKeyMainRouteTable, "route table of public subnets", "", ""),
		s.endpoints(),
	)
	for _, zone := range s.zones() {
		inVPC = append(inVPC, s.zone(zone)...)
	}
	inVPC = append(inVPC, s.Resource(awsv1alpha1.StateKeyNodesSecurityGroup, "security group of nodes", "", "")...)

	role := s.Resource(awsv1alpha1.StateKeyIAMRoleName, "role", "", s.Fact(awsv1alpha1.StateKeyIAMRoleARN))
	ofRole := slices.Concat(
		s.Resource(awsv1alpha1.StateKeyIAMRolePolicyName, "role policy", "", ""),
		s.Resource(awsv1alpha1.StateKeyIAMInstanceProfileName, "instance profile", "", ""),
	)
	return slices.Concat(
		recorded.Below(vpc, inVPC),
		recorded.Below(role, ofRole),
		s.Resource(awsv1alpha1.StateKeyKeyPair, "key pair", "", ""),
		s.fileSystem(),
	), err
}

// zone returns an availability zone, which is AWS', with the shoot's resources in it.
func (s *shoot) zone(name string) []inspect.Resource {
	key := func(key string) record.Kind { return record.Kind(awsv1alpha1.ZoneStateKey(name, key)) }
	var in []inspect.Resource
	for _, kind := range subnets() {
		ranges := texts(kind.configured(s.configOf(name)), s.Fact(string(key(kind.cidrKey))), s.Fact(string(key(kind.ipv6Key))))
		subnet := s.Resource(key(kind.key), kind.word, "", ranges)
		if kind.purpose == awsv1alpha1.PurposePublic {
			gateway := s.Resource(key(awsv1alpha1.ZoneKeyNATGateway), "NAT gateway", "", "")
			subnet = recorded.Below(subnet, recorded.Below(gateway, s.address(name)))
		}
		in = append(in, subnet...)
	}
	in = append(in, s.Resource(key(awsv1alpha1.ZoneKeyRouteTable), "route table", "", "")...)
	if len(in) == 0 {
		return nil
	}
	return []inspect.Resource{{Kind: "zone", Name: name, Origin: inspect.OriginShared, Children: in}}
}

// address returns the elastic IP of the NAT gateway of a zone: an allocated one is recorded, one of the user is not.
func (s *shoot) address(zone string) []inspect.Resource {
	const word = "elastic IP"
	hasGateway := s.Fact(awsv1alpha1.ZoneStateKey(zone, awsv1alpha1.ZoneKeyNATGateway)) != ""
	if given := s.configOf(zone).ElasticIPAllocationID; given != nil && hasGateway {
		return []inspect.Resource{{Kind: word, ID: *given, Origin: inspect.OriginUser}}
	}
	return s.Resource(record.Kind(awsv1alpha1.ZoneStateKey(zone, awsv1alpha1.ZoneKeyElasticIP)), word, "", "")
}

func (s *shoot) endpoints() []inspect.Resource {
	services := slices.Collect(maps.Keys(s.state().VPCEndpoints()))
	for _, kind := range s.Intended() {
		if service, is := strings.CutPrefix(string(kind), awsv1alpha1.VPCEndpointStateKey("")); is {
			services = append(services, service)
		}
	}
	slices.Sort(services)
	var all []inspect.Resource
	for _, service := range slices.Compact(services) {
		all = append(all, s.Resource(record.Kind(awsv1alpha1.VPCEndpointStateKey(service)), "gateway endpoint", service, "")...)
	}
	return all
}

// fileSystem returns the elastic file system with its mount targets. Those belong to the shoot even in a file system of the user.
func (s *shoot) fileSystem() []inspect.Resource {
	var targets []inspect.Resource
	recordedTargets := s.state().MountTargets()
	for _, key := range slices.Sorted(maps.Keys(recordedTargets)) {
		kind := record.Kind(awsv1alpha1.MountTargetStateKey(splitMountTarget(key)))
		targets = append(targets, s.Resource(kind, "mount target", "", "")...)
	}
	return recorded.Below(s.Resource(awsv1alpha1.StateKeyElasticFileSystem, "elastic file system", "", ""), targets)
}

// splitMountTarget returns the parts of the last part of a mount target's key.
func splitMountTarget(key string) (fileSystem, subnet, securityGroup string) {
	fileSystem, rest, _ := strings.Cut(key, "_")
	subnet, securityGroup, _ = strings.Cut(rest, "_")
	return fileSystem, subnet, securityGroup
}

// texts joins a text that may be missing with others. A text that repeats another is left out.
func texts(first *string, more ...string) string {
	all := more
	if first != nil {
		all = append([]string{*first}, more...)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(text string) bool { return text == "" })
	return strings.Join(slices.Compact(all), ", ")
}
