package openstack

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// removeKeyPair removes the recorded key pair, and the one that would be made today if it holds the shoot's key: a pass whose
// records were lost may have made it.
func (p *pass) removeKeyPair(ctx context.Context) error {
	names := []string{p.effectiveKeyPairName()}
	if name := p.plan.keyPair.name; name != names[0] {
		names = append(names, name)
	}
	if p.lacks(kindKeyPair, "") {
		names = append(names, p.technicalID)
	}
	var steps []func() error
	for _, name := range names {
		steps = append(steps, func() error { return p.removeOwnedKeyPair(ctx, name) })
	}
	if err := inParallel(steps...); err != nil {
		return err
	}
	p.record(func(l *ledger) { l.forget(kindKeyPair, keyKeyPairDigest) })
	return nil
}

func (p *pass) removeOwnedKeyPair(ctx context.Context, name string) error {
	found, err := p.cloud.GetKeyPair(ctx, name)
	switch {
	case cloud.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading key pair %q: %w", name, err)
	}
	facts := p.keyPairFacts(name, &found)
	if !facts.owned() && !samePublicKey(found.PublicKey, facts.wanted) {
		if name == p.technicalID && p.lacks(kindKeyPair, "") { // upstream may have made it with a former key, or before SSH access was switched off
			p.addNamesakes(namesake{what: "key pair", id: name})
			return nil
		}
		p.log.Info("Kept a key pair whose public key is not the shoot's", "name", name)
		return nil
	}
	return p.deleteKeyPair(ctx, name)
}

func (p *pass) removeGroup(ctx context.Context) error {
	return p.removeEach("security group", p.doomed.group, func(id string) error {
		return p.explainUse(ctx, p.cloud.DeleteSecurityGroup(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return p.portsWithGroup(ctx, id)
		})
	}, kindSecurityGroup)
}

// removeRoutes takes those routes off the router that lead to nodes of the shoot. The router does not let go of a subnet
// to which a route leads, and on the user's router they would stay for ever.
func (p *pass) removeRoutes(ctx context.Context) error {
	routes := p.doomed.routes
	if slices.Contains(p.doomed.router, p.doomed.routerID) {
		routes.own = append(routes.own, routes.given...) // the router goes with all its routes
		routes.given = nil
	}
	if p.doomed.routerID == "" || len(routes.own)+len(routes.given) == 0 {
		return nil
	}
	const attempts = 5
	var err error
	for range attempts {
		var router cloudopenstack.Router
		if router, err = p.cloud.GetRouter(ctx, p.doomed.routerID); err != nil {
			break
		}
		kept := routes.others(router.Routes)
		if len(kept) == len(router.Routes) {
			return nil
		}
		_, err = p.cloud.UpdateRouter(ctx, router.ID, cloudopenstack.RouterUpdate{Routes: &kept, IfRevision: router.RevisionNumber})
		if err == nil {
			p.log.Info("Removed routes to nodes", "router", router.ID, "count", len(router.Routes)-len(kept))
			return nil
		}
		if cloud.KindOf(err) != cloud.Conflict { // somebody else's change came first: look again
			break
		}
	}
	if cloud.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("removing routes to nodes from router %s: %w", p.doomed.routerID, err)
}

func (p *pass) removeInterfaces(ctx context.Context) error {
	if p.doomed.routerID == "" {
		return nil
	}
	var failed []error
	for _, subnetID := range p.doomed.attached {
		err := p.explainUse(ctx, p.cloud.RemoveRouterInterface(ctx, p.doomed.routerID, subnetID), func(ctx context.Context) ([]blocker, error) {
			return p.usersOfInterface(ctx, p.doomed.routerID, subnetID)
		})
		switch {
		case err == nil:
			p.log.Info("Removed router interface", "router", p.doomed.routerID, "subnet", subnetID)
		case !cloud.IsNotFound(err):
			failed = append(failed, fmt.Errorf("removing subnet %s from router %s: %w", subnetID, p.doomed.routerID, err))
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	p.record(func(l *ledger) { l.forget(kindInterface) })
	return nil
}

func (p *pass) removeRouter(ctx context.Context) error {
	return p.removeEach("router", p.doomed.router, func(id string) error {
		return p.explainUse(ctx, p.cloud.DeleteRouter(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return p.interfacesOf(ctx, id)
		})
	}, kindRouter)
}

func (p *pass) removeSubnets(ctx context.Context) error {
	return p.removeEach("subnet", p.doomed.subnets, func(id string) error {
		return p.explainUse(ctx, p.cloud.DeleteSubnet(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return p.portsIn(ctx, "subnet "+id, cloudopenstack.PortFilter{SubnetIDs: []string{id}})
		})
	}, subnetKinds()...)
}

func (p *pass) removeNetwork(ctx context.Context) error {
	return p.removeEach("network", p.doomed.network, func(id string) error {
		return p.explainUse(ctx, p.cloud.DeleteNetwork(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return p.portsIn(ctx, "network "+id, cloudopenstack.PortFilter{NetworkID: id})
		})
	}, kindNetwork)
}

// removeShareNetwork removes the share network where one was wanted or recorded. In a cloud without Manila none can be.
func (p *pass) removeShareNetwork(ctx context.Context) error {
	ids, look := p.candidates(kindShareNetwork, "")
	look = look && (p.plan.shareNetwork || p.ledger.uncertain(kindShareNetwork))
	if (len(ids) == 0 && !look) || !p.cloud.HasShares() {
		return nil
	}
	if look {
		marked, err := p.markedShareNetworks(ctx, p.mark)
		if err != nil {
			return fmt.Errorf("looking for share networks of the shoot: %w", err)
		}
		ids = alsoMarked(p, ids, marked, func(s cloudopenstack.ShareNetwork) string { return s.ID })
	}
	return p.removeEach("share network", ids, func(id string) error { return p.cloud.DeleteShareNetwork(ctx, id) }, kindShareNetwork)
}
