package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
)

// checkGiven checks what the user gives, before anything is created. All problems are reported together.
func (rec *reconciliation) checkGiven(ctx context.Context) error {
	problems := slices.Concat(rec.problemsOfAddresses(), rec.problemsOfRanges(), rec.problemsOfFileSystem())
	if rec.plan.vpc.givenID != "" && rec.observed.vpc != nil {
		more, err := rec.problemsOfDHCPOptions(ctx)
		if err != nil {
			return err
		}
		problems = append(problems, more...)
	}
	if len(problems) > 0 {
		return cloud.Errorf(cloud.Configuration, "%s", strings.Join(problems, "; "))
	}
	return nil
}

// problemsOfDHCPOptions says whether nodes get names that they are not known by: AWS chooses the names, by region.
func (rec *reconciliation) problemsOfDHCPOptions(ctx context.Context) ([]string, error) {
	vpc := rec.observed.vpc
	found, err := rec.cloud.ListDHCPOptions(ctx, cloudaws.Filter{IDs: []string{vpc.DHCPOptionsID}})
	if err != nil {
		return nil, fmt.Errorf("reading the DHCP options of VPC %s: %w", vpc.ID, err)
	}
	for _, options := range found {
		if domain := options.Options[cloudaws.DomainName]; slices.Equal(domain, []string{rec.plan.domain()}) {
			return nil, nil
		}
	}
	return []string{fmt.Sprintf("networks.vpc.id: the DHCP options %s of VPC %s must have the %s %s", vpc.DHCPOptionsID, vpc.ID, cloudaws.DomainName, rec.plan.domain())}, nil
}

// problemsOfRanges names ranges of zones that are in none of the ranges of a given VPC.
func (rec *reconciliation) problemsOfRanges() []string {
	if rec.plan.vpc.givenID == "" || rec.plan.givenSubnets || rec.observed.vpc == nil {
		return nil
	}
	var problems []string
	for _, z := range rec.plan.zones {
		for _, r := range []struct {
			role role
			cidr string
		}{{workers, z.workers}, {public, z.public}, {internal, z.internal}} {
			isPart := slices.ContainsFunc(rec.observed.vpc.CIDRs, func(whole string) bool { return containsRange(whole, r.cidr) })
			if r.cidr != "" && !isPart {
				problems = append(problems, fmt.Sprintf("networks.zones: zone %s: the range %s (%s) is in none of the ranges %v of VPC %s",
					z.name, r.cidr, r.role, rec.observed.vpc.CIDRs, rec.plan.vpc.givenID))
			}
		}
	}
	return problems
}

// problemsOfAddresses names given elastic IPs that are used by something else than a NAT gateway of the shoot.
func (rec *reconciliation) problemsOfAddresses() []string {
	var problems []string
	for _, z := range rec.plan.zones {
		i := slices.IndexFunc(rec.observed.addresses, func(a cloudaws.Address) bool { return a.AllocationID == z.addressID })
		if z.addressID == "" || i < 0 || rec.observed.addresses[i].AssociationID == "" {
			continue
		}
		isOurs := slices.ContainsFunc(rec.observed.natGateways, func(g cloudaws.NATGateway) bool {
			return rec.plan.owns(g.Tags) && slices.ContainsFunc(g.Addresses, func(a cloudaws.NATAddress) bool { return a.AllocationID == z.addressID })
		})
		if !isOurs {
			problems = append(problems, fmt.Sprintf("networks.zones: zone %s: the elastic IP %s is in use by interface %s: give a free one",
				z.name, z.addressID, rec.observed.addresses[i].InterfaceID))
		}
	}
	return problems
}
