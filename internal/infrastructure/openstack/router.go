package openstack

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract"
)

// addressPatience is how long a pass waits for a router's external address before it makes room for others.
const addressPatience = 2 * time.Minute

// ensureRouter uses the given router, repairs the shoot's own, or creates one.
func (p *pass) ensureRouter(ctx context.Context) error {
	wanted, seen := p.plan.router, p.seen.router
	var err error
	switch {
	case wanted.givenID != "":
		p.router = *seen
		p.report(givenRouterFindings(*seen, p.external)...)
	case seen == nil:
		p.router, err = p.createRouter(ctx)
	default:
		p.router, err = p.repairRouter(ctx, *seen)
	}
	if err != nil {
		return err
	}
	p.hold(kindRouter, p.router.ID, ownerOf(wanted.givenID), p.floatingSubnetFacts)
	return nil
}

func (p *pass) createRouter(ctx context.Context) (cloudopenstack.Router, error) {
	var created cloudopenstack.Router
	err := p.withGateway(ctx, func(gateway cloudopenstack.ExternalGateway) error {
		var err error
		created, err = p.cloud.CreateRouter(ctx, cloudopenstack.RouterCreate{
			Name: p.plan.router.name, Description: p.mark, Gateway: &gateway, AvailabilityZoneHints: p.plan.router.azHints,
		})
		return err
	})
	if err != nil {
		p.notCreated(kindRouter, err)
		if isStatus(err, http.StatusNotFound) {
			err = blameZones("router", p.plan.router.azHints, err)
		}
		return created, fmt.Errorf("creating router %q: %w", p.plan.router.name, err)
	}
	p.log.Info("Created router", "id", created.ID)
	return created, nil
}

func (p *pass) repairRouter(ctx context.Context, seen cloudopenstack.Router) (cloudopenstack.Router, error) {
	recorded := p.ledger.fact(keyFloatingSubnet)
	update, findings := routerChange(p.plan.router, p.external.ID, recorded, seen)
	p.report(findings...)
	if update == nil {
		return seen, nil
	}
	attempt := func(gateway *cloudopenstack.ExternalGateway) error {
		update.Gateway = gateway
		repaired, err := p.cloud.UpdateRouter(ctx, seen.ID, *update)
		if err == nil {
			seen = repaired
		}
		return err
	}
	var err error
	if seen.Gateway == nil {
		err = p.withGateway(ctx, func(gateway cloudopenstack.ExternalGateway) error { return attempt(&gateway) })
	} else if err = attempt(update.Gateway); update.Gateway != nil {
		err = blameGateway(*update.Gateway, "", err)
	}
	if err != nil {
		return seen, fmt.Errorf("repairing router %s: %w", seen.ID, err)
	}
	p.log.Info("Repaired router", "id", seen.ID)
	return seen, nil
}

// routerChange decides what to repair in the shoot's own router, and what to report. A missing gateway makes an update
// whose gateway the caller chooses.
func routerChange(wanted routerWant, externalID, floatingSubnet string, seen cloudopenstack.Router) (*cloudopenstack.RouterUpdate, []string) {
	var update cloudopenstack.RouterUpdate
	var findings []string
	changed := false
	if !seen.AdminStateUp {
		update.AdminStateUp = new(true)
		changed = true
	}
	switch gateway := seen.Gateway; {
	case gateway == nil:
		changed = true
	case gateway.NetworkID != externalID:
		findings = append(findings, fmt.Sprintf("router %s has its gateway in network %s, not in floating network %s; "+
			"it is not moved, since that would change the addresses of the shoot", seen.ID, gateway.NetworkID, externalID))
	case wanted.snat != nil && gateway.EnableSNAT != nil && *gateway.EnableSNAT != *wanted.snat: // some clouds hide it
		// A gateway in the same network keeps its addresses, and naming them is a right of its own.
		update.Gateway = &cloudopenstack.ExternalGateway{NetworkID: gateway.NetworkID, EnableSNAT: wanted.snat}
		changed = true
	}
	if elsewhere := floatingSubnet != "" && seen.Gateway != nil && len(seen.Gateway.FixedIPs) > 0 &&
		!slices.ContainsFunc(seen.Gateway.FixedIPs, func(ip cloudopenstack.ExternalFixedIP) bool { return ip.SubnetID == floatingSubnet }); elsewhere {
		findings = append(findings, fmt.Sprintf("router %s no longer has its external address in subnet %s", seen.ID, floatingSubnet))
	}
	if !changed {
		return nil, findings
	}
	return &update, findings
}

// givenRouterFindings says what about the user's router will disturb the shoot.
func givenRouterFindings(seen cloudopenstack.Router, external cloudopenstack.Network) []string {
	if seen.Gateway == nil || seen.Gateway.NetworkID == external.ID {
		return nil
	}
	return []string{fmt.Sprintf("router %s has its gateway in network %s, not in floating network %s (%s): "+
		"load balancers of the shoot cannot have floating IPs", seen.ID, seen.Gateway.NetworkID, external.Name, external.ID)}
}

// withGateway offers one gateway after the other until one has an address to give: the subnets of the floating network
// that the user or the cloud profile selects, or the network as a whole. It remembers which one it was.
func (p *pass) withGateway(ctx context.Context, attempt func(cloudopenstack.ExternalGateway) error) error {
	gateway := cloudopenstack.ExternalGateway{NetworkID: p.external.ID, EnableSNAT: p.plan.router.snat}
	if p.floating.subnet == "" {
		return blameGateway(gateway, "", attempt(gateway))
	}
	subnets, err := p.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{NetworkID: p.external.ID})
	if err != nil {
		return fmt.Errorf("reading the subnets of floating network %s: %w", p.external.ID, err)
	}
	candidates, err := p.floating.subnetCandidates(subnets)
	if err != nil {
		return err
	}
	for _, candidate := range candidates {
		gateway.FixedIPs = []cloudopenstack.ExternalFixedIP{{SubnetID: candidate.ID}}
		err = attempt(gateway)
		if err == nil {
			p.floatingSubnetFacts = map[string]string{keyFloatingSubnet: candidate.ID, openstackv1alpha1.StateKeyFloatingPoolSubnet: candidate.Name}
			return nil
		}
		if cloud.KindOf(err) != cloud.Depleted {
			return blameGateway(gateway, p.floating.subnetField, err)
		}
		p.log.Info("A floating subnet has no free address", "subnet", candidate.Name, "id", candidate.ID)
	}
	return fmt.Errorf("none of the %d subnets that %s %q selects has an address left: %w", len(candidates), p.floating.subnetField, p.floating.subnet, err)
}

// awaitAddress waits until the router can be reached from outside. A router without an address is nothing final: clouds
// schedule it later, and the owner of a given one may still be at it.
func (p *pass) awaitAddress(ctx context.Context) error {
	p.reachable = p.router
	if hasAddress(p.reachable) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, addressPatience)
	defer cancel()
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		found, err := p.cloud.GetRouter(ctx, p.router.ID)
		if err != nil {
			return "", fmt.Errorf("reading router %s: %w", p.router.ID, err)
		}
		p.reachable = found
		switch {
		case hasAddress(found):
			return "", nil
		case found.Gateway == nil:
			return fmt.Sprintf("router %s has no gateway; connect it to floating network %s (%s)", found.ID, p.external.Name, p.external.ID), nil
		default:
			return fmt.Sprintf("router %s has no external address yet", found.ID), nil
		}
	})
}

func hasAddress(router cloudopenstack.Router) bool {
	return router.Gateway != nil && len(router.Gateway.FixedIPs) > 0
}
