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

// doomed is what a deletion removes, by ID, and what it needs to know for that.
type doomed struct {
	network  []string
	router   []string
	group    []string
	subnets  []string
	attached []string // subnets whose router interface is the shoot's
	routes   nodeRoutes
	// namesakes have the shoot's name, and nothing tells whether they are the shoot's.
	namesakes []namesake
	// networkID and routerID are those in use, given or own; empty when there never was one.
	networkID, routerID string
}

// deleteGraph removes the load balancers first, since everything else hangs on them; then interfaces, subnets and
// network, each when nothing can be in it any more. Nothing is read whose ID is known: it goes, or is gone.
func (p *pass) deleteGraph() *contract.Graph {
	g := contract.NewGraph("deleting infrastructure")
	add := func(name string, do func(context.Context) error, after ...contract.TaskID) contract.TaskID {
		return g.Add(contract.Task{Name: name, Do: do, After: after})
	}
	keyPair := add("deleting key pair", p.removeKeyPair)
	found := add("finding what is left", p.findDoomed)
	add("deleting security group", p.removeGroup, found)
	balancers := add("deleting load balancers", p.removeLoadBalancers, found)
	routes := add("removing routes to nodes", p.removeRoutes, found)
	share := add("deleting share network", p.removeShareNetwork, found)
	interfaces := add("removing router interfaces", p.removeInterfaces, balancers, routes)
	add("deleting router", p.removeRouter, interfaces)
	subnets := add("deleting subnets", p.removeSubnets, interfaces, share)
	add("deleting network", p.removeNetwork, subnets)
	// It waits only for what looks for namesakes. A removal that fails since a namesake is in the way must not keep that from being named.
	g.Add(contract.Task{
		Name: "looking for what is left under the shoot's name", Do: p.refuseNamesakes, SkipIf: !p.begunByUpstream,
		After: []contract.TaskID{keyPair, found},
	})
	return g
}

// findDoomed determines what is the shoot's own. It asks the cloud only where the ledger cannot answer: no ID is
// recorded, or an attempt to create is of which nobody knows how it ended.
func (p *pass) findDoomed(ctx context.Context) error {
	p.doomed.routes = p.recordedNodeRoutes()
	err := inParallel(
		func() (err error) { p.doomed.network, err = p.networkSearch().doomed(ctx, p); return err },
		func() (err error) { p.doomed.router, err = p.routerSearch().doomed(ctx, p); return err },
		func() (err error) { p.doomed.group, err = p.groupSearch().doomed(ctx, p); return err },
		func() error { return p.doomedSubnets(ctx) },
	)
	if err == nil {
		err = p.findUnrecorded(ctx)
	}
	p.doomed.networkID = p.idInUse(kindNetwork, p.plan.network.givenID, p.doomed.network)
	p.doomed.routerID = p.idInUse(kindRouter, p.plan.router.givenID, p.doomed.router)
	return err
}

// idInUse is empty when there never was any of the kind.
func (p *pass) idInUse(k kind, givenID string, found []string) string {
	return cmp.Or(append([]string{p.ledger.id(k), givenID}, found...)...)
}

// recordedNodeRoutes are known by the recorded ranges. The pods' tell routes in subnets that others live in, too.
func (p *pass) recordedNodeRoutes() nodeRoutes {
	routes := nodeRoutes{
		own:  present(p.ledger.fact(openstackv1alpha1.StateKeyNodeSubnetIPv6CIDR)),
		pods: append(present(p.pods), present(p.ledger.fact(openstackv1alpha1.StateKeyPodSubnetIPv6CIDR))...),
	}
	nodes, _ := p.subnet(kindSubnet)
	if workers := present(cmp.Or(p.ledger.fact(keyWorkersCIDR), p.ledger.fact(openstackv1alpha1.StateKeyWorkersCIDR))); p.owns(kindSubnet, nodes.givenID) {
		routes.own = append(routes.own, workers...)
	} else {
		routes.given = workers
	}
	return routes
}

