package aws

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/contract"
)

const (
	// anywhereIPv6 is the destination of default routes for IPv6, and the peer of rules for everybody.
	anywhereIPv6 = "::/0"
	// translated is the range of IPv6 addresses that stand for IPv4 addresses (NAT64, RFC 6052).
	translated = "64:ff9b::/96"
	// subnetBits is the length of the prefix of a subnet, and serviceBits of the range of Services.
	subnetBits, serviceBits = 64, 108
)

const (
	kindEgressOnlyGateway kind = awsv1alpha1.StateKeyEgressOnlyInternetGateway
	keyVPCIPv6                 = awsv1alpha1.StateKeyVPCIPv6CIDR
	keyServiceCIDR             = awsv1alpha1.StateKeyServiceCIDR
)

// ensureIPv6Range waits until the VPC has an IPv6 range. One of the shoot's own without any gets one of Amazon's.
func (rec *reconciliation) ensureIPv6Range(ctx context.Context) error {
	requested := false
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		vpc := rec.observed.vpc
		if vpc == nil || requested || len(vpc.IPv6) > 0 && associatedRange(vpc) == "" {
			found, err := rec.cloud.ListVPCs(ctx, cloudaws.Filter{IDs: []string{rec.vpcID}})
			if err != nil {
				return "", fmt.Errorf("reading the IPv6 range of the VPC: %w", err)
			}
			if len(found) == 0 {
				return fmt.Sprintf("VPC %s is not listed yet", rec.vpcID), nil
			}
			vpc = &found[0]
		}
		if text := associatedRange(vpc); text != "" {
			return "", rec.useIPv6Range(text, vpc)
		}
		if len(vpc.IPv6) == 0 && !requested {
			if rec.plan.vpc.givenID != "" {
				return "", cloud.Errorf(cloud.Configuration, "networks.vpc.id: VPC %s has no IPv6 range: add one, since the shoot has IPv6", vpc.ID)
			}
			if err := rec.cloud.AddAmazonIPv6(ctx, vpc.ID); err != nil {
				return "", fmt.Errorf("adding an IPv6 range to VPC %s: %w", vpc.ID, err)
			}
		}
		requested = true
		return fmt.Sprintf("the IPv6 range of VPC %s is being associated", vpc.ID), nil
	})
}

// associatedRange returns the IPv6 range that a VPC can use, or an empty string.
func associatedRange(vpc *cloudaws.VPC) string {
	for _, block := range vpc.IPv6 {
		if block.State == cloudaws.Associated {
			return block.CIDR
		}
	}
	return ""
}

// useIPv6Range makes the range known to the tasks that follow, with the subnets that are in use.
func (rec *reconciliation) useIPv6Range(text string, vpc *cloudaws.VPC) error {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix.Bits() > subnetBits {
		return cloud.Errorf(cloud.Unavailable, "the IPv6 range %q of VPC %s cannot be used", text, vpc.ID)
	}
	rec.vpcIPv6 = prefix.Masked()
	for _, subnet := range rec.observed.subnets {
		for _, block := range subnet.IPv6 {
			if used, err := netip.ParsePrefix(block.CIDR); err == nil {
				rec.takenIPv6[used.Masked()] = true
			}
		}
	}
	rec.updateState(func(s *state) { s.SetFact(keyVPCIPv6, prefix.String()) })
	return nil
}

// takeIPv6 returns the free range of a subnet with that number in the VPC, or the next free one.
func (rec *reconciliation) takeIPv6(number int) (string, error) {
	rec.mutex.Lock()
	defer rec.mutex.Unlock()
	count := 1 << (subnetBits - rec.vpcIPv6.Bits())
	for i := range count {
		prefix := subnetOf(rec.vpcIPv6, subnetBits, (number+i)%count)
		if !rec.takenIPv6[prefix] {
			rec.takenIPv6[prefix] = true
			return prefix.String(), nil
		}
	}
	return "", cloud.Errorf(cloud.QuotaExceeded, "all %d IPv6 ranges of subnets in VPC %s are in use", count, rec.vpcID)
}

// subnetOf returns a part of a prefix by its number. The length is at most 108, and the number less than 2^32.
func subnetOf(prefix netip.Prefix, length, number int) netip.Prefix {
	address := prefix.Masked().Addr().As16()
	for bit := length - 1; bit >= prefix.Bits() && number > 0; bit-- {
		address[bit/8] |= byte(number&1) << (7 - bit%8)
		number >>= 1
	}
	return netip.PrefixFrom(netip.AddrFrom16(address), length)
}

// subnetNumber is the number of a subnet's IPv6 range in that of the VPC: three for each zone, as upstream's driver has them.
func subnetNumber(zone int, r role) int {
	return 3*zone + map[role]int{workers: 0, internal: 1, public: 2}[r]
}

