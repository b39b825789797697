package openstack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// observeUnrecorded adds to what was seen what upstream made and did not record. The network comes first: a subnet counts only in it.
func (p *pass) observeUnrecorded(ctx context.Context) error {
	if !p.begunByUpstream {
		return nil
	}
	if p.seen.network == nil && p.lacks(kindNetwork, p.plan.network.givenID) {
		found, namesakes, err := p.networksNamed(ctx)
		if p.seen.network, err = pick(found, namesakes, err); err != nil {
			return fmt.Errorf("looking for the network that upstream's extension made: %w", err)
		}
	}
	return inParallel(
		func() error { return p.observeUnrecordedRouter(ctx) },
		func() error { return p.observeUnrecordedGroup(ctx) },
		func() error { return p.observeUnrecordedSubnets(ctx) },
		func() error { return p.observeUnrecordedShareNetwork(ctx) },
		func() error { return p.observeUnrecordedKeyPair(ctx) },
	)
}

// pick returns the resource of the one namesake that counts.
func pick[T any](found []T, namesakes []namesake, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	one, err := theOne(namesakes)
	if one == nil || err != nil {
		return nil, err
	}
	return &found[slices.Index(namesakes, *one)], nil
}

func (p *pass) observeUnrecordedRouter(ctx context.Context) error {
	if p.seen.router != nil || !p.lacks(kindRouter, p.plan.router.givenID) {
		return nil
	}
	found, namesakes, err := p.routersNamed(ctx)
	if p.seen.router, err = pick(found, namesakes, err); err != nil {
		return fmt.Errorf("looking for the router that upstream's extension made: %w", err)
	}
	if p.seen.router == nil {
		return nil
	}
	return p.observeInterfaces(ctx, p.seen.router.ID)
}

func (p *pass) observeUnrecordedGroup(ctx context.Context) error {
	if p.seen.group != nil || !p.lacks(kindSecurityGroup, p.plan.group.givenID) {
		return nil
	}
	found, namesakes, err := p.groupsNamed(ctx)
	if p.seen.group, err = pick(found, namesakes, err); err != nil {
		return fmt.Errorf("looking for the security group that upstream's extension made: %w", err)
	}
	return nil
}

func (p *pass) observeUnrecordedSubnets(ctx context.Context) error {
	if p.seen.network == nil {
		return nil
	}
	for _, wanted := range p.subnets {
		if _, seen := p.seen.subnets[wanted.kind]; seen || !p.lacks(wanted.kind, wanted.givenID) {
			continue
		}
		found, namesakes, err := p.subnetsNamed(ctx, wanted.name, p.seen.network.ID)
		subnet, err := pick(found, namesakes, err)
		if err != nil {
			return fmt.Errorf("looking for the subnet that upstream's extension made: %w", err)
		}
		if subnet != nil {
			p.seen.subnets[wanted.kind] = *subnet
		}
	}
	return nil
}

func (p *pass) observeUnrecordedShareNetwork(ctx context.Context) error {
	if p.seen.shareNetwork != nil || p.seen.network == nil || !p.plan.shareNetwork || !p.lacks(kindShareNetwork, "") {
		return nil
	}
	found, namesakes, err := p.shareNetworksNamed(ctx, p.seen.network.ID)
	if p.seen.shareNetwork, err = pick(found, namesakes, err); err != nil {
		return fmt.Errorf("looking for the share network that upstream's extension made: %w", err)
	}
	return nil
}

// observeUnrecordedKeyPair records the key pair of upstream's name if it holds the shoot's key.
func (p *pass) observeUnrecordedKeyPair(ctx context.Context) error {
	if p.seen.keyPair != nil || p.plan.keyPair.publicKey == "" || !p.lacks(kindKeyPair, "") {
		return nil
	}
	found, err := p.cloud.GetKeyPair(ctx, p.technicalID)
	switch {
	case cloud.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading key pair %q: %w", p.technicalID, err)
	case samePublicKey(found.PublicKey, p.plan.keyPair.publicKey):
		p.seen.keyPair = &found
		p.hold(kindKeyPair, found.Name, own, nil)
	}
	return nil
}

