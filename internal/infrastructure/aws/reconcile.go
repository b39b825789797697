package aws

import (
	"context"
	"slices"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/contract"
)

// reconcileGraph has as few dependencies as possible: each task starts once what it needs exists. The tasks on the way to the NAT gateways, which take
// minutes, depend on nothing else.
func (rec *reconciliation) reconcileGraph() *contract.Graph {
	g := contract.NewGraph("reconciling infrastructure")
	add := func(name string, do func(context.Context) error, after ...contract.TaskID) contract.TaskID {
		return g.Add(contract.Task{Name: name, Do: do, After: after})
	}
	unlessGiven := func(name string, do func(context.Context) error, after ...contract.TaskID) contract.TaskID {
		return g.Add(contract.Task{Name: name, Do: do, After: after, SkipIf: rec.plan.vpc.givenID != ""})
	}
	observed := add("reading what exists", rec.observe)
	checked := add("checking what is given", rec.checkGiven, observed)
	intended := add("saving what will be created", rec.saveUnrecorded, checked)

	vpc := add("ensuring VPC", rec.ensureVPC, intended)
	ranges := g.Add(contract.Task{Name: "awaiting IPv6 range of the VPC", Do: rec.ensureIPv6Range, SkipIf: !rec.plan.ipv6, After: []contract.TaskID{vpc}})
	egressOnly := g.Add(contract.Task{
		Name: "ensuring egress-only internet gateway", Do: rec.ensureEgressOnlyGateway, SkipIf: !rec.plan.ipv6 || rec.plan.givenSubnets, After: []contract.TaskID{vpc},
	})
	dhcp := unlessGiven("ensuring DHCP options", rec.ensureDHCPOptions, intended)
	unlessGiven("assigning DHCP options to the VPC", rec.assignDHCPOptions, vpc, dhcp)
	add("ensuring DNS in the VPC", rec.ensureDNS, vpc)
	unlessGiven("closing the default security group", rec.closeDefaultGroup, vpc)
	gateway := add("ensuring internet gateway", rec.ensureGateway, vpc)
	mainTable := g.Add(contract.Task{
		Name: "ensuring route table of public subnets", Do: rec.ensureMainTable, SkipIf: !rec.plan.hasPublic(), After: []contract.TaskID{vpc},
	})
	g.Add(contract.Task{
		Name: "ensuring routes to the internet", Do: rec.ensureMainRoutes, SkipIf: !rec.plan.hasPublic(), After: []contract.TaskID{mainTable, gateway},
	})
	group := contract.Task{Name: "ensuring security group of nodes", Do: rec.ensureNodesGroup, After: []contract.TaskID{vpc}}
	var subnets []contract.TaskID
	if rec.plan.givenSubnets {
		subnets = []contract.TaskID{rec.addGivenSubnets(g, ranges)}
		group.After = subnets
	} else {
		subnets = rec.addZones(g, zoneTasks{ranges: ranges, egressOnly: egressOnly, gateway: gateway, mainTable: mainTable})
	}
	if nodesGroup := g.Add(group); rec.plan.fileSystem.enabled {
		rec.addFileSystem(g, intended, append(subnets, nodesGroup)...)
	}

	role := add("ensuring role of nodes", rec.ensureRole, intended)
	add("ensuring policy of the role", rec.ensurePolicy, role)
	add("ensuring instance profile of nodes", rec.ensureProfile, role)
	add("ensuring key pair", rec.ensureKeyPair, intended)
	return g
}

// addGivenSubnets adds the tasks for subnets of the user, and returns the one after which they are known.
func (rec *reconciliation) addGivenSubnets(g *contract.Graph, ranges contract.TaskID) contract.TaskID {
	given := g.Add(contract.Task{Name: "checking given subnets", Do: rec.useGivenSubnets, After: []contract.TaskID{ranges}})
	g.Add(contract.Task{Name: "tagging given subnets", Do: rec.tagGivenSubnets, After: []contract.TaskID{given}})
	g.Add(contract.Task{Name: "tagging route tables of given subnets", Do: rec.tagGivenTables, After: []contract.TaskID{given}})
	g.Add(contract.Task{Name: "reserving the range of services", Do: rec.ensureServiceRange, SkipIf: !rec.plan.ipv6, After: []contract.TaskID{given}})
	return given
}

