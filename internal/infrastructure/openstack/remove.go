package openstack

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// removeKeyPair removes the recorded key pair, and the one that would be created now if it has the shoot's key: a reconciliation whose state was lost may have
// created it.
func (rec *reconciliation) removeKeyPair(ctx context.Context) error {
	names := []string{rec.effectiveKeyPairName()}
	if name := rec.plan.keyPair.name; name != names[0] {
		names = append(names, name)
	}
	if rec.isUnrecorded(kindKeyPair, "") {
		names = append(names, rec.technicalID)
	}
	var steps []func() error
	for _, name := range names {
		steps = append(steps, func() error { return rec.removeOwnedKeyPair(ctx, name) })
	}
	if err := inParallel(steps...); err != nil {
		return err
	}
	rec.updateState(func(s *state) { s.Forget(kindKeyPair, keyKeyPairDigest) })
	return nil
}

func (rec *reconciliation) removeOwnedKeyPair(ctx context.Context, name string) error {
	found, err := rec.cloud.GetKeyPair(ctx, name)
	switch {
	case cloud.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading key pair %q: %w", name, err)
	}
	facts := rec.keyPairFacts(name, &found)
	if !facts.owned() && !samePublicKey(found.PublicKey, facts.wanted) {
		if name == rec.technicalID && rec.isUnrecorded(kindKeyPair, "") { // upstream may have made it with a former key, or before SSH access was switched off
			rec.addNamesakes(namesake{what: "key pair", id: name})
			return nil
		}
		rec.log.Info("Kept a key pair whose public key is not the shoot's", "name", name)
		return nil
	}
	return rec.deleteKeyPair(ctx, name)
}

func (rec *reconciliation) removeGroup(ctx context.Context) error {
	return rec.removeEach("security group", rec.toDelete.group, func(id string) error {
		return rec.explainInUse(ctx, rec.cloud.DeleteSecurityGroup(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return rec.blockingPortsWithGroup(ctx, id)
		})
	}, kindSecurityGroup)
}

// removeRoutes removes the routes to the shoot's nodes from the router. Neutron does not disconnect a subnet with a route, and a user's router would keep the
// routes.
func (rec *reconciliation) removeRoutes(ctx context.Context) error {
	routes := rec.toDelete.routes
	if slices.Contains(rec.toDelete.router, rec.toDelete.routerID) {
		routes.own = append(routes.own, routes.given...) // the router goes with all its routes
		routes.given = nil
	}
	if rec.toDelete.routerID == "" || len(routes.own)+len(routes.given) == 0 {
		return nil
	}
	const attempts = 5
	var err error
	for range attempts {
		var router cloudopenstack.Router
		if router, err = rec.cloud.GetRouter(ctx, rec.toDelete.routerID); err != nil {
			break
		}
		kept := routes.others(router.Routes)
		if len(kept) == len(router.Routes) {
			return nil
		}
		_, err = rec.cloud.UpdateRouter(ctx, router.ID, cloudopenstack.RouterUpdate{Routes: &kept, IfRevision: router.RevisionNumber})
		if err == nil {
			rec.log.Info("Removed routes to nodes", "router", router.ID, "count", len(router.Routes)-len(kept))
			return nil
		}
		if cloud.KindOf(err) != cloud.Conflict { // somebody else's change came first: look again
			break
		}
	}
	if cloud.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("removing routes to nodes from router %s: %w", rec.toDelete.routerID, err)
}

func (rec *reconciliation) removeInterfaces(ctx context.Context) error {
	if rec.toDelete.routerID == "" {
		return nil
	}
	var failed []error
	for _, subnetID := range rec.toDelete.attached {
		err := rec.explainInUse(ctx, rec.cloud.RemoveRouterInterface(ctx, rec.toDelete.routerID, subnetID), func(ctx context.Context) ([]blocker, error) {
			return rec.interfaceUsers(ctx, rec.toDelete.routerID, subnetID)
		})
		switch {
		case err == nil:
			rec.log.Info("Removed router interface", "router", rec.toDelete.routerID, "subnet", subnetID)
		case !cloud.IsNotFound(err):
			failed = append(failed, fmt.Errorf("removing subnet %s from router %s: %w", subnetID, rec.toDelete.routerID, err))
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	rec.updateState(func(s *state) { s.Forget(kindInterface) })
	return nil
}

func (rec *reconciliation) removeRouter(ctx context.Context) error {
	return rec.removeEach("router", rec.toDelete.router, func(id string) error {
		return rec.explainInUse(ctx, rec.cloud.DeleteRouter(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return rec.blockingInterfaces(ctx, id)
		})
	}, kindRouter)
}

func (rec *reconciliation) removeSubnets(ctx context.Context) error {
	return rec.removeEach("subnet", rec.toDelete.subnets, func(id string) error {
		return rec.explainInUse(ctx, rec.cloud.DeleteSubnet(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return rec.blockingPortsIn(ctx, "subnet "+id, cloudopenstack.PortFilter{SubnetIDs: []string{id}})
		})
	}, subnetKinds()...)
}

func (rec *reconciliation) removeNetwork(ctx context.Context) error {
	return rec.removeEach("network", rec.toDelete.network, func(id string) error {
		return rec.explainInUse(ctx, rec.cloud.DeleteNetwork(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return rec.blockingPortsIn(ctx, "network "+id, cloudopenstack.PortFilter{NetworkID: id})
		})
	}, kindNetwork)
}

// removeShareNetwork removes the share network if one was wanted or recorded. A cloud without Manila has none.
func (rec *reconciliation) removeShareNetwork(ctx context.Context) error {
	ids, searchByMark := rec.candidates(kindShareNetwork, "")
	searchByMark = searchByMark && (rec.plan.shareNetwork || rec.state.MayHaveMore(kindShareNetwork))
	if (len(ids) == 0 && !searchByMark) || !rec.cloud.HasShares() {
		return nil
	}
	if searchByMark {
		marked, err := rec.markedShareNetworks(ctx, rec.mark)
		if err != nil {
			return fmt.Errorf("looking for share networks of the shoot: %w", err)
		}
		ids = alsoMarked(rec, ids, marked, func(s cloudopenstack.ShareNetwork) string { return s.ID })
	}
	return rec.removeEach("share network", ids, func(id string) error { return rec.cloud.DeleteShareNetwork(ctx, id) }, kindShareNetwork)
}
