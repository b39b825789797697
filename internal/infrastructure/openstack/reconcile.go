package openstack

import (
	"context"

	"github.com/trellis-garden/trellis/internal/contract"
)

// reconcileGraph has as few dependencies as possible: each task starts once what it needs exists.
func (rec *reconciliation) reconcileGraph() *contract.Graph {
	g := contract.NewGraph("reconciling infrastructure")
	add := func(name string, do func(context.Context) error, after ...contract.TaskID) contract.TaskID {
		return g.Add(contract.Task{Name: name, Do: do, After: after})
	}
	released := g.Add(contract.Task{Name: "letting go of what is no longer given", Do: rec.release, SkipIf: len(rec.replacedKinds()) == 0})
	observed := add("reading what exists", rec.observe, released)
	intended := add("saving what will be created", rec.recordMissingIntents, observed)
	floating := add("finding floating network", rec.findFloatingNetwork, observed)

	network := add("ensuring network", rec.ensureNetwork, intended)
	group := add("ensuring security group", rec.ensureGroup, intended)
	add("ensuring key pair", rec.ensureKeyPair, intended)
	router := add("ensuring router", rec.ensureRouter, intended, floating)
	add("awaiting router's address", rec.waitForAddress, router)

	subnets := map[kind]contract.TaskID{}
	var interfaces []contract.TaskID
	for _, wanted := range rec.subnets {
		subnets[wanted.kind] = add("ensuring subnet "+wanted.name,
			func(ctx context.Context) error { return rec.ensureSubnet(ctx, wanted) }, network)
		if wanted.attached {
			interfaces = append(interfaces, add("ensuring router interface in "+wanted.name,
				func(ctx context.Context) error { return rec.ensureInterface(ctx, wanted) }, router, subnets[wanted.kind]))
		}
	}
	add("checking router interfaces", rec.checkInterfaces, interfaces...)
	rulesAfter := []contract.TaskID{group}
	if rec.plan.group.routesPods && rec.dualStack() {
		rulesAfter = append(rulesAfter, subnets[kindSubnetPods])
	}
	add("ensuring security group rules", rec.ensureRules, rulesAfter...)
	g.Add(contract.Task{Name: "ensuring share network", Do: rec.ensureShareNetwork, SkipIf: !rec.plan.shareNetwork, After: []contract.TaskID{subnets[kindSubnet]}})
	return g
}

// recordMissingIntents saves in one write all that this reconciliation is about to create. If the process ends between a creation and the write of the ID,
// the next one knows what to look for.
func (rec *reconciliation) recordMissingIntents(ctx context.Context) error {
	if rec.nothingRecorded {
		rec.state.SetFact(keyProject, rec.cloud.Token().ProjectID)
		rec.state.SetFact(keyNothingCreated, "")
	}
	rec.markIntentsUncertain()
	missing := missingKinds(rec.plan, rec.observed)
	if rec.observed.keyPair == nil && rec.plan.keyPair.publicKey != "" {
		missing[kindKeyPair] = rec.effectiveKeyPairName()
		rec.addKeyDigest(rec.effectiveKeyPairName(), rec.plan.keyPair.publicKey)
	}
	return rec.recordIntents(ctx, missing)
}

// missingKinds returns the wanted kinds that were not observed, with their future names. Interfaces count only in given subnets, and have the subnet's name.
func missingKinds(wanted *plan, observed observation) map[kind]string {
	missing := map[kind]string{}
	if wanted.network.givenID == "" && observed.network == nil {
		missing[kindNetwork] = wanted.network.name
	}
	if wanted.router.givenID == "" && observed.router == nil {
		missing[kindRouter] = wanted.router.name
	}
	if wanted.group.givenID == "" && observed.group == nil {
		missing[kindSecurityGroup] = wanted.group.name
	}
	if wanted.shareNetwork && observed.shareNetwork == nil {
		missing[kindShareNetwork] = wanted.technicalID
	}
	for _, subnet := range wanted.subnets {
		_, found := observed.subnets[subnet.kind]
		switch {
		case subnet.givenID == "" && !found:
			missing[subnet.kind] = subnet.name
		case subnet.givenID != "" && !connects(observed.interfaces, subnet.givenID):
			missing[kindInterface] = subnet.givenID
		}
	}
	return missing
}

// checkInterfaces reports foreign interfaces of the shoot's own router.
func (rec *reconciliation) checkInterfaces(context.Context) error {
	if rec.plan.router.givenID != "" {
		return nil
	}
	var ours []string
	for _, wanted := range rec.subnets {
		ours = append(ours, rec.ensuredSubnet(wanted.kind).ID)
	}
	for _, k := range subnetKinds() { // also those of a family that is not in use any more
		ours = append(ours, rec.state.ID(k))
	}
	rec.addFindings(unmanagedInterfaces(rec.router.ID, rec.observed.interfaces, ours)...)
	return nil
}
