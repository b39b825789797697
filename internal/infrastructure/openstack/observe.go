package openstack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// observation is what the cloud had at the start of a pass. Nil means: looked for and not there, or not looked for.
type observation struct {
	external     *cloudopenstack.Network
	network      *cloudopenstack.Network
	router       *cloudopenstack.Router
	subnets      map[kind]cloudopenstack.Subnet
	interfaces   []cloudopenstack.Port
	group        *cloudopenstack.SecurityGroup
	keyPair      *cloudopenstack.KeyPair
	shareNetwork *cloudopenstack.ShareNetwork
}

// observe reads everything that may exist in one wave of parallel requests: one per kind of resource as long as the
// ledger knows the IDs. Only what the ledger does not know, or what is gone, costs a second look by mark. Where nobody
// ever tried to create anything it reads only what the user gave.
func (p *pass) observe(ctx context.Context) error {
	p.seen.subnets = map[kind]cloudopenstack.Subnet{}
	routerID := p.knownID(kindRouter, p.plan.router.givenID)
	err := inParallel(
		func() error { return p.observeNetworks(ctx) },
		func() error { return p.observeRouter(ctx) },
		func() error { return p.observeSubnets(ctx) },
		func() error { return p.observeInterfaces(ctx, routerID) },
		func() error { return p.observeGroup(ctx) },
		func() error { return p.observeKeyPair(ctx) },
		func() error { return p.observeShareNetwork(ctx) },
	)
	if err != nil {
		return err
	}
	if found := p.seen.router; found != nil && found.ID != routerID {
		if err := p.observeInterfaces(ctx, found.ID); err != nil {
			return err
		}
	}
	return p.observeUnrecorded(ctx)
}

func (p *pass) knownID(k kind, givenID string) string {
	if givenID != "" {
		return givenID
	}
	return p.ledger.id(k)
}

func (p *pass) observeNetworks(ctx context.Context) error {
	externalID := p.ledger.fact(keyFloatingNetwork)
	ids := slices.DeleteFunc([]string{p.knownID(kindNetwork, p.plan.network.givenID), externalID}, func(id string) bool { return id == "" })
	var known []cloudopenstack.Network
	if len(ids) > 0 {
		var err error
		if known, err = p.cloud.ListNetworks(ctx, cloudopenstack.NetworkFilter{IDs: ids}); err != nil {
			return fmt.Errorf("reading networks: %w", err)
		}
	}
	if i := slices.IndexFunc(known, func(n cloudopenstack.Network) bool { return n.ID == externalID }); i >= 0 {
		p.seen.external = &known[i]
	}
	networks := p.networkSearch()
	networks.byID = func(context.Context, string) ([]cloudopenstack.Network, error) { return known, nil }
	network, err := networks.find(ctx, p)
	p.seen.network = network
	return err
}

// networkSearch lacks byID: networks are read together with the external one.
func (p *pass) networkSearch() search[cloudopenstack.Network] {
	return search[cloudopenstack.Network]{
		what: "network", kind: kindNetwork, givenID: p.plan.network.givenID, givenField: "networks.id",
		byMark: func(ctx context.Context, mark string) ([]cloudopenstack.Network, error) {
			return p.cloud.ListNetworks(ctx, cloudopenstack.NetworkFilter{Description: mark})
		},
		identify: func(n cloudopenstack.Network) (string, string) { return n.ID, n.Description },
	}
}

func (p *pass) observeRouter(ctx context.Context) error {
	router, err := p.routerSearch().find(ctx, p)
	p.seen.router = router
	return err
}

func (p *pass) routerSearch() search[cloudopenstack.Router] {
	return search[cloudopenstack.Router]{
		what: "router", kind: kindRouter, givenID: p.plan.router.givenID, givenField: "networks.router.id",
		byID: func(ctx context.Context, id string) ([]cloudopenstack.Router, error) {
			return p.cloud.ListRouters(ctx, cloudopenstack.RouterFilter{IDs: []string{id}})
		},
		byMark: func(ctx context.Context, mark string) ([]cloudopenstack.Router, error) {
			return p.cloud.ListRouters(ctx, cloudopenstack.RouterFilter{Description: mark})
		},
		identify: func(r cloudopenstack.Router) (string, string) { return r.ID, r.Description },
	}
}

