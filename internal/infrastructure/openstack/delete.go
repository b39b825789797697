package openstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract"
)

// toDelete contains the IDs of the resources to delete, and what the deletion depends on.
type toDelete struct {
	network  []string
	router   []string
	group    []string
	subnets  []string
	attached []string // subnets whose router interface is the shoot's
	// networkOf are the networks of the subnets that were read. The others are in the network in use.
	networkOf map[string]string
	routes    nodeRoutes
	// namesakes have the shoot's name, but no mark that proves that they are the shoot's.
	namesakes []namesake
	// networkID and routerID are those in use, given or own; empty if there was none.
	networkID, routerID string
}

// deleteGraph deletes the load balancers first, on which everything else depends; then interfaces, subnets and network, each when it must be empty. It
// does not read resources with a known ID: it deletes them, or they do not exist any more. Neutron deletes the subnets of a network with it; only those
// in a given network are deleted one by one.
func (rec *reconciliation) deleteGraph() *contract.Graph {
	g := contract.NewGraph("deleting infrastructure")
	add := func(name string, do func(context.Context) error, after ...contract.TaskID) contract.TaskID {
		return g.Add(contract.Task{Name: name, Do: do, After: after})
	}
	keyPair := add("deleting key pair", rec.removeKeyPair)
	found := add("finding what is left", rec.findToDelete)
	add("deleting security group", rec.removeGroup, found)
	balancers := add("deleting load balancers", rec.removeLoadBalancers, found)
	routes := add("removing routes to nodes", rec.removeRoutesOfGivenRouter, found)
	share := add("deleting share network", rec.removeShareNetwork, found)
	interfaces := add("removing router interfaces", rec.removeInterfaces, balancers, routes)
	add("deleting router", rec.removeRouter, interfaces)
	subnets := add("deleting subnets", rec.removeSubnets, interfaces, share)
	add("deleting network", rec.removeNetwork, subnets)
	// It depends only on the tasks that find namesakes. If a namesake makes a deletion fail, it must be reported nevertheless.
	g.Add(contract.Task{
		Name: "looking for resources with the shoot's name", Do: rec.refuseNamesakes, SkipIf: !rec.startedByUpstream,
		After: []contract.TaskID{keyPair, found},
	})
	return g
}

// findToDelete determines the shoot's own resources. It calls the cloud only if the recorded state is not sufficient: no ID is recorded, or the result of a
// creation is unknown.
func (rec *reconciliation) findToDelete(ctx context.Context) error {
	rec.toDelete.routes = rec.recordedNodeRoutes()
	err := contract.InParallel(
		func() (err error) { rec.toDelete.network, err = rec.networkSearch().findToDelete(ctx, rec); return err },
		func() (err error) { rec.toDelete.router, err = rec.routerSearch().findToDelete(ctx, rec); return err },
		func() (err error) { rec.toDelete.group, err = rec.groupSearch().findToDelete(ctx, rec); return err },
		func() error { return rec.findSubnetsToDelete(ctx) },
	)
	if err == nil {
		err = rec.findUnrecorded(ctx)
	}
	rec.toDelete.networkID = rec.idInUse(kindNetwork, rec.plan.network.givenID, rec.toDelete.network)
	rec.toDelete.routerID = rec.idInUse(kindRouter, rec.plan.router.givenID, rec.toDelete.router)
	return err
}

// idInUse is empty if there was no resource of the kind.
func (rec *reconciliation) idInUse(k kind, givenID string, found []string) string {
	return cmp.Or(append([]string{rec.state.ID(k), givenID}, found...)...)
}

// candidates returns the recorded ID of an own resource, and whether more have to be found in the cloud by their mark.
func (rec *reconciliation) candidates(k kind, givenID string) (ids []string, searchByMark bool) {
	id := rec.state.ID(k)
	if id != "" && rec.owns(k, givenID) {
		ids = []string{id}
	}
	return ids, rec.state.MayHaveMore(k) || (givenID == "" && id == "")
}

// alsoMarked adds the IDs of marked resources, but never given ones, marked or not.
func alsoMarked[T any](rec *reconciliation, ids []string, marked []T, id func(T) string) []string {
	for _, one := range marked {
		if found := id(one); !slices.Contains(ids, found) && !rec.isGiven(found) {
			ids = append(ids, found)
		}
	}
	return ids
}

