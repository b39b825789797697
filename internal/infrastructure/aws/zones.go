package aws

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
)

// observedSubnet returns the shoot's subnet of a role in a zone: the recorded one, or else the one of the shoot with the range. Subnets are unique by range.
func (rec *reconciliation) observedSubnet(z zoneSpec, wanted subnetSpec) *cloudaws.Subnet {
	recorded := rec.state.ID(subnetKind(z.name, wanted.role))
	for i := range rec.observed.subnets {
		if recorded != "" && rec.observed.subnets[i].ID == recorded {
			return &rec.observed.subnets[i]
		}
	}
	for i := range rec.observed.subnets {
		subnet := &rec.observed.subnets[i]
		if rec.plan.owns(subnet.Tags) && subnet.Zone == z.name && sameRange(subnet.CIDR, wanted.cidr) && subnet.Tags[tagName] == wanted.tags[tagName] {
			return subnet
		}
	}
	return nil
}

func (rec *reconciliation) ensureSubnet(ctx context.Context, z zoneSpec, wanted subnetSpec) error {
	k := subnetKind(z.name, wanted.role)
	if subnet := rec.observedSubnet(z, wanted); subnet != nil {
		rec.zone(z.name).setSubnet(wanted.role, subnet.ID)
		rec.recordOwn(k, subnet.ID)
		if !sameRange(subnet.CIDR, wanted.cidr) || subnet.Zone != z.name {
			return cloud.Errorf(cloud.Configuration, "networks.zones: the %s subnet %s of zone %s has the range %s in zone %s, and not %s: subnets cannot be changed",
				wanted.role, subnet.ID, z.name, subnet.CIDR, subnet.Zone, wanted.cidr)
		}
		if rec.plan.ipv6 {
			if err := rec.ensureSubnetIPv6(ctx, subnet, wanted); err != nil {
				return err
			}
		}
		return rec.repairTags(ctx, subnet.ID, wanted.tags, subnet.Tags)
	}
	create := cloudaws.SubnetCreate{VPCID: rec.vpcID, Zone: z.name, CIDR: wanted.cidr, Tags: wanted.tags}
	if rec.plan.ipv6 {
		var err error
		if create.IPv6CIDR, err = rec.takeIPv6(wanted.ipv6Number); err != nil {
			return err
		}
	}
	var created cloudaws.Subnet
	if _, err := rec.create(k, fmt.Sprintf("%s subnet of zone %s", wanted.role, z.name), false, func() (string, error) {
		var err error
		created, err = rec.cloud.CreateSubnet(ctx, create)
		return created.ID, err
	}); err != nil {
		return err
	}
	rec.zone(z.name).setSubnet(wanted.role, created.ID)
	if !rec.plan.ipv6 {
		return nil
	}
	created.IPv6 = []cloudaws.IPv6Block{{CIDR: create.IPv6CIDR, State: cloudaws.Associated}}
	return rec.ensureSubnetIPv6(ctx, &created, wanted)
}

// sameRange compares ranges by their meaning.
func sameRange(a, b string) bool {
	one, err := netip.ParsePrefix(a)
	if err != nil {
		return a == b
	}
	other, err := netip.ParsePrefix(b)
	return err == nil && one.Masked() == other.Masked()
}

// containsRange reports whether a range is part of another one.
func containsRange(whole, part string) bool {
	one, err := netip.ParsePrefix(whole)
	if err != nil {
		return false
	}
	other, err := netip.ParsePrefix(part)
	return err == nil && one.Bits() <= other.Bits() && one.Contains(other.Addr())
}

// observedTable returns the shoot's route table of a kind: the recorded one, or else the one with the shoot's tags and the name.
func (rec *reconciliation) observedTable(k kind, name string) *cloudaws.RouteTable {
	return pick(rec, "route table", k, name, rec.observed.tables)
}

