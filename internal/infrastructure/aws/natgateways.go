package aws

import (
	"context"
	"fmt"
	"slices"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/contract"
)

func addressKind(z zoneSpec) kind { return zoneKind(z.name, awsv1alpha1.ZoneKeyElasticIP) }
func natKind(z zoneSpec) kind     { return zoneKind(z.name, awsv1alpha1.ZoneKeyNATGateway) }

// observedAddress returns the elastic IP that the shoot has allocated for a zone.
func (rec *reconciliation) observedAddress(z zoneSpec) *cloudaws.Address {
	return pick(rec, "elastic IP", addressKind(z), rec.plan.addressName(z), rec.observed.addresses)
}

// ensureAddress finds the user's elastic IP, or ensures the shoot's own.
func (rec *reconciliation) ensureAddress(ctx context.Context, z zoneSpec) error {
	resources := rec.zone(z.name)
	if z.addressID != "" {
		resources.addressID = z.addressID
		return nil
	}
	tags := rec.plan.tags(rec.plan.addressName(z))
	if address := rec.observedAddress(z); address != nil {
		resources.addressID = address.AllocationID
		rec.recordOwn(addressKind(z), address.AllocationID)
		return rec.repairTags(ctx, address.AllocationID, tags, address.Tags)
	}
	id, err := rec.create(addressKind(z), "elastic IP of zone "+z.name, false, func() (string, error) {
		address, err := rec.cloud.AllocateAddress(ctx, tags)
		return address.AllocationID, err
	})
	resources.addressID = id
	return err
}

// ownNATGateways returns the shoot's NAT gateways of a zone that exist: not those that are deleted, which AWS lists for an hour.
func (rec *reconciliation) ownNATGateways(z zoneSpec) []cloudaws.NATGateway {
	recorded := rec.state.ID(natKind(z))
	return slices.DeleteFunc(slices.Clone(rec.observed.natGateways), func(g cloudaws.NATGateway) bool {
		isOwn := g.ID == recorded || rec.plan.owns(g.Tags) && g.Tags[tagName] == rec.plan.natName(z)
		return !isOwn || g.State == cloudaws.NATDeleted
	})
}

// isUsable reports whether a NAT gateway has the address and works, or soon will.
func isUsable(g cloudaws.NATGateway, addressID, subnetID string) bool {
	return (g.State == cloudaws.NATPending || g.State == cloudaws.NATAvailable) && g.SubnetID == subnetID &&
		slices.ContainsFunc(g.Addresses, func(a cloudaws.NATAddress) bool { return a.AllocationID == addressID })
}

// ensureNATGateway ensures a NAT gateway with the zone's address. One with another address keeps working until there is a successor. One that has the address
// and does not work has to be deleted before, since an address has one user.
func (rec *reconciliation) ensureNATGateway(ctx context.Context, z zoneSpec) error {
	resources := rec.zone(z.name)
	addressID, subnetID := resources.addressID, resources.subnet(public)
	own := rec.ownNATGateways(z)
	if i := slices.IndexFunc(own, func(g cloudaws.NATGateway) bool { return isUsable(g, addressID, subnetID) }); i >= 0 {
		resources.natID = own[i].ID
		rec.recordOwn(natKind(z), own[i].ID)
		return rec.repairTags(ctx, own[i].ID, rec.plan.tags(rec.plan.natName(z)), own[i].Tags)
	}
	for _, former := range own {
		if slices.ContainsFunc(former.Addresses, func(a cloudaws.NATAddress) bool { return a.AllocationID == addressID }) {
			if err := rec.deleteNATGateway(ctx, former); err != nil {
				return err
			}
		}
	}
	id, err := rec.create(natKind(z), "NAT gateway of zone "+z.name, true, func() (string, error) {
		gateway, err := rec.cloud.CreateNATGateway(ctx, subnetID, addressID, rec.token(natKind(z)), rec.plan.tags(rec.plan.natName(z)))
		return gateway.ID, err
	})
	resources.natID = id
	return err
}

// deleteNATGateway deletes a NAT gateway and waits until its address is free.
func (rec *reconciliation) deleteNATGateway(ctx context.Context, gateway cloudaws.NATGateway) error {
	if gateway.State != cloudaws.NATDeleting {
		if err := ignoreMissing(rec.cloud.DeleteNATGateway(ctx, gateway.ID), "deleting NAT gateway "+gateway.ID); err != nil {
			return err
		}
	}
	return rec.waitUntilNATGatewaysAreGone(ctx, []string{gateway.ID})
}

// waitUntilNATGatewaysAreGone looks at all of them with one request.
func (rec *reconciliation) waitUntilNATGatewaysAreGone(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		found, err := rec.listExistingNATGateways(ctx, cloudaws.Filter{IDs: ids})
		switch {
		case err != nil:
			return "", fmt.Errorf("reading NAT gateways: %w", err)
		case len(found) > 0:
			return fmt.Sprintf("NAT gateway %s is being deleted", found[0].ID), nil
		}
		return "", nil
	})
}

