package openstack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract"
)

// observation has the existing resources at the start of a reconciliation. Nil means not found, or not looked for.
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

// observe reads all resources that may exist in one wave of parallel requests: one per kind if the recorded state has the IDs. Only unrecorded or missing
// ones need a second request by mark. If no creation was ever attempted, only given resources are read.
func (rec *reconciliation) observe(ctx context.Context) error {
	rec.observed.subnets = map[kind]cloudopenstack.Subnet{}
	routerID := rec.knownID(kindRouter, rec.plan.router.givenID)
	err := contract.InParallel(
		func() error { return rec.observeNetworks(ctx) },
		func() error { return rec.observeRouter(ctx) },
		func() error { return rec.observeSubnets(ctx) },
		func() error { return rec.observeInterfaces(ctx, routerID) },
		func() error { return rec.observeGroup(ctx) },
		func() error { return rec.observeKeyPair(ctx) },
		func() error { return rec.observeShareNetwork(ctx) },
	)
	if err != nil {
		return err
	}
	if found := rec.observed.router; found != nil && found.ID != routerID {
		if err := rec.observeInterfaces(ctx, found.ID); err != nil {
			return err
		}
	}
	return rec.observeUnrecorded(ctx)
}

func (rec *reconciliation) observeNetworks(ctx context.Context) error {
	externalID := rec.state.Fact(keyFloatingNetwork)
	ids := slices.DeleteFunc([]string{rec.knownID(kindNetwork, rec.plan.network.givenID), externalID}, func(id string) bool { return id == "" })
	var known []cloudopenstack.Network
	if len(ids) > 0 {
		var err error
		if known, err = rec.cloud.ListNetworks(ctx, cloudopenstack.NetworkFilter{IDs: ids}); err != nil {
			return fmt.Errorf("reading networks: %w", err)
		}
	}
	if i := slices.IndexFunc(known, func(n cloudopenstack.Network) bool { return n.ID == externalID }); i >= 0 {
		rec.observed.external = &known[i]
	}
	networks := rec.networkSearch()
	networks.byID = func(context.Context, string) ([]cloudopenstack.Network, error) { return known, nil }
	network, err := networks.find(ctx, rec)
	rec.observed.network = network
	return err
}

// networkSearch has no byID: networks are read together with the external one.
func (rec *reconciliation) networkSearch() search[cloudopenstack.Network] {
	return search[cloudopenstack.Network]{
		what: "network", kind: kindNetwork, givenID: rec.plan.network.givenID, givenField: "networks.id",
		byMark: func(ctx context.Context, mark string) ([]cloudopenstack.Network, error) {
			return rec.cloud.ListNetworks(ctx, cloudopenstack.NetworkFilter{Description: mark})
		},
		identify: func(n cloudopenstack.Network) (string, string) { return n.ID, n.Description },
	}
}

func (rec *reconciliation) observeRouter(ctx context.Context) error {
	router, err := rec.routerSearch().find(ctx, rec)
	rec.observed.router = router
	return err
}

func (rec *reconciliation) routerSearch() search[cloudopenstack.Router] {
	return search[cloudopenstack.Router]{
		what: "router", kind: kindRouter, givenID: rec.plan.router.givenID, givenField: "networks.router.id",
		byID: func(ctx context.Context, id string) ([]cloudopenstack.Router, error) {
			return rec.cloud.ListRouters(ctx, cloudopenstack.RouterFilter{IDs: []string{id}})
		},
		byMark: func(ctx context.Context, mark string) ([]cloudopenstack.Router, error) {
			return rec.cloud.ListRouters(ctx, cloudopenstack.RouterFilter{Description: mark})
		},
		identify: func(r cloudopenstack.Router) (string, string) { return r.ID, r.Description },
	}
}

func (rec *reconciliation) observeGroup(ctx context.Context) error {
	group, err := rec.groupSearch().find(ctx, rec)
	rec.observed.group = group
	return err
}

func (rec *reconciliation) groupSearch() search[cloudopenstack.SecurityGroup] {
	return search[cloudopenstack.SecurityGroup]{
		what: "security group", kind: kindSecurityGroup, givenID: rec.plan.group.givenID, givenField: "networks.securityGroupId",
		byID: func(ctx context.Context, id string) ([]cloudopenstack.SecurityGroup, error) {
			return rec.cloud.ListSecurityGroups(ctx, cloudopenstack.SecurityGroupFilter{IDs: []string{id}})
		},
		byMark: func(ctx context.Context, mark string) ([]cloudopenstack.SecurityGroup, error) {
			return rec.cloud.ListSecurityGroups(ctx, cloudopenstack.SecurityGroupFilter{Description: mark})
		},
		identify: func(g cloudopenstack.SecurityGroup) (string, string) { return g.ID, g.Description },
	}
}

// observeSubnets reads all known IDs in one request, and the missing ones in another one by mark. All subnets of a shoot have the same mark; their names
// distinguish them.
func (rec *reconciliation) observeSubnets(ctx context.Context) error {
	ids := map[string]kind{}
	for _, wanted := range rec.subnets {
		if id := rec.knownID(wanted.kind, wanted.givenID); id != "" {
			ids[id] = wanted.kind
		}
	}
	if len(ids) > 0 {
		found, err := rec.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{IDs: slices.Sorted(maps.Keys(ids))})
		if err != nil {
			return fmt.Errorf("reading subnets: %w", err)
		}
		for _, subnet := range found {
			if err := checkMark("subnet "+subnet.ID, subnet.Description, rec.uid); err != nil && !rec.isGiven(subnet.ID) {
				return err
			}
			rec.observed.subnets[ids[subnet.ID]] = subnet
		}
	}
	return rec.observeMarkedSubnets(ctx)
}

