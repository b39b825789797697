package openstack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
)

// observeUnrecorded adds upstream's unrecorded resources to the observation. The network is first: a subnet counts only in it.
func (rec *reconciliation) observeUnrecorded(ctx context.Context) error {
	if !rec.startedByUpstream {
		return nil
	}
	if rec.observed.network == nil && rec.isUnrecorded(kindNetwork, rec.plan.network.givenID) {
		found, namesakes, err := rec.networksNamed(ctx)
		if rec.observed.network, err = pick(found, namesakes, err); err != nil {
			return fmt.Errorf("looking for the network that upstream's extension made: %w", err)
		}
	}
	return contract.InParallel(
		func() error { return rec.observeUnrecordedRouter(ctx) },
		func() error { return rec.observeUnrecordedGroup(ctx) },
		func() error { return rec.observeUnrecordedSubnets(ctx) },
		func() error { return rec.observeUnrecordedShareNetwork(ctx) },
		func() error { return rec.observeUnrecordedKeyPair(ctx) },
	)
}

// pick returns the resource of the only namesake that counts.
func pick[T any](found []T, namesakes []namesake, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	one, err := uniqueNamesake(namesakes)
	if one == nil || err != nil {
		return nil, err
	}
	return &found[slices.Index(namesakes, *one)], nil
}

func (rec *reconciliation) observeUnrecordedRouter(ctx context.Context) error {
	if rec.observed.router != nil || !rec.isUnrecorded(kindRouter, rec.plan.router.givenID) {
		return nil
	}
	found, namesakes, err := rec.routersNamed(ctx)
	if rec.observed.router, err = pick(found, namesakes, err); err != nil {
		return fmt.Errorf("looking for the router that upstream's extension made: %w", err)
	}
	if rec.observed.router == nil {
		return nil
	}
	return rec.observeInterfaces(ctx, rec.observed.router.ID)
}

func (rec *reconciliation) observeUnrecordedGroup(ctx context.Context) error {
	if rec.observed.group != nil || !rec.isUnrecorded(kindSecurityGroup, rec.plan.group.givenID) {
		return nil
	}
	found, namesakes, err := rec.groupsNamed(ctx)
	if rec.observed.group, err = pick(found, namesakes, err); err != nil {
		return fmt.Errorf("looking for the security group that upstream's extension made: %w", err)
	}
	return nil
}

func (rec *reconciliation) observeUnrecordedSubnets(ctx context.Context) error {
	if rec.observed.network == nil {
		return nil
	}
	for _, wanted := range rec.subnets {
		if _, observed := rec.observed.subnets[wanted.kind]; observed || !rec.isUnrecorded(wanted.kind, wanted.givenID) {
			continue
		}
		found, namesakes, err := rec.subnetsNamed(ctx, wanted.name, rec.observed.network.ID)
		subnet, err := pick(found, namesakes, err)
		if err != nil {
			return fmt.Errorf("looking for the subnet that upstream's extension made: %w", err)
		}
		if subnet != nil {
			rec.observed.subnets[wanted.kind] = *subnet
		}
	}
	return nil
}

func (rec *reconciliation) observeUnrecordedShareNetwork(ctx context.Context) error {
	if rec.observed.shareNetwork != nil || rec.observed.network == nil || !rec.plan.shareNetwork || !rec.isUnrecorded(kindShareNetwork, "") {
		return nil
	}
	found, namesakes, err := rec.shareNetworksNamed(ctx, rec.observed.network.ID)
	if rec.observed.shareNetwork, err = pick(found, namesakes, err); err != nil {
		return fmt.Errorf("looking for the share network that upstream's extension made: %w", err)
	}
	return nil
}

// observeUnrecordedKeyPair records the key pair with upstream's name if it has the shoot's key.
func (rec *reconciliation) observeUnrecordedKeyPair(ctx context.Context) error {
	if rec.observed.keyPair != nil || rec.plan.keyPair.publicKey == "" || !rec.isUnrecorded(kindKeyPair, "") {
		return nil
	}
	found, err := rec.cloud.GetKeyPair(ctx, rec.technicalID)
	switch {
	case cloud.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading key pair %q: %w", rec.technicalID, err)
	case samePublicKey(found.PublicKey, rec.plan.keyPair.publicKey):
		rec.observed.keyPair = &found
		rec.recordResource(kindKeyPair, found.Name, own, nil)
	}
	return nil
}