// ensureTable returns the shoot's route table of a kind with its present routes. AWS adds the local route.
func (rec *reconciliation) ensureTable(ctx context.Context, k kind, name string) (cloudaws.RouteTable, error) {
	tags := rec.plan.tags(name)
	if table := rec.observedTable(k, name); table != nil {
		rec.recordOwn(k, table.ID)
		return *table, rec.repairTags(ctx, table.ID, tags, table.Tags)
	}
	var created cloudaws.RouteTable
	_, err := rec.create(k, "route table "+name, true, func() (string, error) {
		var err error
		created, err = rec.cloud.CreateRouteTable(ctx, rec.vpcID, rec.token(k), tags)
		return created.ID, err
	})
	return created, err
}

// ensureRoute makes a table have a route. Equal ones are not written, another target is replaced without an interruption, and routes to other destinations,
// which are those of a route controller or of users, stay.
func (rec *reconciliation) ensureRoute(ctx context.Context, table cloudaws.RouteTable, wanted cloudaws.Route) error {
	i := slices.IndexFunc(table.Routes, func(r cloudaws.Route) bool { return sameRange(r.Destination, wanted.Destination) })
	switch {
	case i < 0:
		err := rec.cloud.CreateRoute(ctx, table.ID, wanted)
		if cloudaws.CodeOf(err) != "RouteAlreadyExists" {
			return wrap(err, fmt.Sprintf("creating the route to %s in table %s", wanted.Destination, table.ID))
		}
	case table.Routes[i] == wanted:
		return nil
	}
	return wrap(rec.cloud.ReplaceRoute(ctx, table.ID, wanted), fmt.Sprintf("replacing the route to %s in table %s", wanted.Destination, table.ID))
}

func (rec *reconciliation) ensureMainTable(ctx context.Context) error {
	table, err := rec.ensureTable(ctx, kindMainRouteTable, rec.plan.technicalID)
	rec.mainTable = table
	return err
}

// ensureMainRoutes leads the connections of public subnets to the internet gateway, once it is attached.
func (rec *reconciliation) ensureMainRoutes(ctx context.Context) error {
	if rec.plan.ipv6 {
		if err := rec.ensureRoute(ctx, rec.mainTable, cloudaws.Route{Destination: anywhereIPv6, GatewayID: rec.gatewayID}); err != nil {
			return err
		}
	}
	return rec.ensureRoute(ctx, rec.mainTable, cloudaws.Route{Destination: anywhere, GatewayID: rec.gatewayID})
}

func (rec *reconciliation) ensureZoneTable(ctx context.Context, z zoneSpec) error {
	table, err := rec.ensureTable(ctx, zoneKind(z.name, awsv1alpha1.ZoneKeyRouteTable), rec.plan.routeTableName(z))
	rec.zone(z.name).table = table.ID
	if err != nil || !rec.plan.ipv6 {
		return err
	}
	return rec.ensureRoute(ctx, table, cloudaws.Route{Destination: anywhereIPv6, EgressOnlyGatewayID: rec.egressOnlyGatewayID})
}

// tableOf reads no more than the one that exists already: another task may be writing the other.
func (rec *reconciliation) tableOf(z zoneSpec, r role) string {
	if r == public {
		return rec.mainTable.ID
	}
	return rec.zone(z.name).table
}

// ensureAssociation makes a subnet use the route table of its zone or, if it is public, the one with the way to the internet.
func (rec *reconciliation) ensureAssociation(ctx context.Context, z zoneSpec, r role) error {
	subnetID, tableID := rec.zone(z.name).subnet(r), rec.tableOf(z, r)
	key := associationKey(z.name, r)
	for _, table := range rec.observed.tables {
		for _, association := range table.Associations {
			if association.SubnetID != subnetID {
				continue
			}
			id, err := association.ID, error(nil)
			if table.ID != tableID {
				id, err = rec.cloud.ReplaceAssociation(ctx, association.ID, tableID)
			}
			if err != nil {
				return fmt.Errorf("associating subnet %s with route table %s: %w", subnetID, tableID, err)
			}
			rec.updateState(func(s *state) { s.SetFact(key, id) })
			return nil
		}
	}
	id, err := rec.cloud.AssociateRouteTable(ctx, tableID, subnetID)
	if err != nil {
		return fmt.Errorf("associating subnet %s with route table %s: %w", subnetID, tableID, err)
	}
	rec.updateState(func(s *state) { s.SetFact(key, id) })
	return nil
}