func (p *pass) observeGroup(ctx context.Context) error {
	group, err := p.groupSearch().find(ctx, p)
	p.seen.group = group
	return err
}

func (p *pass) groupSearch() search[cloudopenstack.SecurityGroup] {
	return search[cloudopenstack.SecurityGroup]{
		what: "security group", kind: kindSecurityGroup, givenID: p.plan.group.givenID, givenField: "networks.securityGroupId",
		byID: func(ctx context.Context, id string) ([]cloudopenstack.SecurityGroup, error) {
			return p.cloud.ListSecurityGroups(ctx, cloudopenstack.SecurityGroupFilter{IDs: []string{id}})
		},
		byMark: func(ctx context.Context, mark string) ([]cloudopenstack.SecurityGroup, error) {
			return p.cloud.ListSecurityGroups(ctx, cloudopenstack.SecurityGroupFilter{Description: mark})
		},
		identify: func(g cloudopenstack.SecurityGroup) (string, string) { return g.ID, g.Description },
	}
}

// observeSubnets looks for all known IDs in one request, and for what is then missing in another one by mark. All of a
// shoot's subnets carry the same mark; their names tell them apart.
func (p *pass) observeSubnets(ctx context.Context) error {
	ids := map[string]kind{}
	for _, wanted := range p.subnets {
		if id := p.knownID(wanted.kind, wanted.givenID); id != "" {
			ids[id] = wanted.kind
		}
	}
	if len(ids) > 0 {
		found, err := p.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{IDs: slices.Sorted(maps.Keys(ids))})
		if err != nil {
			return fmt.Errorf("reading subnets: %w", err)
		}
		for _, subnet := range found {
			if err := refuseForeignMark("subnet "+subnet.ID, subnet.Description, p.uid); err != nil && !p.isGiven(subnet.ID) {
				return err
			}
			p.seen.subnets[ids[subnet.ID]] = subnet
		}
	}
	return p.observeMarkedSubnets(ctx)
}

func (p *pass) observeMarkedSubnets(ctx context.Context) error {
	var searched []subnetWant
	for _, wanted := range p.subnets {
		_, found := p.seen.subnets[wanted.kind]
		if !found && wanted.givenID != "" {
			return cloud.Errorf(cloud.Configuration, "networks.subnetId: there is no subnet %s, or this project cannot see it", wanted.givenID)
		}
		if !found || p.ledger.doubted(wanted.kind) {
			searched = append(searched, wanted)
		}
	}
	if len(searched) == 0 || p.untouched {
		return nil
	}
	marked, err := p.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{Description: p.mark})
	if err != nil {
		return fmt.Errorf("looking for subnets of the shoot: %w", err)
	}
	slices.SortFunc(marked, func(a, b cloudopenstack.Subnet) int { return strings.Compare(a.ID, b.ID) })
	for _, wanted := range searched {
		var ids []string
		for _, subnet := range marked {
			if subnet.Name != wanted.name {
				continue
			}
			ids = append(ids, subnet.ID)
			if _, found := p.seen.subnets[wanted.kind]; !found {
				p.seen.subnets[wanted.kind] = subnet
			}
		}
		p.settleDoubt(wanted.kind, "subnet", ids, p.seen.subnets[wanted.kind].ID)
	}
	return nil
}

func (p *pass) observeInterfaces(ctx context.Context, routerID string) error {
	if routerID == "" {
		return nil
	}
	ports, err := p.cloud.ListPorts(ctx, cloudopenstack.PortFilter{DeviceID: routerID})
	if err != nil {
		return fmt.Errorf("reading the ports of router %s: %w", routerID, err)
	}
	p.seen.interfaces = slices.DeleteFunc(ports, func(port cloudopenstack.Port) bool { return !isRouterInterface(port) })
	return nil
}

