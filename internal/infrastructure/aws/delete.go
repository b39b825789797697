package aws

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/contract"
)

// toDelete contains the IDs of the shoot's own resources, each list sorted.
type toDelete struct {
	vpcs, dhcpOptions, gateways, egressOnlyGateways, subnets, tables, natGateways, addresses, groups, endpoints []string
	// vpcID is the VPC in use, own or given; empty if there was none.
	vpcID string
	// leftGroups are security groups that a cloud-controller-manager made for load balancers.
	leftGroups []cloudaws.SecurityGroup
}

// deleteGraph deletes what uses something before what it uses. NAT gateways of all zones are deleted together and awaited by one list; subnets take their
// associations with route tables along.
func (rec *reconciliation) deleteGraph() *contract.Graph {
	g := contract.NewGraph("deleting infrastructure")
	add := func(name string, do func(context.Context) error, after ...contract.TaskID) contract.TaskID {
		return g.Add(contract.Task{Name: name, Do: do, After: after})
	}
	add("deleting key pair", rec.removeKeyPair)
	profile := add("deleting instance profile of nodes", rec.removeProfile)
	add("deleting role of nodes", rec.removeRole, profile)

	found := add("finding what is left", rec.findToDelete)
	balancers := add("deleting load balancers", rec.removeLoadBalancers, found)
	nat := add("deleting NAT gateways", rec.removeNATGateways, found)
	add("releasing elastic IPs", rec.removeAddresses, nat)
	fileSystem := add("deleting elastic file system", rec.removeFileSystem, found)
	subnets := add("deleting subnets", rec.removeSubnets, nat, balancers, fileSystem)
	endpoints := add("deleting gateway endpoints", rec.removeAllEndpoints, found)
	tables := add("deleting route tables", rec.removeTables, subnets, endpoints)
	groups := add("deleting security groups", rec.removeGroups, balancers, fileSystem, found)
	gateways := add("deleting internet gateway", rec.removeGateways, nat, balancers) // whose addresses need it
	egressOnly := add("deleting egress-only internet gateway", rec.removeEgressOnlyGateways, subnets)
	g.Add(contract.Task{
		Name: "removing tags of given subnets", Do: rec.releaseGiven, SkipIf: !rec.plan.givenSubnets, After: []contract.TaskID{found},
	})
	vpc := add("deleting VPC", rec.removeVPC, subnets, tables, groups, gateways, egressOnly, endpoints)
	add("deleting DHCP options", rec.removeDHCPOptions, vpc)
	return g
}

// findToDelete determines the shoot's own resources. It makes requests only if the recorded state is not sufficient.
func (rec *reconciliation) findToDelete(ctx context.Context) error {
	rec.collectRecorded()
	if !slices.ContainsFunc(rec.allKinds(), rec.mayHaveUnrecorded) {
		return nil
	}
	if err := rec.awaitUncertain(ctx, rec.allKinds()); err != nil {
		return err
	}
	tagged := cloudaws.Filter{TagKeys: []string{rec.plan.clusterTag()}}
	d := &rec.toDelete
	err := contract.InParallel(
		func() error { return addOwn(ctx, rec, &d.vpcs, tagged, rec.cloud.ListVPCs) },
		func() error { return addOwn(ctx, rec, &d.dhcpOptions, tagged, rec.cloud.ListDHCPOptions) },
		func() error { return addOwn(ctx, rec, &d.gateways, tagged, rec.cloud.ListInternetGateways) },
		func() error { return addOwn(ctx, rec, &d.egressOnlyGateways, tagged, rec.cloud.ListEgressOnlyGateways) },
		func() error { return addOwn(ctx, rec, &d.subnets, tagged, rec.cloud.ListSubnets) },
		func() error { return addOwn(ctx, rec, &d.tables, tagged, rec.cloud.ListRouteTables) },
		func() error { return addOwn(ctx, rec, &d.natGateways, tagged, rec.listExistingNATGateways) },
		func() error { return addOwn(ctx, rec, &d.addresses, tagged, rec.cloud.ListAddresses) },
		func() error { return addOwn(ctx, rec, &d.groups, tagged, rec.cloud.ListSecurityGroups) },
		func() error { return addOwn(ctx, rec, &d.endpoints, tagged, rec.cloud.ListEndpoints) },
	)
	if d.vpcID == "" && len(d.vpcs) > 0 {
		d.vpcID = d.vpcs[0]
	}
	return err
}

// listExistingNATGateways leaves out those that are deleted, which AWS lists for an hour.
func (rec *reconciliation) listExistingNATGateways(ctx context.Context, filter cloudaws.Filter) ([]cloudaws.NATGateway, error) {
	found, err := rec.cloud.ListNATGateways(ctx, filter)
	return slices.DeleteFunc(found, func(g cloudaws.NATGateway) bool { return g.State == cloudaws.NATDeleted }), err
}