func (rec *reconciliation) observeMarkedSubnets(ctx context.Context) error {
	var searched []subnetSpec
	for _, wanted := range rec.subnets {
		_, found := rec.observed.subnets[wanted.kind]
		if !found && wanted.givenID != "" {
			return cloud.Errorf(cloud.Configuration, "networks.subnetId: there is no subnet %s, or this project cannot see it", wanted.givenID)
		}
		if !found || rec.state.IsUncertain(wanted.kind) {
			searched = append(searched, wanted)
		}
	}
	if len(searched) == 0 || rec.nothingExists {
		return nil
	}
	marked, err := rec.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{Description: rec.mark})
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
			if _, found := rec.observed.subnets[wanted.kind]; !found {
				rec.observed.subnets[wanted.kind] = subnet
			}
		}
		rec.resolveUncertainCreate(wanted.kind, "subnet", ids, rec.observed.subnets[wanted.kind].ID)
	}
	return nil
}

func (rec *reconciliation) observeInterfaces(ctx context.Context, routerID string) error {
	if routerID == "" {
		return nil
	}
	ports, err := rec.cloud.ListPorts(ctx, cloudopenstack.PortFilter{DeviceID: routerID})
	if err != nil {
		return fmt.Errorf("reading the ports of router %s: %w", routerID, err)
	}
	rec.observed.interfaces = slices.DeleteFunc(ports, func(port cloudopenstack.Port) bool { return !isRouterInterface(port) })
	return nil
}

// isRouterInterface distinguishes interfaces in subnets from the gateway and from ports for high availability.
func isRouterInterface(port cloudopenstack.Port) bool {
	switch port.DeviceOwner {
	case "network:router_interface", "network:router_interface_distributed", "network:ha_router_replicated_interface":
		return true
	default:
		return false
	}
}

func (rec *reconciliation) observeKeyPair(ctx context.Context) error {
	needless := rec.plan.keyPair.publicKey == "" && rec.state.ID(kindKeyPair) == "" && rec.state.Intent(kindKeyPair) == ""
	if needless || rec.nothingExists {
		return nil
	}
	name := rec.effectiveKeyPairName()
	found, err := rec.cloud.GetKeyPair(ctx, name)
	switch {
	case cloud.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading key pair %q: %w", name, err)
	}
	rec.observed.keyPair = &found
	return nil
}

// search finds the resource of a kind.
type search[T any] struct {
	what                string
	kind                kind
	givenID, givenField string
	byID, byMark        func(context.Context, string) ([]T, error)
	identify            func(T) (id, description string)
}

// find returns the given resource, or else the recorded one, or else the one with the shoot's mark. It returns nil if there is none, and an error if the given
// resource does not exist.
func (s search[T]) find(ctx context.Context, rec *reconciliation) (*T, error) {
	id := rec.knownID(s.kind, s.givenID)
	if id != "" {
		found, err := s.recorded(ctx, rec, id)
		if err != nil || (found != nil && !rec.state.IsUncertain(s.kind)) {
			return found, err
		}
		if found != nil {
			_, err := s.marked(ctx, rec, id)
			return found, err
		}
		if s.givenID != "" {
			return nil, cloud.Errorf(cloud.Configuration, "%s: there is no %s %s, or this project cannot see it", s.givenField, s.what, s.givenID)
		}
		rec.log.Info("A recorded resource no longer exists", "kind", s.what, "id", id)
	}
	if rec.nothingExists {
		return nil, nil
	}
	return s.marked(ctx, rec, "")
}

// marked returns the marked resource that is in use or else the first one, in a stable order.
func (s search[T]) marked(ctx context.Context, rec *reconciliation, usedID string) (*T, error) {
	found, err := s.byMark(ctx, rec.mark)
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
	rec.resolveUncertainCreate(s.kind, s.what, ids, usedID)
	if i := slices.Index(ids, usedID); i >= 0 {
		return &found[i], nil
	}
	return nil, nil
}

// findToDelete returns the IDs of the resources to delete: those recorded as the shoot's own and, where the state is insufficient, those with its mark.
func (s search[T]) findToDelete(ctx context.Context, rec *reconciliation) ([]string, error) {
	ids, searchByMark := rec.candidates(s.kind, s.givenID)
	if !searchByMark {
		return ids, nil
	}
	marked, err := s.byMark(ctx, rec.mark)
	if err != nil {
		return ids, fmt.Errorf("looking for %ss of the shoot: %w", s.what, err)
	}
	return alsoMarked(rec, ids, marked, s.id), nil
}

func (s search[T]) id(one T) string {
	id, _ := s.identify(one)
	return id
}

func (s search[T]) recorded(ctx context.Context, rec *reconciliation, id string) (*T, error) {
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
			if err := checkMark(s.what+" "+id, description, rec.uid); err != nil {
				return nil, err
			}
		}
		return &found[i], nil
	}
	return nil, nil
}