// findSubnetsToDelete finds the subnets of the families in use and the recorded ones. One request finds all marked subnets; another one finds the ranges if only
// the upstream extension, which does not record them, wrote the recorded state.
func (rec *reconciliation) findSubnetsToDelete(ctx context.Context) error {
	searchByMark := rec.recordedSubnets()
	var found []cloudopenstack.Subnet
	if searchByMark {
		marked, err := rec.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{Description: rec.mark})
		if err != nil {
			return fmt.Errorf("looking for subnets of the shoot: %w", err)
		}
		found = append(found, marked...)
		id := func(s cloudopenstack.Subnet) string { return s.ID }
		rec.toDelete.subnets = alsoMarked(rec, rec.toDelete.subnets, marked, id)
		rec.toDelete.attached = alsoMarked(rec, rec.toDelete.attached, marked, id)
	}
	if routes := rec.toDelete.routes; len(routes.own)+len(routes.given) == 0 && len(rec.toDelete.attached) > 0 {
		attached, err := rec.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{IDs: rec.toDelete.attached})
		if err != nil {
			return fmt.Errorf("reading the node subnets: %w", err)
		}
		found = append(found, attached...)
	}
	rec.toDelete.networkOf = map[string]string{}
	for _, subnet := range found {
		rec.toDelete.networkOf[subnet.ID] = subnet.NetworkID
		if slices.Contains(rec.toDelete.subnets, subnet.ID) {
			rec.toDelete.routes.own = append(rec.toDelete.routes.own, subnet.CIDR)
		} else {
			rec.toDelete.routes.given = append(rec.toDelete.routes.given, subnet.CIDR)
		}
	}
	return nil
}

// recordedSubnets adds the recorded subnets, and reports whether more have to be found in the cloud by their mark.
func (rec *reconciliation) recordedSubnets() (searchByMark bool) {
	for _, k := range subnetKinds() {
		wanted, inUse := rec.subnet(k)
		ids, searchKind := rec.candidates(k, wanted.givenID)
		searchByMark = searchByMark || (inUse && searchKind) || rec.state.MayHaveMore(k)
		rec.toDelete.subnets = append(rec.toDelete.subnets, ids...)
		if k == kindSubnet || k == kindSubnetIPv6 {
			rec.toDelete.attached = append(rec.toDelete.attached, ids...)
		}
	}
	for _, id := range rec.givenAttached() {
		if id != "" && !slices.Contains(rec.toDelete.attached, id) {
			rec.toDelete.attached = append(rec.toDelete.attached, id)
		}
	}
	return searchByMark
}

// givenAttached returns the IDs of given node subnets with a router interface of the shoot. The upstream extension records none: a router that is deleted
// with the shoot must be disconnected first, whoever connected it.
func (rec *reconciliation) givenAttached() []string {
	ids := []string{rec.state.ID(kindInterface), rec.state.Intent(kindInterface)}
	if rec.owns(kindRouter, rec.plan.router.givenID) {
		nodes, _ := rec.subnet(kindSubnet)
		ids = append(ids, cmp.Or(rec.state.ID(kindSubnet), nodes.givenID))
	}
	return ids
}

// removeEach deletes all resources of a kind, and removes the kind from the state once all are gone.
func (rec *reconciliation) removeEach(what string, ids []string, remove func(id string) error, kinds ...kind) error {
	var failed []error
	for _, id := range ids {
		switch err := remove(id); {
		case err == nil:
			rec.log.Info("Deleted "+what, "id", id)
		case !cloud.IsNotFound(err):
			failed = append(failed, fmt.Errorf("deleting %s %s: %w", what, id, err))
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	rec.updateState(func(s *state) {
		for _, k := range kinds {
			s.Forget(k, factsOf(k)...)
		}
	})
	return nil
}

// factsOf returns the facts that are removed together with the resource.
func factsOf(k kind) []string {
	switch k {
	case kindNetwork:
		return []string{openstackv1alpha1.StateKeyNetworkName}
	case kindRouter:
		return []string{keyFloatingSubnet, openstackv1alpha1.StateKeyFloatingPoolSubnet}
	case kindSecurityGroup:
		return []string{openstackv1alpha1.StateKeySecurityGroupName}
	case kindShareNetwork:
		return []string{openstackv1alpha1.StateKeyShareNetworkName}
	case kindSubnet:
		return []string{rangeKey(k), openstackv1alpha1.StateKeyWorkersCIDR}
	case kindSubnetIPv6, kindSubnetPods, kindSubnetServices:
		return []string{rangeKey(k)}
	default:
		return nil
	}
}