// candidates returns the recorded ID of an own resource, and whether the cloud must be asked for more by mark.
func (p *pass) candidates(k kind, givenID string) (ids []string, look bool) {
	id := p.ledger.id(k)
	if id != "" && p.owns(k, givenID) {
		ids = []string{id}
	}
	return ids, p.ledger.uncertain(k) || (givenID == "" && id == "")
}

// alsoMarked adds the IDs of marked resources. What the user gave is never among them, marked or not.
func alsoMarked[T any](p *pass, ids []string, marked []T, id func(T) string) []string {
	for _, one := range marked {
		if found := id(one); !slices.Contains(ids, found) && !p.isGiven(found) {
			ids = append(ids, found)
		}
	}
	return ids
}

// doomedSubnets looks at subnets of the families in use and at those that are recorded. One request finds all that are
// marked; another one asks for ranges where only the upstream extension, which does not record them, wrote the ledger.
func (p *pass) doomedSubnets(ctx context.Context) error {
	look := p.recordedSubnets()
	var found []cloudopenstack.Subnet
	if look {
		marked, err := p.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{Description: p.mark})
		if err != nil {
			return fmt.Errorf("looking for subnets of the shoot: %w", err)
		}
		found = append(found, marked...)
		id := func(s cloudopenstack.Subnet) string { return s.ID }
		p.doomed.subnets = alsoMarked(p, p.doomed.subnets, marked, id)
		p.doomed.attached = alsoMarked(p, p.doomed.attached, marked, id)
	}
	if routes := p.doomed.routes; len(routes.own)+len(routes.given) == 0 && len(p.doomed.attached) > 0 {
		attached, err := p.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{IDs: p.doomed.attached})
		if err != nil {
			return fmt.Errorf("reading the node subnets: %w", err)
		}
		found = append(found, attached...)
	}
	for _, subnet := range found {
		if slices.Contains(p.doomed.subnets, subnet.ID) {
			p.doomed.routes.own = append(p.doomed.routes.own, subnet.CIDR)
		} else {
			p.doomed.routes.given = append(p.doomed.routes.given, subnet.CIDR)
		}
	}
	return nil
}

// recordedSubnets takes what the ledger says, and tells whether the cloud must be asked for more by mark.
func (p *pass) recordedSubnets() (look bool) {
	for _, k := range subnetKinds() {
		wanted, inUse := p.subnet(k)
		ids, lookForKind := p.candidates(k, wanted.givenID)
		look = look || (inUse && lookForKind) || p.ledger.uncertain(k)
		p.doomed.subnets = append(p.doomed.subnets, ids...)
		if k == kindSubnet || k == kindSubnetIPv6 {
			p.doomed.attached = append(p.doomed.attached, ids...)
		}
	}
	for _, id := range p.givenAttached() {
		if id != "" && !slices.Contains(p.doomed.attached, id) {
			p.doomed.attached = append(p.doomed.attached, id)
		}
	}
	return look
}

// givenAttached returns IDs of given node subnets whose router interface is the shoot's, as far as there are any. The upstream extension records
// none: a router that goes with the shoot cannot go before it is disconnected, whoever connected it.
func (p *pass) givenAttached() []string {
	ids := []string{p.ledger.id(kindInterface), p.ledger.intent(kindInterface)}
	if p.owns(kindRouter, p.plan.router.givenID) {
		nodes, _ := p.subnet(kindSubnet)
		ids = append(ids, cmp.Or(p.ledger.id(kindSubnet), nodes.givenID))
	}
	return ids
}

// removeEach removes all of a kind and forgets it only when every one is gone.
func (p *pass) removeEach(what string, ids []string, remove func(id string) error, kinds ...kind) error {
	var failed []error
	for _, id := range ids {
		switch err := remove(id); {
		case err == nil:
			p.log.Info("Deleted "+what, "id", id)
		case !cloud.IsNotFound(err):
			failed = append(failed, fmt.Errorf("deleting %s %s: %w", what, id, err))
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	p.record(func(l *ledger) {
		for _, k := range kinds {
			l.forget(k, factsOf(k)...)
		}
	})
	return nil
}

// factsOf are the facts that are forgotten together with the resource.
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