// findUnrecorded adds upstream's unrecorded resources to a deletion, and records those with the name that are not certainly the shoot's. The network is
// first: subnets and share networks count only in it.
func (rec *reconciliation) findUnrecorded(ctx context.Context) error {
	if !rec.startedByUpstream {
		return nil
	}
	err := rec.adoptUnrecorded(kindNetwork, rec.plan.network.givenID, &rec.toDelete.network, func() ([]namesake, error) {
		_, namesakes, err := rec.networksNamed(ctx)
		return namesakes, err
	})
	if err != nil {
		return err
	}
	network := rec.idInUse(kindNetwork, rec.plan.network.givenID, rec.toDelete.network)
	return contract.InParallel(
		func() error {
			return rec.adoptUnrecorded(kindRouter, rec.plan.router.givenID, &rec.toDelete.router, func() ([]namesake, error) {
				_, namesakes, err := rec.routersNamed(ctx)
				return namesakes, err
			})
		},
		func() error {
			return rec.adoptUnrecorded(kindSecurityGroup, rec.plan.group.givenID, &rec.toDelete.group, func() ([]namesake, error) {
				_, namesakes, err := rec.groupsNamed(ctx)
				return namesakes, err
			})
		},
		func() error { return rec.findUnrecordedShareNetwork(ctx, network) },
		func() error { return rec.findUnrecordedSubnets(ctx, network) },
	)
}

// adoptUnrecorded records the only namesake that counts as the shoot's and adds it to the deletion. The next attempt knows it by its ID, so that another
// resource with the name is foreign then.
func (rec *reconciliation) adoptUnrecorded(k kind, givenID string, ids *[]string, find func() ([]namesake, error)) error {
	if !rec.isUnrecorded(k, givenID) || len(*ids) > 0 {
		return nil
	}
	namesakes, err := find()
	if err != nil {
		return err
	}
	one, err := uniqueNamesake(namesakes)
	if one != nil {
		rec.log.Info("Found resources that the upstream extension created but did not record", "kind", one.what, "id", one.id)
		rec.recordResource(k, one.id, own, nil)
		*ids = append(*ids, one.id)
	}
	rec.addNamesakes(slices.DeleteFunc(namesakes, func(other namesake) bool {
		return other.isMarked || (err == nil && one != nil && other.id == one.id)
	})...)
	return nil
}

// addNamesakes adds resources that a deletion has to name.
func (rec *reconciliation) addNamesakes(namesakes ...namesake) {
	rec.mutex.Lock()
	defer rec.mutex.Unlock()
	rec.toDelete.namesakes = append(rec.toDelete.namesakes, namesakes...)
}

func (rec *reconciliation) findUnrecordedShareNetwork(ctx context.Context, networkID string) error {
	if networkID == "" || !rec.plan.shareNetwork || !rec.cloud.HasShares() {
		return nil
	}
	var ids []string // recorded when found: its removal reads the state
	return rec.adoptUnrecorded(kindShareNetwork, "", &ids, func() ([]namesake, error) {
		_, namesakes, err := rec.shareNetworksNamed(ctx, networkID)
		return namesakes, err
	})
}

func (rec *reconciliation) findUnrecordedSubnets(ctx context.Context, networkID string) error {
	if networkID == "" {
		return nil
	}
	for _, wanted := range rec.subnets {
		var ids []string
		err := rec.adoptUnrecorded(wanted.kind, wanted.givenID, &ids, func() ([]namesake, error) {
			_, subnets, err := rec.subnetsNamed(ctx, wanted.name, networkID)
			return slices.DeleteFunc(subnets, func(n namesake) bool { return slices.Contains(rec.toDelete.subnets, n.id) }), err
		})
		if err != nil {
			return err
		}
		rec.toDelete.subnets = append(rec.toDelete.subnets, ids...)
		if wanted.attached {
			rec.toDelete.attached = append(rec.toDelete.attached, ids...)
		}
	}
	return nil
}

// refuseNamesakes ends a deletion that cannot know whether resources of the shoot are left.
func (rec *reconciliation) refuseNamesakes(context.Context) error {
	if len(rec.toDelete.namesakes) == 0 {
		return nil
	}
	return cloud.Errorf(cloud.Configuration, "the upstream extension has not recorded all that it made, and these have the shoot's name: %s; "+
		"delete those that were the shoot's, and rename the others (instead of a key pair, make one of another name)",
		strings.Join(namesOf(rec.toDelete.namesakes), ", "))
}
