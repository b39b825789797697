package aws

import (
	"context"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/contract"
)

func (rec *reconciliation) ensureVPC(ctx context.Context) error {
	if rec.plan.vpc.givenID != "" {
		rec.vpcID = rec.plan.vpc.givenID
		rec.recordGiven(kindVPC, rec.vpcID)
		return nil
	}
	tags := rec.plan.tags(rec.plan.technicalID)
	if vpc := rec.observed.vpc; vpc != nil {
		rec.vpcID = vpc.ID
		rec.recordOwn(kindVPC, vpc.ID)
		if !slices.Contains(vpc.CIDRs, rec.plan.vpc.cidr) {
			return cloud.Errorf(cloud.Configuration, "networks.vpc.cidr: the VPC %s has the ranges %v, and not %s: the range of a VPC cannot be changed",
				vpc.ID, vpc.CIDRs, rec.plan.vpc.cidr)
		}
		return rec.repairTags(ctx, vpc.ID, tags, vpc.Tags)
	}
	id, err := rec.create(kindVPC, "VPC", false, func() (string, error) {
		vpc, err := rec.cloud.CreateVPC(ctx, cloudaws.VPCCreate{
			CIDR: rec.plan.vpc.cidr, Dedicated: rec.plan.vpc.dedicated, AmazonIPv6: rec.plan.ipv6 && rec.plan.vpc.ipamPoolID == "",
			IPAMPoolID: rec.plan.vpc.ipamPoolID, IPv6CIDR: rec.plan.vpc.ipamCIDR, Tags: tags,
		})
		return vpc.ID, err
	})
	rec.vpcID = id
	return err
}

func (rec *reconciliation) ensureDHCPOptions(ctx context.Context) error {
	tags := rec.plan.tags(rec.plan.technicalID)
	if options := rec.observed.dhcpOptions; options != nil {
		rec.dhcpOptionsID = options.ID
		rec.recordOwn(kindDHCPOptions, options.ID)
		return rec.repairTags(ctx, options.ID, tags, options.Tags)
	}
	id, err := rec.create(kindDHCPOptions, "DHCP options", false, func() (string, error) {
		options, err := rec.cloud.CreateDHCPOptions(ctx, rec.plan.domain(), tags)
		return options.ID, err
	})
	rec.dhcpOptionsID = id
	return err
}

// assignDHCPOptions makes the VPC use the options, unless it does.
func (rec *reconciliation) assignDHCPOptions(ctx context.Context) error {
	if vpc := rec.observed.vpc; vpc != nil && vpc.DHCPOptionsID == rec.dhcpOptionsID {
		return nil
	}
	return wrap(rec.cloud.AssociateDHCPOptions(ctx, rec.dhcpOptionsID, rec.vpcID), "assigning the DHCP options to the VPC")
}

// ensureDNS switches DNS support and DNS hostnames on. In a new VPC, AWS has switched on the first already. The user's VPC is not changed.
func (rec *reconciliation) ensureDNS(ctx context.Context) error {
	for _, attribute := range []struct {
		name cloudaws.VPCAttribute
		on   bool
	}{
		{cloudaws.DNSSupport, rec.observed.vpc == nil || rec.observed.dnsSupport},
		{cloudaws.DNSHostnames, rec.observed.dnsHostnames},
	} {
		switch {
		case attribute.on:
		case rec.plan.vpc.givenID != "":
			return cloud.Errorf(cloud.Configuration, "networks.vpc.id: %s of VPC %s is off: switch it on, since nodes are known by the names that AWS gives them",
				attribute.name, rec.vpcID)
		default:
			if err := rec.cloud.EnableVPCAttribute(ctx, rec.vpcID, attribute.name); err != nil {
				return fmt.Errorf("switching on %s of the VPC: %w", attribute.name, err)
			}
		}
	}
	return nil
}

// closeDefaultGroup removes all rules of the security group that AWS makes with a VPC: nothing of the shoot uses it.
func (rec *reconciliation) closeDefaultGroup(ctx context.Context) error {
	group := rec.observed.defaultGroup
	if err := contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		if group != nil {
			return "", nil
		}
		found, err := rec.cloud.ListSecurityGroups(ctx, cloudaws.Filter{VPCID: rec.vpcID, Name: "default"})
		if err != nil {
			return "", fmt.Errorf("reading the default security group: %w", err)
		}
		if len(found) == 0 { // each VPC has one
			return fmt.Sprintf("the default security group of VPC %s is not listed yet", rec.vpcID), nil
		}
		group = &found[0]
		return "", nil
	}); err != nil {
		return err
	}
	rec.updateState(func(s *state) { s.SetFact(keyDefaultGroup, group.ID) })
	if len(group.Rules) == 0 {
		return nil
	}
	return ignoreMissing(rec.cloud.RemoveRules(ctx, group.ID, group.Rules), "removing the rules of the default security group")
}

// ensureGateway finds the user's gateway in a given VPC, or ensures the shoot's own.
func (rec *reconciliation) ensureGateway(ctx context.Context) error {
	gateway := rec.observed.gateway
	if rec.plan.vpc.givenID != "" {
		if gateway == nil && rec.plan.hasPublic() {
			return cloud.Errorf(cloud.Configuration, "networks.vpc.id: no internet gateway is attached to VPC %s: attach one, since a zone has a public subnet", rec.vpcID)
		}
		if gateway != nil {
			rec.gatewayID = gateway.ID
			rec.recordGiven(kindInternetGateway, gateway.ID)
		}
		return nil
	}
	tags := rec.plan.tags(rec.plan.technicalID)
	if gateway == nil {
		id, err := rec.create(kindInternetGateway, "internet gateway", false, func() (string, error) {
			created, err := rec.cloud.CreateInternetGateway(ctx, tags)
			return created.ID, err
		})
		if err != nil {
			return err
		}
		gateway = &cloudaws.InternetGateway{ID: id, Tags: tags}
	}
	rec.gatewayID = gateway.ID
	rec.recordOwn(kindInternetGateway, gateway.ID)
	if gateway.VPCID != rec.vpcID {
		// Of two attempts whose first response was lost, the second one finds it attached.
		err := rec.cloud.AttachInternetGateway(ctx, gateway.ID, rec.vpcID)
		if err != nil && cloudaws.CodeOf(err) != "Resource.AlreadyAssociated" {
			return fmt.Errorf("attaching the internet gateway to the VPC: %w", err)
		}
	}
	return rec.repairTags(ctx, gateway.ID, tags, gateway.Tags)
}