// addFileSystem adds the tasks for the elastic file system. It is created beside the network; its mount targets need subnets and group.
func (rec *reconciliation) addFileSystem(g *contract.Graph, intended contract.TaskID, network ...contract.TaskID) {
	former := g.Add(contract.Task{
		Name: "deleting former elastic file system", Do: rec.removeFormerFileSystem, SkipIf: rec.plan.fileSystem.givenID == "", After: []contract.TaskID{intended},
	})
	system := g.Add(contract.Task{Name: "ensuring elastic file system", Do: rec.ensureFileSystem, After: []contract.TaskID{former}})
	ready := g.Add(contract.Task{Name: "awaiting elastic file system", Do: rec.waitForFileSystem, After: []contract.TaskID{system}})
	g.Add(contract.Task{Name: "ensuring mount targets", Do: rec.ensureMountTargets, After: append(network, ready)})
}

// addZones adds the tasks for subnets of the shoot's own, and returns those after which the subnets of nodes exist.
func (rec *reconciliation) addZones(g *contract.Graph, before zoneTasks) []contract.TaskID {
	tables := []contract.TaskID{before.mainTable}
	var routes, subnets []contract.TaskID
	for _, z := range rec.plan.zones {
		zone := rec.addZone(g, z, before)
		tables, routes, subnets = append(tables, zone.table), append(routes, zone.routed...), append(subnets, zone.workers)
	}
	g.Add(contract.Task{Name: "reserving the range of services", Do: rec.ensureServiceRange, SkipIf: !rec.plan.ipv6, After: subnets})
	ready := g.Add(contract.Task{Name: "awaiting NAT gateways", Do: rec.waitForNATGateways, After: routes})
	g.Add(contract.Task{Name: "removing former NAT gateways", Do: rec.removeFormer, After: []contract.TaskID{ready}})
	g.Add(contract.Task{Name: "ensuring gateway endpoints", Do: rec.ensureEndpoints, After: tables})
	return subnets
}

// zoneTasks are tasks that those of a zone depend on.
type zoneTasks struct{ ranges, egressOnly, gateway, mainTable contract.TaskID }

// addedZone are the tasks of a zone that others depend on. Without a public subnet, nothing is routed.
type addedZone struct {
	workers, table contract.TaskID
	routed         []contract.TaskID
}

// addZone adds the tasks of a zone.
func (rec *reconciliation) addZone(g *contract.Graph, z zoneSpec, before zoneTasks) addedZone {
	rec.zones[z.name] = &zoneResources{subnets: map[role]string{}}
	add := func(name string, do func(context.Context, zoneSpec) error, after ...contract.TaskID) contract.TaskID {
		return g.Add(contract.Task{Name: name + " of zone " + z.name, Do: func(ctx context.Context) error { return do(ctx, z) }, After: after})
	}
	subnets := map[role]contract.TaskID{}
	for _, wanted := range rec.plan.subnets(z) {
		subnets[wanted.role] = add("ensuring "+string(wanted.role)+" subnet", func(ctx context.Context, z zoneSpec) error {
			return rec.ensureSubnet(ctx, z, wanted)
		}, before.ranges)
	}
	added := addedZone{workers: subnets[workers], table: add("ensuring route table", rec.ensureZoneTable, before.egressOnly)}
	for r, subnet := range subnets {
		after := []contract.TaskID{subnet, added.table}
		if r == public {
			after = []contract.TaskID{subnet, before.mainTable}
		}
		add("associating "+string(r)+" subnet", func(ctx context.Context, z zoneSpec) error { return rec.ensureAssociation(ctx, z, r) }, after...)
	}
	if z.public == "" {
		return added
	}
	address := add("ensuring elastic IP", rec.ensureAddress, before.ranges)
	nat := add("ensuring NAT gateway", rec.ensureNATGateway, address, subnets[public], before.gateway)
	added.routed = []contract.TaskID{add("ensuring route to NAT gateway", rec.ensureNATRoute, added.table, nat)}
	return added
}