// ensureEgressOnlyGateway lets IPv6 connections out of the subnets of zones. In a given VPC it is the user's.
func (rec *reconciliation) ensureEgressOnlyGateway(ctx context.Context) error {
	gateway := rec.observed.egressOnlyGateway
	if rec.plan.vpc.givenID != "" {
		if gateway == nil {
			return cloud.Errorf(cloud.Configuration, "networks.vpc.id: VPC %s has no egress-only internet gateway: create one, since the shoot has IPv6", rec.vpcID)
		}
		rec.egressOnlyGatewayID = gateway.ID
		rec.recordGiven(kindEgressOnlyGateway, gateway.ID)
		return nil
	}
	tags := rec.plan.tags(rec.plan.technicalID)
	if gateway != nil {
		rec.egressOnlyGatewayID = gateway.ID
		rec.recordOwn(kindEgressOnlyGateway, gateway.ID)
		return rec.repairTags(ctx, gateway.ID, tags, gateway.Tags)
	}
	id, err := rec.create(kindEgressOnlyGateway, "egress-only internet gateway", true, func() (string, error) {
		created, err := rec.cloud.CreateEgressOnlyGateway(ctx, rec.vpcID, rec.token(kindEgressOnlyGateway), tags)
		return created.ID, err
	})
	rec.egressOnlyGatewayID = id
	return err
}

// ensureSubnetIPv6 gives an existing subnet an IPv6 range, and switches on what nodes need.
func (rec *reconciliation) ensureSubnetIPv6(ctx context.Context, subnet *cloudaws.Subnet, wanted subnetSpec) error {
	if len(subnet.IPv6) == 0 {
		cidr, err := rec.takeIPv6(wanted.ipv6Number)
		if err != nil {
			return err
		}
		if err := rec.cloud.AddSubnetIPv6(ctx, subnet.ID, cidr); err != nil {
			return fmt.Errorf("adding the IPv6 range %s to subnet %s: %w", cidr, subnet.ID, err)
		}
		subnet.IPv6 = []cloudaws.IPv6Block{{CIDR: cidr, State: cloudaws.Associated}}
	}
	rec.setIPv6Of(wanted.role, subnet)
	if wanted.role != workers {
		return nil
	}
	for _, attribute := range []struct {
		name       cloudaws.SubnetAttribute
		wanted, on bool
	}{
		{cloudaws.AssignIPv6, true, subnet.AssignsIPv6},
		{cloudaws.DNS64, !rec.plan.ipv4, subnet.DNS64},
		{cloudaws.NamesByAAAA, !rec.plan.ipv4, subnet.NamesByAAAA},
	} {
		if !attribute.wanted || attribute.on {
			continue
		}
		if err := rec.cloud.EnableSubnetAttribute(ctx, subnet.ID, attribute.name); err != nil {
			return fmt.Errorf("switching on %s of subnet %s: %w", attribute.name, subnet.ID, err)
		}
	}
	return nil
}

// setIPv6Of remembers the IPv6 ranges of the nodes' subnets.
func (rec *reconciliation) setIPv6Of(r role, subnet *cloudaws.Subnet) {
	if r != workers || len(subnet.IPv6) == 0 {
		return
	}
	rec.mutex.Lock()
	defer rec.mutex.Unlock()
	rec.workersIPv6[subnet.ID] = subnet.IPv6[0].CIDR
}

// ensureServiceRange reserves the range of Services in a subnet of nodes, so that AWS gives none of its addresses to an interface: the recorded one, or else the
// second /108 of the first subnet.
func (rec *reconciliation) ensureServiceRange(ctx context.Context) error {
	subnetID, wanted, err := rec.serviceRange()
	if err != nil {
		return err
	}
	reserved, err := rec.cloud.ListIPv6Reservations(ctx, subnetID)
	if err != nil {
		return fmt.Errorf("reading the reserved ranges of subnet %s: %w", subnetID, err)
	}
	if !slices.ContainsFunc(reserved, func(r cloudaws.CIDRReservation) bool { return sameRange(r.CIDR, wanted) }) {
		if err := rec.cloud.ReserveCIDR(ctx, subnetID, wanted, rec.plan.tags(rec.plan.technicalID)); err != nil {
			return fmt.Errorf("reserving the range of services %s in subnet %s: %w", wanted, subnetID, err)
		}
	}
	rec.serviceCIDR = wanted
	rec.updateState(func(s *state) { s.SetFact(keyServiceCIDR, wanted) })
	return nil
}

// serviceRange returns the range of Services and the subnet that it is in.
func (rec *reconciliation) serviceRange() (subnetID, cidr string, err error) {
	rec.mutex.Lock()
	defer rec.mutex.Unlock()
	var ids []string
	recorded, _ := netip.ParsePrefix(rec.state.Fact(keyServiceCIDR))
	for id, text := range rec.workersIPv6 {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return "", "", cloud.Errorf(cloud.Unavailable, "the IPv6 range %q of subnet %s cannot be used", text, id)
		}
		if recorded.IsValid() && prefix.Contains(recorded.Addr()) {
			return id, recorded.String(), nil
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return "", "", cloud.Errorf(cloud.Unavailable, "no subnet of nodes has an IPv6 range")
	}
	slices.Sort(ids)
	return ids[0], subnetOf(netip.MustParsePrefix(rec.workersIPv6[ids[0]]), serviceBits, 1).String(), nil
}