// isRouterInterface tells interfaces in subnets from the gateway and from what high availability needs.
func isRouterInterface(port cloudopenstack.Port) bool {
	switch port.DeviceOwner {
	case "network:router_interface", "network:router_interface_distributed", "network:ha_router_replicated_interface":
		return true
	default:
		return false
	}
}

func (p *pass) observeKeyPair(ctx context.Context) error {
	needless := p.plan.keyPair.publicKey == "" && p.ledger.id(kindKeyPair) == "" && p.ledger.intent(kindKeyPair) == ""
	if needless || p.untouched {
		return nil
	}
	name := p.effectiveKeyPairName()
	found, err := p.cloud.GetKeyPair(ctx, name)
	switch {
	case cloud.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading key pair %q: %w", name, err)
	}
	p.seen.keyPair = &found
	return nil
}

// search finds the one resource of a kind.
type search[T any] struct {
	what                string
	kind                kind
	givenID, givenField string
	byID, byMark        func(context.Context, string) ([]T, error)
	identify            func(T) (id, description string)
}

// find returns what the user gave, or else what is recorded, or else what carries the shoot's mark. It returns nil when
// there is nothing of that, and an error when the user gave something that is not there.
func (s search[T]) find(ctx context.Context, p *pass) (*T, error) {
	id := p.knownID(s.kind, s.givenID)
	if id != "" {
		found, err := s.recorded(ctx, p, id)
		if err != nil || (found != nil && !p.ledger.doubted(s.kind)) {
			return found, err
		}
		if found != nil {
			_, err := s.marked(ctx, p, id)
			return found, err
		}
		if s.givenID != "" {
			return nil, cloud.Errorf(cloud.Configuration, "%s: there is no %s %s, or this project cannot see it", s.givenField, s.what, s.givenID)
		}
		p.log.Info("A recorded resource no longer exists", "kind", s.what, "id", id)
	}
	if p.untouched {
		return nil, nil
	}
	return s.marked(ctx, p, "")
}

// marked returns the marked resource that is in use or, where none is, the first one. Should there be several, it is the
// same one every time.
func (s search[T]) marked(ctx context.Context, p *pass, usedID string) (*T, error) {
	found, err := s.byMark(ctx, p.mark)
	if err != nil {
		return nil, fmt.Errorf("looking for a %s of the shoot: %w", s.what, err)
	}
	slices.SortFunc(found, func(a, b T) int { return strings.Compare(s.id(a), s.id(b)) })
	var ids []string
	for _, one := range found {
		ids = append(ids, s.id(one))
	}
	if usedID == "" && len(ids) > 0 {
		usedID = ids[0]
	}
	p.settleDoubt(s.kind, s.what, ids, usedID)
	if i := slices.Index(ids, usedID); i >= 0 {
		return &found[i], nil
	}
	return nil, nil
}

// doomed returns the IDs of what a deletion has to remove: what is recorded as the shoot's own and, where the ledger cannot
// answer for all, what carries its mark.
func (s search[T]) doomed(ctx context.Context, p *pass) ([]string, error) {
	ids, look := p.candidates(s.kind, s.givenID)
	if !look {
		return ids, nil
	}
	marked, err := s.byMark(ctx, p.mark)
	if err != nil {
		return ids, fmt.Errorf("looking for %ss of the shoot: %w", s.what, err)
	}
	return alsoMarked(p, ids, marked, s.id), nil
}

func (s search[T]) id(one T) string {
	id, _ := s.identify(one)
	return id
}

func (s search[T]) recorded(ctx context.Context, p *pass, id string) (*T, error) {
	found, err := s.byID(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", s.what, id, err)
	}
	for i := range found {
		foundID, description := s.identify(found[i])
		if foundID != id {
			continue
		}
		if s.givenID == "" {
			if err := refuseForeignMark(s.what+" "+id, description, p.uid); err != nil {
				return nil, err
			}
		}
		return &found[i], nil
	}
	return nil, nil
}
