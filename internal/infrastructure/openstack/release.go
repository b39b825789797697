package openstack

import (
	"context"
	"slices"
)

// replacedKinds returns the kinds whose recorded resource differs from the present configuration: a given one that it does not name any more, or an own one
// that is replaced by a given one. A user may correct that until a reconciliation has succeeded.
func (rec *reconciliation) replacedKinds() []kind {
	if rec.succeededBefore {
		return nil
	}
	nodes, _ := rec.subnet(kindSubnet)
	named := map[kind]string{
		kindNetwork: rec.plan.network.givenID, kindRouter: rec.plan.router.givenID,
		kindSecurityGroup: rec.plan.group.givenID, kindSubnet: nodes.givenID,
	}
	var kinds []kind
	for k, givenID := range named {
		id, owner := rec.state.ID(k), rec.state.Owner(k)
		if id != "" && id != givenID && (owner == given || (owner == own && givenID != "")) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// release removes the shoot's resources from replaced resources, deletes own ones, and removes them from the state: their replacements are observed again.
func (rec *reconciliation) release(ctx context.Context) error {
	kinds := rec.replacedKinds()
	if len(kinds) == 0 {
		return nil
	}
	if err := rec.clearSubnets(ctx, kinds); err != nil {
		return err
	}
	if err := rec.removeReplaced(ctx, kinds); err != nil {
		return err
	}
	rec.toDelete = toDelete{}
	rec.updateState(func(s *state) {
		for _, k := range kinds {
			if id := s.ID(k); id != "" {
				rec.log.Info("Released a resource that the configuration no longer names", "kind", k, "id", id)
				s.Forget(k, factsOf(k)...)
			}
		}
	})
	return nil
}

// clearSubnets removes interfaces from a replaced router, network or subnet, and own subnets from a replaced network.
func (rec *reconciliation) clearSubnets(ctx context.Context, kinds []kind) error {
	if len(kinds) == 1 && kinds[0] == kindSecurityGroup {
		return nil // nothing is in it yet
	}
	rec.toDelete.routerID = rec.state.ID(kindRouter)
	if err := rec.findSubnetsToDelete(ctx); err != nil {
		return err
	}
	if err := rec.removeInterfaces(ctx); err != nil {
		return err
	}
	if !slices.Contains(kinds, kindNetwork) && !slices.Contains(kinds, kindSubnet) {
		return nil
	}
	if err := rec.removeShareNetwork(ctx); err != nil {
		return err
	}
	return rec.removeSubnets(ctx)
}

// removeReplaced deletes the shoot's own replaced resource.
func (rec *reconciliation) removeReplaced(ctx context.Context, kinds []kind) error {
	for _, own := range []struct {
		kind     kind
		toDelete *[]string
		remove   func(context.Context) error
	}{
		{kindRouter, &rec.toDelete.router, rec.removeRouter},
		{kindNetwork, &rec.toDelete.network, rec.removeNetwork},
		{kindSecurityGroup, &rec.toDelete.group, rec.removeGroup},
	} {
		if !slices.Contains(kinds, own.kind) || !rec.owns(own.kind, "") {
			continue
		}
		*own.toDelete = []string{rec.state.ID(own.kind)}
		if err := own.remove(ctx); err != nil {
			return err
		}
	}
	return nil
}