// waitForNATGateways waits until the NAT gateways of all zones work, with one request for all, and learns their public addresses.
func (rec *reconciliation) waitForNATGateways(ctx context.Context) error {
	known := rec.observed.natGateways
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		waiting := rec.pendingNATGateways(known)
		if len(waiting) > 0 {
			found, err := rec.cloud.ListNATGateways(ctx, cloudaws.Filter{IDs: waiting})
			if err != nil {
				return "", fmt.Errorf("reading NAT gateways: %w", err)
			}
			known = slices.Concat(found, known)
		}
		for _, z := range rec.plan.zones {
			if reason, err := rec.learnNATGateway(z, known); reason != "" || err != nil {
				return reason, err
			}
		}
		return "", nil
	})
}

// pendingNATGateways are the IDs of those that do not work as far as is known.
func (rec *reconciliation) pendingNATGateways(known []cloudaws.NATGateway) []string {
	var ids []string
	for _, z := range rec.plan.zones {
		id := rec.zone(z.name).natID
		if id != "" && !slices.ContainsFunc(known, func(g cloudaws.NATGateway) bool { return g.ID == id && g.State == cloudaws.NATAvailable }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// learnNATGateway takes the public addresses of a zone's NAT gateway from what is known, the latest first, or returns what it waits for.
func (rec *reconciliation) learnNATGateway(z zoneSpec, known []cloudaws.NATGateway) (reason string, err error) {
	resources := rec.zone(z.name)
	if resources.natID == "" {
		return "", nil
	}
	i := slices.IndexFunc(known, func(g cloudaws.NATGateway) bool { return g.ID == resources.natID })
	if i < 0 {
		return fmt.Sprintf("NAT gateway %s is not listed yet", resources.natID), nil
	}
	switch gateway := known[i]; gateway.State {
	case cloudaws.NATAvailable:
		resources.natPublicIPs = nil
		for _, address := range gateway.Addresses {
			resources.natPublicIPs = append(resources.natPublicIPs, address.PublicIP)
		}
		return "", nil
	case cloudaws.NATPending:
		return fmt.Sprintf("NAT gateway %s of zone %s is being created", gateway.ID, z.name), nil
	default:
		return "", cloud.Errorf(cloud.Unknown, "NAT gateway %s of zone %s is %s (%s); the next reconciliation replaces it", gateway.ID, z.name, gateway.State, gateway.Failure)
	}
}

// ensureNATRoute leads the zone's connections to the internet through its NAT gateway.
func (rec *reconciliation) ensureNATRoute(ctx context.Context, z zoneSpec) error {
	resources := rec.zone(z.name)
	table := cloudaws.RouteTable{ID: resources.table}
	for i := range rec.observed.tables {
		if rec.observed.tables[i].ID == resources.table {
			table = rec.observed.tables[i]
		}
	}
	if rec.plan.ipv6 {
		if err := rec.ensureRoute(ctx, table, cloudaws.Route{Destination: translated, NATGatewayID: resources.natID}); err != nil {
			return err
		}
	}
	return rec.ensureRoute(ctx, table, cloudaws.Route{Destination: anywhere, NATGatewayID: resources.natID})
}

// removeFormer removes what has a successor in any zone.
func (rec *reconciliation) removeFormer(ctx context.Context) error {
	steps := make([]func() error, 0, len(rec.plan.zones))
	for _, z := range rec.plan.zones {
		steps = append(steps, func() error { return rec.removeFormerNATGateways(ctx, z) })
	}
	return contract.InParallel(steps...)
}

// removeFormerNATGateways removes NAT gateways that have a successor, and then the address that the shoot had allocated, if the user gives one now.
func (rec *reconciliation) removeFormerNATGateways(ctx context.Context, z zoneSpec) error {
	var ids []string
	for _, gateway := range rec.ownNATGateways(z) {
		if gateway.ID == rec.zone(z.name).natID {
			continue
		}
		ids = append(ids, gateway.ID)
		if gateway.State == cloudaws.NATDeleting {
			continue
		}
		if err := ignoreMissing(rec.cloud.DeleteNATGateway(ctx, gateway.ID), "deleting NAT gateway "+gateway.ID); err != nil {
			return err
		}
	}
	if err := rec.waitUntilNATGatewaysAreGone(ctx, ids); err != nil {
		return err
	}
	address := rec.observedAddress(z)
	if z.addressID == "" || address == nil || address.AllocationID == z.addressID {
		return nil
	}
	if err := ignoreMissing(rec.cloud.ReleaseAddress(ctx, address.AllocationID), "releasing elastic IP "+address.AllocationID); err != nil {
		return err
	}
	rec.updateState(func(s *state) { s.Forget(addressKind(z)) })
	return nil
}
