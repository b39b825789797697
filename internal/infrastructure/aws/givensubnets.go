package aws

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
)

// tagManaged marks a given resource whose tag for load balancers was missing. Its value is the key of that tag, which goes when the last shoot goes.
const tagManaged = "gardener.cloud/managed-tag"

// useGivenSubnets finds the user's subnets of each zone, and checks them.
func (rec *reconciliation) useGivenSubnets(context.Context) error {
	var problems []string
	for _, z := range rec.plan.zones {
		rec.zones[z.name] = &zoneResources{subnets: map[role]string{}}
		for _, r := range []role{workers, public, internal} {
			subnet, problem := rec.givenSubnet(z, r)
			if problem == "" && subnet != nil {
				problem = rec.checkGivenSubnet(z, r, subnet)
			}
			if problem != "" {
				problems = append(problems, fmt.Sprintf("zone %s: %s", z.name, problem))
				continue
			}
			if subnet != nil {
				rec.recordGivenSubnet(z, r, subnet)
			}
		}
	}
	if len(problems) > 0 {
		return cloud.Errorf(cloud.Configuration, "networks.zones: %s", strings.Join(problems, "; "))
	}
	return nil
}

// givenSubnet returns the subnet with the configured ID, or else the one with the tag for load balancers of the role, if there is one.
func (rec *reconciliation) givenSubnet(z zoneSpec, r role) (subnet *cloudaws.Subnet, problem string) {
	if id := z.given[r]; id != "" {
		i := slices.IndexFunc(rec.observed.subnets, func(s cloudaws.Subnet) bool { return s.ID == id })
		if i < 0 {
			return nil, fmt.Sprintf("there is no subnet %s in VPC %s", id, rec.vpcID)
		}
		return &rec.observed.subnets[i], ""
	}
	if r == workers {
		return nil, "workersSubnetID is missing"
	}
	for i := range rec.observed.subnets {
		candidate := &rec.observed.subnets[i]
		if _, tagged := candidate.Tags[balancerTag(r)]; !tagged || candidate.Zone != z.name || rec.isOwnedByOthers(candidate.Tags) {
			continue
		}
		if subnet != nil {
			return nil, fmt.Sprintf("the subnets %s and %s have the tag %s: leave it on one of them, or configure %sSubnetID", subnet.ID, candidate.ID, balancerTag(r), r)
		}
		subnet = candidate
	}
	return subnet, ""
}

// isOwnedByOthers reports whether a resource belongs to another cluster alone.
func (rec *reconciliation) isOwnedByOthers(tags cloudaws.Tags) bool {
	for key, value := range tags {
		if strings.HasPrefix(key, tagClusterPrefix) && key != rec.plan.clusterTag() && (value == clusterOwned || value == clusterOwnedOnce) {
			return true
		}
	}
	return false
}

// checkGivenSubnet returns what is wrong with a subnet, or an empty string.
func (rec *reconciliation) checkGivenSubnet(z zoneSpec, r role, subnet *cloudaws.Subnet) string {
	switch {
	case subnet.Zone != z.name:
		return fmt.Sprintf("subnet %s is in zone %s: give one in zone %s", subnet.ID, subnet.Zone, z.name)
	case rec.plan.ipv6 && len(subnet.IPv6) != 1:
		return fmt.Sprintf("subnet %s has %d IPv6 ranges: give it one, since the shoot has IPv6", subnet.ID, len(subnet.IPv6))
	case rec.plan.ipv6 && r == workers && !subnet.AssignsIPv6:
		return fmt.Sprintf("subnet %s does not assign IPv6 addresses on creation: switch that on, since the shoot has IPv6", subnet.ID)
	case r != workers && subnet.CIDR == "":
		return fmt.Sprintf("subnet %s has no IPv4 range, which load balancers need", subnet.ID)
	case r == workers && rec.plan.ipv4 && rec.plan.nodes != "" && !containsRange(rec.plan.nodes, subnet.CIDR):
		return fmt.Sprintf("subnet %s has the range %s, which is not in spec.networking.nodes %s of the Shoot", subnet.ID, subnet.CIDR, rec.plan.nodes)
	default:
		return ""
	}
}

// recordGivenSubnet records a subnet with its ranges, as upstream's driver does.
func (rec *reconciliation) recordGivenSubnet(z zoneSpec, r role, subnet *cloudaws.Subnet) {
	rec.zone(z.name).setSubnet(r, subnet.ID)
	rec.setIPv6Of(r, subnet)
	if r != workers {
		rec.givenRanges = append(rec.givenRanges, subnet.CIDR)
	}
	k := subnetKind(z.name, r)
	rec.recordGiven(k, subnet.ID)
	rec.updateState(func(s *state) {
		s.SetFact(string(k)+"CIDR", subnet.CIDR)
		if len(subnet.IPv6) > 0 {
			s.SetFact(string(k)+"IPv6CIDR", subnet.IPv6[0].CIDR)
		}
	})
}