// findUnrecorded adds to what a deletion removes what upstream made and did not record, and remembers what has the name and is not certain to be the
// shoot's. The network comes first: subnets and share networks count only in it.
func (p *pass) findUnrecorded(ctx context.Context) error {
	if !p.begunByUpstream {
		return nil
	}
	err := p.takeUnrecorded(kindNetwork, p.plan.network.givenID, &p.doomed.network, func() ([]namesake, error) {
		_, namesakes, err := p.networksNamed(ctx)
		return namesakes, err
	})
	if err != nil {
		return err
	}
	network := p.idInUse(kindNetwork, p.plan.network.givenID, p.doomed.network)
	return inParallel(
		func() error {
			return p.takeUnrecorded(kindRouter, p.plan.router.givenID, &p.doomed.router, func() ([]namesake, error) {
				_, namesakes, err := p.routersNamed(ctx)
				return namesakes, err
			})
		},
		func() error {
			return p.takeUnrecorded(kindSecurityGroup, p.plan.group.givenID, &p.doomed.group, func() ([]namesake, error) {
				_, namesakes, err := p.groupsNamed(ctx)
				return namesakes, err
			})
		},
		func() error { return p.findUnrecordedShareNetwork(ctx, network) },
		func() error { return p.findUnrecordedSubnets(ctx, network) },
	)
}

// takeUnrecorded records the one namesake that counts as the shoot's and adds it to what is removed. What is recorded is known in the next attempt, and
// what has the name then is somebody else's.
func (p *pass) takeUnrecorded(k kind, givenID string, ids *[]string, look func() ([]namesake, error)) error {
	if !p.lacks(k, givenID) || len(*ids) > 0 {
		return nil
	}
	namesakes, err := look()
	if err != nil {
		return err
	}
	one, err := theOne(namesakes)
	if one != nil {
		p.log.Info("Found resources that the upstream extension created but did not record", "kind", one.what, "id", one.id)
		p.hold(k, one.id, own, nil)
		*ids = append(*ids, one.id)
	}
	p.addNamesakes(slices.DeleteFunc(namesakes, func(other namesake) bool {
		return other.isMarked || (err == nil && one != nil && other.id == one.id)
	})...)
	return nil
}

// addNamesakes remembers what a deletion has to name.
func (p *pass) addNamesakes(namesakes ...namesake) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.doomed.namesakes = append(p.doomed.namesakes, namesakes...)
}

func (p *pass) findUnrecordedShareNetwork(ctx context.Context, networkID string) error {
	if networkID == "" || !p.plan.shareNetwork || !p.cloud.HasShares() {
		return nil
	}
	var ids []string // recorded when found: its removal asks the ledger
	return p.takeUnrecorded(kindShareNetwork, "", &ids, func() ([]namesake, error) {
		_, namesakes, err := p.shareNetworksNamed(ctx, networkID)
		return namesakes, err
	})
}

func (p *pass) findUnrecordedSubnets(ctx context.Context, networkID string) error {
	if networkID == "" {
		return nil
	}
	for _, wanted := range p.subnets {
		var ids []string
		err := p.takeUnrecorded(wanted.kind, wanted.givenID, &ids, func() ([]namesake, error) {
			_, subnets, err := p.subnetsNamed(ctx, wanted.name, networkID)
			return slices.DeleteFunc(subnets, func(n namesake) bool { return slices.Contains(p.doomed.subnets, n.id) }), err
		})
		if err != nil {
			return err
		}
		p.doomed.subnets = append(p.doomed.subnets, ids...)
		if wanted.attached {
			p.doomed.attached = append(p.doomed.attached, ids...)
		}
	}
	return nil
}

// refuseNamesakes ends a deletion that cannot tell whether something of the shoot is left.
func (p *pass) refuseNamesakes(context.Context) error {
	if len(p.doomed.namesakes) == 0 {
		return nil
	}
	return cloud.Errorf(cloud.Configuration, "the upstream extension has not recorded all that it made, and these have the shoot's name: %s; "+
		"delete those that were the shoot's, and rename the others (instead of a key pair, make one of another name)",
		strings.Join(namesOf(p.doomed.namesakes), ", "))
}