// collectRecorded collects what is recorded as the shoot's own.
func (rec *reconciliation) collectRecorded() {
	d := &rec.toDelete
	given := rec.plan.vpc.givenID
	d.vpcID = cmp.Or(given, rec.state.ID(kindVPC))
	add := func(ids *[]string, k kind) {
		if id := rec.state.ID(k); id != "" && !rec.isGiven(id) {
			*ids = append(*ids, id)
		}
	}
	if given == "" {
		add(&d.vpcs, kindVPC)
		add(&d.dhcpOptions, kindDHCPOptions)
		add(&d.gateways, kindInternetGateway)
		add(&d.egressOnlyGateways, kindEgressOnlyGateway)
	}
	add(&d.tables, kindMainRouteTable)
	add(&d.groups, kindNodesGroup)
	for _, zone := range rec.recordedZones() {
		if rec.plan.givenSubnets {
			break
		}
		for _, r := range []role{workers, public, internal} {
			add(&d.subnets, subnetKind(zone, r))
		}
		add(&d.tables, zoneKind(zone, awsv1alpha1.ZoneKeyRouteTable))
		add(&d.natGateways, zoneKind(zone, awsv1alpha1.ZoneKeyNATGateway))
		add(&d.addresses, zoneKind(zone, awsv1alpha1.ZoneKeyElasticIP))
	}
	d.endpoints = slices.Sorted(maps.Values(rec.recordedEndpoints()))
}

func (rec *reconciliation) recordedZones() []string {
	zones := rec.state.infrastructureState().Zones()
	for _, z := range rec.plan.zones {
		if !slices.Contains(zones, z.name) {
			zones = append(zones, z.name)
		}
	}
	return zones
}

// allKinds are the kinds of all resources that a shoot may have.
func (rec *reconciliation) allKinds() []kind {
	kinds := []kind{kindVPC, kindDHCPOptions, kindInternetGateway, kindEgressOnlyGateway, kindMainRouteTable, kindNodesGroup}
	for _, zone := range rec.recordedZones() {
		kinds = append(kinds, subnetKind(zone, workers), subnetKind(zone, public), subnetKind(zone, internal),
			zoneKind(zone, awsv1alpha1.ZoneKeyRouteTable), zoneKind(zone, awsv1alpha1.ZoneKeyNATGateway), zoneKind(zone, awsv1alpha1.ZoneKeyElasticIP))
	}
	for _, service := range rec.plan.endpoints {
		kinds = append(kinds, rec.endpointKind(service))
	}
	return kinds
}

// mayHaveUnrecorded reports whether there may be a resource of a kind that is not recorded: if the result of a creation is unknown, or if this driver has not
// recorded the VPC. Upstream's driver, which stops between a creation and the record of it, does not record what it is about to create.
func (rec *reconciliation) mayHaveUnrecorded(k kind) bool {
	return rec.state.ID(kindVPC) == "" || rec.state.Owner(kindVPC) == record.Unknown || rec.state.MayHaveMore(k)
}

// isGiven reports whether the user gave a resource.
func (rec *reconciliation) isGiven(id string) bool {
	return id == rec.plan.vpc.givenID || id == rec.plan.nodesGroupID ||
		slices.ContainsFunc(rec.plan.zones, func(z zoneSpec) bool { return z.addressID == id })
}

// addOwn adds the IDs of listed resources that the tags say are the shoot's own.
func addOwn[R cloudaws.Resource](
	ctx context.Context, rec *reconciliation, ids *[]string, filter cloudaws.Filter, list func(context.Context, cloudaws.Filter) ([]R, error),
) error {
	found, err := list(ctx, filter)
	if err != nil {
		return fmt.Errorf("looking for resources of the shoot: %w", err)
	}
	for _, one := range found {
		if id, tags := one.Identity(); rec.plan.owns(tags) && !rec.isGiven(id) && !slices.Contains(*ids, id) {
			*ids = append(*ids, id)
		}
	}
	slices.Sort(*ids)
	return nil
}

// removeEach deletes resources in parallel. One that does not exist is gone, unless it may have been created just now. One that is in use is awaited: what uses
// it may be on its way out.
func (rec *reconciliation) removeEach(ctx context.Context, what string, ids []string, remove func(context.Context, string) error) error {
	steps := make([]func() error, 0, len(ids))
	for _, id := range ids {
		steps = append(steps, func() error {
			return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
				err := remove(ctx, id)
				if cloud.KindOf(err) == cloud.InUse {
					return rec.users(ctx, what, id)
				}
				if cloud.IsNotFound(err) && rec.untilLastVisible() > 0 {
					return fmt.Sprintf("AWS does not find %s %s, which may have been created just now", what, id), nil
				}
				return "", ignoreMissing(err, "deleting "+what+" "+id)
			})
		})
	}
	return contract.InParallel(steps...)
}

