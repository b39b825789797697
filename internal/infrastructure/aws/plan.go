package aws

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
)

// Tags of all resources of a shoot. Others read them: the cloud-controller-manager finds subnets and route tables by them, and upstream's driver everything.
const (
	tagName = "Name"
	// tagClusterPrefix is followed by the technical ID. Older resources have the value that upstream used before.
	tagClusterPrefix  = "kubernetes.io/cluster/"
	clusterOwned      = "owned"
	clusterOwnedOnce  = "1"
	clusterShared     = "shared"
	tagPublicBalancer = "kubernetes.io/role/elb"
	tagInnerBalancer  = "kubernetes.io/role/internal-elb"
)

// Ports that Services of type NodePort use by default.
const nodePortFrom, nodePortTo = 30000, 32767

// anywhere is the destination of default routes, and the peer of rules for everybody.
const anywhere = "0.0.0.0/0"

// plan is what a shoot wants, computed from its inputs alone.
type plan struct {
	technicalID, uid, region string
	vpc                      vpcSpec
	zones                    []zoneSpec
	// endpoints are the full names of services.
	endpoints []string
	// nodesGroupID is the user's security group of nodes; empty if the shoot has its own.
	nodesGroupID string
	fileSystem   fileSystemSpec
	// givenSubnets means that the user gives the subnets of all zones: the shoot then has no gateways, route tables and endpoints.
	givenSubnets bool
	// routesPods means that the network of pods does not encapsulate packets, so that a controller maintains routes.
	routesPods bool
	// fabricAdapters means that nodes have elastic fabric adapters, which reach each other by a rule for their own group alone.
	fabricAdapters bool

	publicKey string
	ecrAccess bool
	// ignored reports whether a foreign tag stays.
	ignored func(key string) bool

	// ipv4 and ipv6 are the families of the shoot's network; at least one.
	ipv4, ipv6            bool
	pods, nodes, services string
}

// vpcSpec is a given VPC or one with a range.
type vpcSpec struct {
	givenID, cidr string
	dedicated     bool
	// ipamPoolID and ipamCIDR say where a VPC takes its IPv6 range from; without a pool, it is one of Amazon's.
	ipamPoolID, ipamCIDR string
}

// zoneSpec is what a shoot wants in a zone.
type zoneSpec struct {
	name string
	// index is the zone's place in the configuration, by which IPv6 ranges are chosen.
	index int
	// suffix numbers the zone in names, e.g. "z0". It never changes while the zone is recorded.
	suffix string
	// workers, public and internal are ranges of subnets; public and internal may be empty.
	workers, public, internal string
	// given are the IDs of the user's subnets; empty if the shoot has its own.
	given map[role]string
	// addressID is the user's elastic IP for the NAT gateway; empty if the shoot allocates one.
	addressID string
}

// clusterTag is the key by which all resources of the shoot are found.
func (p *plan) clusterTag() string { return tagClusterPrefix + p.technicalID }

// tags returns the tags of a resource of the shoot with a name, and more.
func (p *plan) tags(name string, more ...cloudaws.Tags) cloudaws.Tags {
	all := cloudaws.Tags{tagName: name, p.clusterTag(): clusterOwned}
	for _, tags := range more {
		maps.Copy(all, tags)
	}
	return all
}

// owns reports whether the tags say that a resource is the shoot's own.
func (p *plan) owns(tags cloudaws.Tags) bool {
	value := tags[p.clusterTag()]
	return value == clusterOwned || value == clusterOwnedOnce
}

// Names of resources, as upstream's driver has them.
func (p *plan) keyPairName() string { return p.technicalID + "-ssh-publickey" }
func (p *plan) nodesName() string   { return p.technicalID + "-nodes" }

func (p *plan) endpointName(service string) string {
	return p.technicalID + "-gw-" + strings.TrimPrefix(service, servicePrefix(p.region))
}

func (p *plan) addressName(z zoneSpec) string    { return p.technicalID + "-eip-natgw-" + z.suffix }
func (p *plan) natName(z zoneSpec) string        { return p.technicalID + "-natgw-" + z.suffix }
func (p *plan) routeTableName(z zoneSpec) string { return p.technicalID + "-private-" + z.name }

// servicePrefix precedes the short names of services in their full names.
func servicePrefix(region string) string { return "com.amazonaws." + region + "." }

// role is the role of a subnet in its zone.
type role string

const (
	workers  role = "workers"
	public   role = "public"
	internal role = "internal"
)

// subnetSpec is a subnet of a zone.
type subnetSpec struct {
	role role
	// cidr is empty for the nodes of a shoot without IPv4.
	cidr string
	// ipv6Number is the number of the IPv6 range in that of the VPC.
	ipv6Number int
	tags       cloudaws.Tags
}

