package openstack

import (
	"context"
	"slices"
)

// forsaken returns the kinds of which a resource is recorded as given that the configuration does not name any more. A user
// may correct that until the shoot is fulfilled for the first time.
func (p *pass) forsaken() []kind {
	nodes, _ := p.subnet(kindSubnet)
	named := map[kind]string{
		kindNetwork: p.plan.network.givenID, kindRouter: p.plan.router.givenID,
		kindSecurityGroup: p.plan.group.givenID, kindSubnet: nodes.givenID,
	}
	var kinds []kind
	for k, id := range named {
		if p.ledger.owner(k) == given && p.ledger.id(k) != id {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// letGo takes out of forsaken resources what the shoot made in them, and then forgets them: they are the user's, and
// what takes their place is looked for anew.
func (p *pass) letGo(ctx context.Context) error {
	kinds := p.forsaken()
	if len(kinds) == 0 {
		return nil
	}
	if err := p.clear(ctx, kinds); err != nil {
		return err
	}
	p.doomed = doomed{}
	p.record(func(l *ledger) {
		for _, k := range kinds {
			p.log.Info("Let go of a resource that the configuration does not name any more", "kind", k, "id", l.id(k))
			l.forget(k, factsOf(k)...)
		}
	})
	return nil
}

// clear removes interfaces from a forsaken router or subnet, and subnets from a forsaken network.
func (p *pass) clear(ctx context.Context, kinds []kind) error {
	if len(kinds) == 1 && kinds[0] == kindSecurityGroup {
		return nil // nothing is in it yet
	}
	p.doomed.routerID = p.ledger.id(kindRouter)
	if err := p.doomedSubnets(ctx); err != nil {
		return err
	}
	if err := p.removeInterfaces(ctx); err != nil {
		return err
	}
	if slices.Contains(kinds, kindNetwork) || slices.Contains(kinds, kindSubnet) {
		if err := p.removeShareNetwork(ctx); err != nil {
			return err
		}
	}
	if slices.Contains(kinds, kindNetwork) {
		return p.removeSubnets(ctx)
	}
	return nil
}
