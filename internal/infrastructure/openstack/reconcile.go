package openstack

import (
	"context"

	"github.com/trellis-garden/trellis/internal/contract"
)

// reconcileGraph is flat on purpose: everything starts as soon as what it needs is there, and nothing waits for what it
// does not need.
func (p *pass) reconcileGraph() *contract.Graph {
	g := contract.NewGraph("reconciling infrastructure")
	add := func(name string, do func(context.Context) error, after ...contract.TaskID) contract.TaskID {
		return g.Add(contract.Task{Name: name, Do: do, After: after})
	}
	released := g.Add(contract.Task{Name: "letting go of what is no longer given", Do: p.letGo, SkipIf: len(p.forsaken()) == 0})
	seen := add("reading what exists", p.observe, released)
	intended := add("saving what will be created", p.intendMissing, seen)
	floating := add("finding floating network", p.findFloatingNetwork, seen)

	network := add("ensuring network", p.ensureNetwork, intended)
	group := add("ensuring security group", p.ensureGroup, intended)
	add("ensuring key pair", p.ensureKeyPair, intended)
	router := add("ensuring router", p.ensureRouter, intended, floating)
	add("awaiting router's address", p.awaitAddress, router)

	subnets := map[kind]contract.TaskID{}
	var interfaces []contract.TaskID
	for _, wanted := range p.subnets {
		subnets[wanted.kind] = add("ensuring subnet "+wanted.name,
			func(ctx context.Context) error { return p.ensureSubnet(ctx, wanted) }, network)
		if wanted.attached {
			interfaces = append(interfaces, add("ensuring router interface in "+wanted.name,
				func(ctx context.Context) error { return p.ensureInterface(ctx, wanted) }, router, subnets[wanted.kind]))
		}
	}
	add("checking router interfaces", p.checkInterfaces, interfaces...)
	rulesAfter := []contract.TaskID{group}
	if p.plan.group.routesPods && p.dualStack() {
		rulesAfter = append(rulesAfter, subnets[kindSubnetPods])
	}
	add("ensuring security group rules", p.ensureRules, rulesAfter...)
	g.Add(contract.Task{Name: "ensuring share network", Do: p.ensureShareNetwork, SkipIf: !p.plan.shareNetwork, After: []contract.TaskID{subnets[kindSubnet]}})
	return g
}

// intendMissing saves in one write all that this pass is about to create. A crash between a create and the write of its
// ID then loses nothing: the next pass knows what to look for.
func (p *pass) intendMissing(ctx context.Context) error {
	if p.fresh {
		p.ledger.note(keyProject, p.cloud.Token().ProjectID)
		p.ledger.note(keyNothing, "")
	}
	p.doubtIntents()
	missing := missingKinds(p.plan, p.seen)
	if p.seen.keyPair == nil && p.plan.keyPair.publicKey != "" {
		missing[kindKeyPair] = p.effectiveKeyPairName()
		p.noteKey(p.effectiveKeyPairName(), p.plan.keyPair.publicKey)
	}
	return p.intend(ctx, missing)
}

// missingKinds returns what is wanted and was not seen, with the name it will have. Interfaces count only in given
// subnets, and are named by the subnet.
func missingKinds(wanted *plan, seen observation) map[kind]string {
	missing := map[kind]string{}
	if wanted.network.givenID == "" && seen.network == nil {
		missing[kindNetwork] = wanted.network.name
	}
	if wanted.router.givenID == "" && seen.router == nil {
		missing[kindRouter] = wanted.router.name
	}
	if wanted.group.givenID == "" && seen.group == nil {
		missing[kindSecurityGroup] = wanted.group.name
	}
	if wanted.shareNetwork && seen.shareNetwork == nil {
		missing[kindShareNetwork] = wanted.technicalID
	}
	for _, subnet := range wanted.subnets {
		_, found := seen.subnets[subnet.kind]
		switch {
		case subnet.givenID == "" && !found:
			missing[subnet.kind] = subnet.name
		case subnet.givenID != "" && !connects(seen.interfaces, subnet.givenID):
			missing[kindInterface] = subnet.givenID
		}
	}
	return missing
}

// checkInterfaces reports what does not belong on the shoot's own router.
func (p *pass) checkInterfaces(context.Context) error {
	if p.plan.router.givenID != "" {
		return nil
	}
	var ours []string
	for _, wanted := range p.subnets {
		ours = append(ours, p.heldSubnet(wanted.kind).ID)
	}
	for _, k := range subnetKinds() { // also those of a family that is not in use any more
		ours = append(ours, p.ledger.id(k))
	}
	p.report(foreignInterfaces(p.router.ID, p.seen.interfaces, ours)...)
	return nil
}