// balancerTag is the tag by which controllers for load balancers find subnets.
func balancerTag(r role) string {
	return map[role]string{public: tagPublicBalancer, internal: tagInnerBalancer}[r]
}

// tagGivenSubnets lets controllers for load balancers find the subnets.
func (rec *reconciliation) tagGivenSubnets(ctx context.Context) error {
	for _, z := range rec.plan.zones {
		for _, r := range []role{public, internal} {
			id := rec.zone(z.name).subnet(r)
			if id == "" {
				continue
			}
			i := slices.IndexFunc(rec.observed.subnets, func(s cloudaws.Subnet) bool { return s.ID == id })
			wanted := cloudaws.Tags{rec.plan.clusterTag(): clusterShared}
			if _, tagged := rec.observed.subnets[i].Tags[balancerTag(r)]; !tagged {
				wanted[balancerTag(r)], wanted[tagManaged] = "1", balancerTag(r)
			}
			if err := rec.addTags(ctx, id, rec.observed.subnets[i].Tags, wanted); err != nil {
				return err
			}
		}
	}
	return nil
}

// tagGivenTables lets a route controller find the route tables of the nodes' subnets: the associated one of each, or else the VPC's main one. It records them.
func (rec *reconciliation) tagGivenTables(ctx context.Context) error {
	for _, z := range rec.plan.zones {
		table := rec.tableInUse(rec.zone(z.name).subnet(workers))
		if table == nil {
			continue
		}
		rec.zone(z.name).table = table.ID
		rec.recordGiven(zoneKind(z.name, awsv1alpha1.ZoneKeyRouteTable), table.ID)
		if !rec.plan.routesPods {
			continue
		}
		if err := rec.addTags(ctx, table.ID, table.Tags, cloudaws.Tags{rec.plan.clusterTag(): clusterShared}); err != nil {
			return err
		}
	}
	return nil
}

func (rec *reconciliation) tableInUse(subnetID string) *cloudaws.RouteTable {
	var main *cloudaws.RouteTable
	for i := range rec.observed.tables {
		table := &rec.observed.tables[i]
		if slices.ContainsFunc(table.Associations, func(a cloudaws.Association) bool { return a.SubnetID == subnetID }) {
			return table
		}
		if table.Main() {
			main = table
		}
	}
	return main
}

// addTags sets the tags that are missing, and keeps all others. It remembers what it has set: several zones may share a resource.
func (rec *reconciliation) addTags(ctx context.Context, id string, observed, wanted cloudaws.Tags) error {
	missing := maps.Clone(wanted)
	maps.DeleteFunc(missing, func(key, value string) bool { return observed[key] == value })
	if len(missing) == 0 {
		return nil
	}
	if err := rec.cloud.SetTags(ctx, []string{id}, missing); err != nil {
		return fmt.Errorf("tagging %s: %w", id, err)
	}
	maps.Copy(observed, missing)
	return nil
}

// releaseGiven removes the shoot's tags from the user's subnets and route tables, and the tag for load balancers if no user and no other shoot has it.
func (rec *reconciliation) releaseGiven(ctx context.Context) error {
	if rec.toDelete.vpcID == "" {
		return nil
	}
	shared := cloudaws.Filter{VPCID: rec.toDelete.vpcID, Tags: cloudaws.Tags{rec.plan.clusterTag(): clusterShared}}
	subnets, err := rec.cloud.ListSubnets(ctx, shared)
	if err != nil {
		return fmt.Errorf("reading the given subnets: %w", err)
	}
	tables, err := rec.cloud.ListRouteTables(ctx, shared)
	if err != nil {
		return fmt.Errorf("reading the given route tables: %w", err)
	}
	tagged := map[string]cloudaws.Tags{}
	for _, subnet := range subnets {
		tagged[subnet.ID] = subnet.Tags
	}
	for _, table := range tables {
		tagged[table.ID] = table.Tags
	}
	for _, id := range slices.Sorted(maps.Keys(tagged)) {
		keys := []string{rec.plan.clusterTag()}
		if role := tagged[id][tagManaged]; role != "" && !rec.isSharedWithOthers(tagged[id]) {
			keys = append(keys, tagManaged, role)
		}
		if err := ignoreMissing(rec.cloud.RemoveTags(ctx, []string{id}, keys), "removing the shoot's tags from "+id); err != nil {
			return err
		}
	}
	return nil
}

// isSharedWithOthers reports whether other clusters use a resource.
func (rec *reconciliation) isSharedWithOthers(tags cloudaws.Tags) bool {
	for key := range tags {
		if strings.HasPrefix(key, tagClusterPrefix) && key != rec.plan.clusterTag() {
			return true
		}
	}
	return false
}