// saveUnrecorded saves in one write what will be created, and what will be adopted. If the process ends between a creation and the write of its ID, the next one
// knows what to look for.
func (rec *reconciliation) saveUnrecorded(ctx context.Context) error {
	unrecorded := map[kind]string{}
	add := func(k kind, name string, isWanted, exists bool) {
		if isWanted && (!exists || rec.state.Owner(k) == record.Unknown) {
			unrecorded[k] = name
		}
	}
	p, observed := rec.plan, rec.observed
	if p.vpc.givenID == "" {
		add(kindVPC, p.technicalID, true, observed.vpc != nil)
		add(kindDHCPOptions, p.technicalID, true, observed.dhcpOptions != nil)
		add(kindInternetGateway, p.technicalID, true, observed.gateway != nil)
		add(kindEgressOnlyGateway, p.technicalID, p.ipv6 && !p.givenSubnets, observed.egressOnlyGateway != nil)
	}
	add(kindMainRouteTable, p.technicalID, p.hasPublic(), rec.observedTable(kindMainRouteTable, p.technicalID) != nil)
	if !p.givenSubnets {
		for _, z := range p.zones {
			rec.addUnrecordedOfZone(add, z)
		}
	}
	for _, service := range p.endpoints {
		add(rec.endpointKind(service), p.endpointName(service), true, rec.observedEndpoint(service) != nil)
	}
	add(kindFileSystem, p.technicalID, p.fileSystem.enabled && p.fileSystem.givenID == "", observed.fileSystem != nil)
	rec.addMissingMountTargets(add)
	add(kindNodesGroup, p.nodesName(), p.nodesGroupID == "", observed.nodesGroup != nil)
	add(kindRole, p.nodesName(), true, observed.role != nil)
	add(kindProfile, p.nodesName(), true, observed.profile != nil)
	add(kindKeyPair, p.keyPairName(), p.publicKey != "", observed.keyPair != nil)
	return rec.saveIntents(ctx, unrecorded)
}

// addUnrecordedOfZone adds what will be created or adopted in a zone, and records the number of the zone.
func (rec *reconciliation) addUnrecordedOfZone(add func(k kind, name string, isWanted, exists bool), z zoneSpec) {
	for _, wanted := range rec.plan.subnets(z) {
		add(subnetKind(z.name, wanted.role), wanted.tags[tagName], true, rec.observedSubnet(z, wanted) != nil)
	}
	table := zoneKind(z.name, awsv1alpha1.ZoneKeyRouteTable)
	add(table, rec.plan.routeTableName(z), true, rec.observedTable(table, rec.plan.routeTableName(z)) != nil)
	if z.public != "" {
		add(addressKind(z), rec.plan.addressName(z), z.addressID == "", rec.observedAddress(z) != nil)
		add(natKind(z), rec.plan.natName(z), true, rec.hasUsableNATGateway(z))
	}
	rec.state.SetFact(awsv1alpha1.ZoneStateKey(z.name, awsv1alpha1.ZoneKeySuffix), z.suffix)
}

// hasUsableNATGateway is false if a NAT gateway will be created.
func (rec *reconciliation) hasUsableNATGateway(z zoneSpec) bool {
	addressID := z.addressID
	if address := rec.observedAddress(z); addressID == "" && address != nil {
		addressID = address.AllocationID
	}
	return slices.ContainsFunc(rec.ownNATGateways(z), func(g cloudaws.NATGateway) bool { return isUsable(g, addressID, g.SubnetID) })
}