// subnets returns the subnets of a zone, that of the NAT gateway first.
func (p *plan) subnets(z zoneSpec) []subnetSpec {
	var all []subnetSpec
	if z.public != "" {
		all = append(all, subnetSpec{public, z.public, subnetNumber(z.index, public), p.tags(p.technicalID+"-public-utility-"+z.suffix, cloudaws.Tags{tagPublicBalancer: "1"})})
	}
	if z.internal != "" {
		all = append(all, subnetSpec{internal, z.internal, subnetNumber(z.index, internal), p.tags(p.technicalID+"-private-utility-"+z.suffix, cloudaws.Tags{tagInnerBalancer: "1"})})
	}
	nodes := subnetSpec{workers, z.workers, subnetNumber(z.index, workers), p.tags(p.technicalID + "-nodes-" + z.suffix)}
	if !p.ipv4 {
		nodes.cidr = ""
	}
	return append(all, nodes)
}

// hasPublic reports whether any zone has a subnet with a way to the internet.
func (p *plan) hasPublic() bool {
	return !p.givenSubnets && slices.ContainsFunc(p.zones, func(z zoneSpec) bool { return z.public != "" })
}

// domain is the domain of the nodes' names, which AWS chooses.
func (p *plan) domain() string {
	if p.region == "us-east-1" {
		return "ec2.internal"
	}
	return p.region + ".compute.internal"
}

// balancerRanges are the ranges of the shoot's own subnets for load balancers.
func (p *plan) balancerRanges() []string {
	var all []string
	for _, z := range p.zones {
		all = append(all, z.internal, z.public)
	}
	return all
}

// nodesRules returns the rules of the security group of nodes: everything among nodes, everything out, ports of Services for everybody and for the ranges
// of load balancers, and the port of mount targets, which have the same group, for nodes.
func (p *plan) nodesRules(groupID string, balancers []string) []cloudaws.Rule {
	rules := []cloudaws.Rule{{Protocol: cloudaws.AllProtocols, GroupID: groupID}}
	var peers []string
	if p.ipv4 {
		peers = append(peers, anywhere)
	}
	if p.ipv6 {
		peers = append(peers, anywhereIPv6)
	}
	for _, peer := range peers {
		rules = append(rules, cloudaws.Rule{Protocol: cloudaws.AllProtocols, CIDR: peer, Egress: true})
	}
	if p.fabricAdapters {
		rules = append(rules, cloudaws.Rule{Protocol: cloudaws.AllProtocols, GroupID: groupID, Egress: true})
	}
	for _, peer := range append(peers, balancers...) {
		if peer == "" {
			continue
		}
		for _, protocol := range []string{"tcp", "udp"} {
			rules = append(rules, cloudaws.Rule{Protocol: protocol, FromPort: nodePortFrom, ToPort: nodePortTo, CIDR: peer})
		}
	}
	if !p.fileSystem.enabled {
		return rules
	}
	for _, z := range p.zones {
		if z.workers != "" {
			rules = append(rules, cloudaws.Rule{Protocol: "tcp", FromPort: filePort, ToPort: filePort, CIDR: z.workers})
		}
	}
	return rules
}

// ruleChanges returns the rules that a group lacks, and those that it has too much.
func ruleChanges(wanted, observed []cloudaws.Rule) (missing, superfluous []cloudaws.Rule) {
	for _, rule := range wanted {
		if !slices.Contains(observed, rule) && !slices.Contains(missing, rule) {
			missing = append(missing, rule)
		}
	}
	for _, rule := range observed {
		if !slices.Contains(wanted, rule) {
			superfluous = append(superfluous, rule)
		}
	}
	return missing, superfluous
}

// numberZones gives each zone the suffix that is recorded, or the first free one, in the order of the configuration. Suffixes of zones that were removed stay
// taken while they are recorded.
func numberZones(names []string, recorded map[string]string) map[string]string {
	all := maps.Clone(recorded)
	if all == nil {
		all = map[string]string{}
	}
	for _, name := range names {
		if all[name] != "" {
			continue
		}
		for i := 0; ; i++ {
			suffix := "z" + strconv.Itoa(i)
			if !slices.Contains(slices.Collect(maps.Values(all)), suffix) {
				all[name] = suffix
				break
			}
		}
	}
	return all
}

// tagChanges returns the tags to set on a resource of the shoot, and the keys of those to remove: tags of others, unless they are ignored.
func (p *plan) tagChanges(wanted, observed cloudaws.Tags) (set cloudaws.Tags, remove []string) {
	set = cloudaws.Tags{}
	for key, value := range wanted {
		if known, found := observed[key]; !found || known != value {
			set[key] = value
		}
	}
	for _, key := range slices.Sorted(maps.Keys(observed)) {
		_, isWanted := wanted[key]
		// AWS' own tags cannot be removed. Those of Gardener and Kubernetes are other components' on purpose.
		if isWanted || strings.HasPrefix(key, "aws:") || strings.HasPrefix(key, "kubernetes.io/") || strings.Contains(key, "gardener.cloud") || p.ignored(key) {
			continue
		}
		remove = append(remove, key)
	}
	return set, remove
}