// users names what uses a resource.
func (rec *reconciliation) users(ctx context.Context, what, id string) (string, error) {
	reasons := []string{fmt.Sprintf("%s %s is in use", what, id)}
	found, err := rec.cloud.ListInterfaces(ctx, cloudaws.Filter{VPCID: rec.toDelete.vpcID})
	if err != nil {
		return "", fmt.Errorf("reading what uses %s %s: %w", what, id, err)
	}
	for _, one := range found {
		if one.SubnetID == id || one.VPCID == id || slices.Contains(one.GroupIDs, id) || what == "internet gateway" {
			reasons = append(reasons, fmt.Sprintf("interface %s (%s) in subnet %s", one.ID, cmp.Or(one.Description, one.Type), one.SubnetID))
		}
	}
	return strings.Join(reasons, "; "), nil
}

func (rec *reconciliation) removeSubnets(ctx context.Context) error {
	return rec.removeEach(ctx, "subnet", rec.toDelete.subnets, rec.cloud.DeleteSubnet)
}

func (rec *reconciliation) removeTables(ctx context.Context) error {
	return rec.removeEach(ctx, "route table", rec.toDelete.tables, rec.cloud.DeleteRouteTable)
}

func (rec *reconciliation) removeAddresses(ctx context.Context) error {
	return rec.removeEach(ctx, "elastic IP", rec.toDelete.addresses, rec.cloud.ReleaseAddress)
}

func (rec *reconciliation) removeVPC(ctx context.Context) error {
	return rec.removeEach(ctx, "VPC", rec.toDelete.vpcs, rec.cloud.DeleteVPC)
}

func (rec *reconciliation) removeDHCPOptions(ctx context.Context) error {
	return rec.removeEach(ctx, "DHCP options", rec.toDelete.dhcpOptions, rec.cloud.DeleteDHCPOptions)
}

func (rec *reconciliation) removeGateways(ctx context.Context) error {
	return rec.removeEach(ctx, "internet gateway", rec.toDelete.gateways, func(ctx context.Context, id string) error {
		if rec.toDelete.vpcID != "" {
			if err := rec.cloud.DetachInternetGateway(ctx, id, rec.toDelete.vpcID); ignoreMissing(err, "") != nil {
				return err
			}
		}
		return rec.cloud.DeleteInternetGateway(ctx, id)
	})
}

func (rec *reconciliation) removeEgressOnlyGateways(ctx context.Context) error {
	return rec.removeEach(ctx, "egress-only internet gateway", rec.toDelete.egressOnlyGateways, rec.cloud.DeleteEgressOnlyGateway)
}

func (rec *reconciliation) removeNATGateways(ctx context.Context) error {
	if err := rec.removeEach(ctx, "NAT gateway", rec.toDelete.natGateways, rec.cloud.DeleteNATGateway); err != nil {
		return err
	}
	return rec.waitUntilNATGatewaysAreGone(ctx, rec.toDelete.natGateways)
}

func (rec *reconciliation) removeAllEndpoints(ctx context.Context) error {
	if len(rec.toDelete.endpoints) == 0 {
		return nil
	}
	return wrap(rec.cloud.DeleteEndpoints(ctx, rec.toDelete.endpoints), "deleting gateway endpoints")
}

func (rec *reconciliation) removeKeyPair(ctx context.Context) error {
	if rec.state.ID(kindKeyPair) == "" && !rec.mayHaveUnrecorded(kindKeyPair) {
		return nil
	}
	if rec.state.ID(kindKeyPair) == "" {
		if err := rec.awaitUncertain(ctx, []kind{kindKeyPair}); err != nil {
			return err
		}
		found, err := rec.cloud.ListKeyPairs(ctx, cloudaws.Filter{Name: rec.plan.keyPairName()})
		if err != nil {
			return fmt.Errorf("looking for the key pair: %w", err)
		}
		if len(found) == 0 || !rec.plan.owns(found[0].Tags) {
			return nil
		}
	}
	return wrap(rec.cloud.DeleteKeyPair(ctx, rec.plan.keyPairName()), "deleting the key pair")
}

func (rec *reconciliation) removeProfile(ctx context.Context) error {
	name := rec.plan.nodesName()
	if err := ignoreMissing(rec.cloud.RemoveRoleFromProfile(ctx, name, name), "removing the role from the instance profile"); err != nil {
		return err
	}
	return ignoreMissing(rec.cloud.DeleteInstanceProfile(ctx, name), "deleting the instance profile")
}

func (rec *reconciliation) removeRole(ctx context.Context) error {
	name := rec.plan.nodesName()
	if err := ignoreMissing(rec.cloud.DeleteRolePolicy(ctx, name, name), "deleting the policy of the role"); err != nil {
		return err
	}
	return ignoreMissing(rec.cloud.DeleteRole(ctx, name), "deleting the role")
}
