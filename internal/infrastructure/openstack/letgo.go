package openstack

import (
	"context"
	"slices"
)

// forsaken returns the kinds of which something else is recorded than what the configuration wants by now: a given resource
// that it does not name any more, or one of the shoot's own in place of one that it names. A user may correct that until the
// shoot is fulfilled for the first time.
func (p *pass) forsaken() []kind {
	if p.fulfilled {
		return nil
	}
	nodes, _ := p.subnet(kindSubnet)
	named := map[kind]string{
		kindNetwork: p.plan.network.givenID, kindRouter: p.plan.router.givenID,
		kindSecurityGroup: p.plan.group.givenID, kindSubnet: nodes.givenID,
	}
	var kinds []kind
	for k, givenID := range named {
		id, owner := p.ledger.id(k), p.ledger.owner(k)
		if id != "" && id != givenID && (owner == given || (owner == own && givenID != "")) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// letGo takes out of forsaken resources what the shoot made in them, removes those that are its own, and forgets them: what
// takes their place is looked for anew.
func (p *pass) letGo(ctx context.Context) error {
	kinds := p.forsaken()
	if len(kinds) == 0 {
		return nil
	}
	if err := p.clearSubnets(ctx, kinds); err != nil {
		return err
	}
	if err := p.removeForsaken(ctx, kinds); err != nil {
		return err
	}
	p.doomed = doomed{}
	p.record(func(l *ledger) {
		for _, k := range kinds {
			if id := l.id(k); id != "" {
				p.log.Info("Released a resource that the configuration no longer names", "kind", k, "id", id)
				l.forget(k, factsOf(k)...)
			}
		}
	})
	return nil
}

// clearSubnets removes interfaces from a forsaken router, network or subnet, and own subnets from a forsaken network.
func (p *pass) clearSubnets(ctx context.Context, kinds []kind) error {
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
	if !slices.Contains(kinds, kindNetwork) && !slices.Contains(kinds, kindSubnet) {
		return nil
	}
	if err := p.removeShareNetwork(ctx); err != nil {
		return err
	}
	return p.removeSubnets(ctx)
}

// removeForsaken removes what is the shoot's own.
func (p *pass) removeForsaken(ctx context.Context, kinds []kind) error {
	for _, own := range []struct {
		kind   kind
		doomed *[]string
		remove func(context.Context) error
	}{
		{kindRouter, &p.doomed.router, p.removeRouter},
		{kindNetwork, &p.doomed.network, p.removeNetwork},
		{kindSecurityGroup, &p.doomed.group, p.removeGroup},
	} {
		if !slices.Contains(kinds, own.kind) || !p.owns(own.kind, "") {
			continue
		}
		*own.doomed = []string{p.ledger.id(own.kind)}
		if err := own.remove(ctx); err != nil {
			return err
		}
	}
	return nil
}
