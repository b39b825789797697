package openstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract"
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
	if err := contract.InParallel(steps...); err != nil {
		return err
	}
	rec.updateState(func(s *state) { s.Forget(kindKeyPair, keyKeyPairDigest) })
	return nil
}

// removeOwnedKeyPair removes the key pair of a name if it is the shoot's. It does not read one that the state proves to be.
func (rec *reconciliation) removeOwnedKeyPair(ctx context.Context, name string) error {
	if rec.keyPairIsProven(name) {
		return rec.deleteKeyPair(ctx, name)
	}
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

// keyPairIsProven reports whether the key pair of a name was created with a single known key, is recorded as the shoot's own, and has a name with the
// shoot's UID, which nobody else has a reason to use. The names of the upstream extension lack the UID.
func (rec *reconciliation) keyPairIsProven(name string) bool {
	return name == rec.plan.keyPair.name && rec.state.ID(kindKeyPair) == name && rec.state.Owner(kindKeyPair) == own &&
		!rec.state.MayHaveMore(kindKeyPair) && len(parseKeyRecord(rec.state.Fact(keyKeyPairDigest)).of(name)) == 1
}

func (rec *reconciliation) removeGroup(ctx context.Context) error {
	return rec.removeEach("security group", rec.toDelete.group, func(id string) error {
		return rec.explainInUse(ctx, rec.cloud.DeleteSecurityGroup(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return rec.blockingPortsWithGroup(ctx, id)
		})
	}, kindSecurityGroup)
}

// removeRoutesOfGivenRouter removes the routes to the shoot's nodes from a router that stays. The shoot's own router is deleted with its routes, unless they
// keep it from being disconnected (disconnect).
func (rec *reconciliation) removeRoutesOfGivenRouter(ctx context.Context) error {
	if rec.routerIsOwn() {
		return nil
	}
	_, err := rec.removeRoutes(ctx, rec.toDelete.routes)
	return err
}

func (rec *reconciliation) routerIsOwn() bool {
	return slices.Contains(rec.toDelete.router, rec.toDelete.routerID)
}

// removeRoutes removes the routes to the shoot's nodes from the router, and reports whether there were any.
func (rec *reconciliation) removeRoutes(ctx context.Context, routes nodeRoutes) (bool, error) {
	if rec.toDelete.routerID == "" || len(routes.own)+len(routes.given) == 0 {
		return false, nil
	}
	const attempts = 5
	var err error
	found := false
	for range attempts {
		var router cloudopenstack.Router
		if router, err = rec.cloud.GetRouter(ctx, rec.toDelete.routerID); err != nil {
			break
		}
		kept := routes.others(router.Routes)
		if len(kept) == len(router.Routes) {
			return found, nil
		}
		found = true
		_, err = rec.cloud.UpdateRouter(ctx, router.ID, cloudopenstack.RouterUpdate{Routes: &kept, IfRevision: router.RevisionNumber})
		if err == nil {
			rec.log.Info("Removed routes to nodes", "router", router.ID, "count", len(router.Routes)-len(kept))
			return true, nil
		}
		if cloud.KindOf(err) != cloud.Conflict { // somebody else's change came first: look again
			break
		}
	}
	if cloud.IsNotFound(err) {
		return found, nil
	}
	return found, fmt.Errorf("removing routes to nodes from router %s: %w", rec.toDelete.routerID, err)
}

func (rec *reconciliation) removeInterfaces(ctx context.Context) error {
	if rec.toDelete.routerID == "" {
		return nil
	}
	var failed []error
	for _, subnetID := range rec.toDelete.attached {
		err := rec.explainInUse(ctx, rec.disconnect(ctx, subnetID), func(ctx context.Context) ([]blocker, error) {
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

// disconnect removes the router's interface in a subnet. Neutron does not remove one that a route needs: then the shoot's own router loses its routes to
// nodes first, which a cloud-controller-manager has left.
func (rec *reconciliation) disconnect(ctx context.Context, subnetID string) error {
	err := rec.cloud.RemoveRouterInterface(ctx, rec.toDelete.routerID, subnetID)
	if cloud.KindOf(err) != cloud.InUse || !rec.routerIsOwn() {
		return err
	}
	routes := rec.toDelete.routes
	routes.own, routes.given = slices.Concat(routes.own, routes.given), nil // all that lead to nodes, whoever owns the subnet
	found, removeErr := rec.removeRoutes(ctx, routes)
	if removeErr != nil {
		return removeErr
	}
	if !found {
		return err
	}
	return rec.cloud.RemoveRouterInterface(ctx, rec.toDelete.routerID, subnetID)
}

func (rec *reconciliation) removeRouter(ctx context.Context) error {
	return rec.removeEach("router", rec.toDelete.router, func(id string) error {
		return rec.explainInUse(ctx, rec.cloud.DeleteRouter(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return rec.blockingInterfaces(ctx, id)
		})
	}, kindRouter)
}

// removeSubnets deletes the subnets in networks that stay.
func (rec *reconciliation) removeSubnets(ctx context.Context) error {
	ids := slices.DeleteFunc(slices.Clone(rec.toDelete.subnets), rec.deletedWithNetwork)
	kinds := subnetKinds()
	if len(rec.toDelete.network) > 0 {
		kinds = nil // some may remain until the network is deleted
	}
	return rec.removeEach("subnet", ids, func(id string) error {
		return rec.explainInUse(ctx, rec.cloud.DeleteSubnet(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return rec.blockingPortsIn(ctx, "subnet "+id, cloudopenstack.PortFilter{SubnetIDs: []string{id}})
		})
	}, kinds...)
}

// deletedWithNetwork reports whether a subnet is in a network that is deleted, by which Neutron deletes it.
func (rec *reconciliation) deletedWithNetwork(subnetID string) bool {
	network := cmp.Or(rec.toDelete.networkOf[subnetID], rec.toDelete.networkID)
	return slices.Contains(rec.toDelete.network, network)
}

// removeNetwork deletes the network with its subnets.
func (rec *reconciliation) removeNetwork(ctx context.Context) error {
	kinds := []kind{kindNetwork}
	if len(rec.toDelete.network) > 0 {
		kinds = append(kinds, subnetKinds()...)
	}
	return rec.removeEach("network", rec.toDelete.network, func(id string) error {
		return rec.explainInUse(ctx, rec.cloud.DeleteNetwork(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return rec.blockingPortsIn(ctx, "network "+id, cloudopenstack.PortFilter{NetworkID: id})
		})
	}, kinds...)
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
