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

// addressTimeout is how long a reconciliation waits for a router's external address before it ends for others.
const addressTimeout = 2 * time.Minute

// ensureRouter uses the given router, repairs the shoot's own, or creates one.
func (rec *reconciliation) ensureRouter(ctx context.Context) error {
	wanted, observed := rec.plan.router, rec.observed.router
	var err error
	switch {
	case wanted.givenID != "":
		rec.router = *observed
		rec.addFindings(givenRouterFindings(*observed, rec.external)...)
	case observed == nil:
		rec.router, err = rec.createRouter(ctx)
	default:
		rec.router, err = rec.repairRouter(ctx, *observed)
	}
	if err != nil {
		return err
	}
	rec.recordResource(kindRouter, rec.router.ID, ownerOf(wanted.givenID), rec.floatingSubnetFacts)
	return nil
}

func (rec *reconciliation) createRouter(ctx context.Context) (cloudopenstack.Router, error) {
	var created cloudopenstack.Router
	err := rec.withGateway(ctx, func(gateway cloudopenstack.ExternalGateway) error {
		var err error
		created, err = rec.cloud.CreateRouter(ctx, cloudopenstack.RouterCreate{
			Name: rec.plan.router.name, Description: rec.mark, Gateway: &gateway, AvailabilityZoneHints: rec.plan.router.azHints,
		})
		return err
	})
	if err != nil {
		rec.recordFailedCreate(kindRouter, err)
		if isStatus(err, http.StatusNotFound) {
			err = explainZoneError("router", rec.plan.router.azHints, err)
		}
		return created, fmt.Errorf("creating router %q: %w", rec.plan.router.name, err)
	}
	rec.log.Info("Created router", "id", created.ID)
	return created, nil
}

func (rec *reconciliation) repairRouter(ctx context.Context, observed cloudopenstack.Router) (cloudopenstack.Router, error) {
	recorded := rec.state.Fact(keyFloatingSubnet)
	update, findings := routerChange(rec.plan.router, rec.external.ID, recorded, observed)
	rec.addFindings(findings...)
	if update == nil {
		return observed, nil
	}
	attempt := func(gateway *cloudopenstack.ExternalGateway) error {
		update.Gateway = gateway
		repaired, err := rec.cloud.UpdateRouter(ctx, observed.ID, *update)
		if err == nil {
			observed = repaired
		}
		return err
	}
	var err error
	if observed.Gateway == nil {
		err = rec.withGateway(ctx, func(gateway cloudopenstack.ExternalGateway) error { return attempt(&gateway) })
	} else if err = attempt(update.Gateway); update.Gateway != nil {
		err = explainGatewayError(*update.Gateway, "", err)
	}
	if err != nil {
		return observed, fmt.Errorf("repairing router %s: %w", observed.ID, err)
	}
	rec.log.Info("Repaired router", "id", observed.ID)
	return observed, nil
}

// routerChange computes the repairs of the shoot's own router, and the findings. A missing gateway becomes an update whose gateway the caller chooses.
func routerChange(wanted routerSpec, externalID, floatingSubnet string, observed cloudopenstack.Router) (*cloudopenstack.RouterUpdate, []string) {
	var update cloudopenstack.RouterUpdate
	var findings []string
	changed := false
	if !observed.AdminStateUp {
		update.AdminStateUp = new(true)
		changed = true
	}
	switch gateway := observed.Gateway; {
	case gateway == nil:
		changed = true
	case gateway.NetworkID != externalID:
		findings = append(findings, fmt.Sprintf("router %s has its gateway in network %s, not in floating network %s; "+
			"it is not moved, since that would change the addresses of the shoot", observed.ID, gateway.NetworkID, externalID))
	case wanted.snat != nil && gateway.EnableSNAT != nil && *gateway.EnableSNAT != *wanted.snat: // some clouds hide it
		// A gateway in the same network keeps its addresses, and naming them is a right of its own.
		update.Gateway = &cloudopenstack.ExternalGateway{NetworkID: gateway.NetworkID, EnableSNAT: wanted.snat}
		changed = true
	}
	if elsewhere := floatingSubnet != "" && observed.Gateway != nil && len(observed.Gateway.FixedIPs) > 0 &&
		!slices.ContainsFunc(observed.Gateway.FixedIPs, func(ip cloudopenstack.ExternalFixedIP) bool { return ip.SubnetID == floatingSubnet }); elsewhere {
		findings = append(findings, fmt.Sprintf("router %s no longer has its external address in subnet %s", observed.ID, floatingSubnet))
	}
	if !changed {
		return nil, findings
	}
	return &update, findings
}

// givenRouterFindings describes properties of the user's router that will disturb the shoot.
func givenRouterFindings(observed cloudopenstack.Router, external cloudopenstack.Network) []string {
	if observed.Gateway == nil || observed.Gateway.NetworkID == external.ID {
		return nil
	}
	return []string{fmt.Sprintf("router %s has its gateway in network %s, not in floating network %s (%s): "+
		"load balancers of the shoot cannot have floating IPs", observed.ID, observed.Gateway.NetworkID, external.Name, external.ID)}
}

// withGateway makes an attempt with a gateway in the floating network, and another one if the network is a different one by now.
func (rec *reconciliation) withGateway(ctx context.Context, attempt func(cloudopenstack.ExternalGateway) error) error {
	err := rec.tryGateways(ctx, attempt)
	if err == nil {
		return nil
	}
	changed, findErr := rec.refreshFloatingNetwork(ctx, err)
	if findErr != nil {
		return findErr
	}
	if !changed {
		return err
	}
	return rec.tryGateways(ctx, attempt)
}

// tryGateways tries one gateway after the other until one has a free address: the subnets of the floating network that the user or the cloud profile selects,
// or the network as a whole. It records which one it was.
func (rec *reconciliation) tryGateways(ctx context.Context, attempt func(cloudopenstack.ExternalGateway) error) error {
	gateway := cloudopenstack.ExternalGateway{NetworkID: rec.external.ID, EnableSNAT: rec.plan.router.snat}
	if rec.floating.subnet == "" {
		return explainGatewayError(gateway, "", attempt(gateway))
	}
	subnets, err := rec.cloud.ListSubnets(ctx, cloudopenstack.SubnetFilter{NetworkID: rec.external.ID})
	if err != nil {
		return fmt.Errorf("reading the subnets of floating network %s: %w", rec.external.ID, err)
	}
	candidates, err := rec.floating.subnetCandidates(subnets)
	if err != nil {
		return err
	}
	for _, candidate := range candidates {
		gateway.FixedIPs = []cloudopenstack.ExternalFixedIP{{SubnetID: candidate.ID}}
		err = attempt(gateway)
		if err == nil {
			rec.floatingSubnetFacts = map[string]string{keyFloatingSubnet: candidate.ID, openstackv1alpha1.StateKeyFloatingPoolSubnet: candidate.Name}
			return nil
		}
		if cloud.KindOf(err) != cloud.Depleted {
			return explainGatewayError(gateway, rec.floating.subnetField, err)
		}
		rec.log.Info("A floating subnet has no free address", "subnet", candidate.Name, "id", candidate.ID)
	}
	return fmt.Errorf("none of the %d subnets that %s %q selects has an address left: %w", len(candidates), rec.floating.subnetField, rec.floating.subnet, err)
}

// waitForAddress waits for the router's external address. A missing one is not final: clouds schedule routers later, and the owner of a given one may still
// be configuring it.
func (rec *reconciliation) waitForAddress(ctx context.Context) error {
	rec.readyRouter = rec.router
	if hasAddress(rec.readyRouter) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, addressTimeout)
	defer cancel()
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		found, err := rec.cloud.GetRouter(ctx, rec.router.ID)
		if err != nil {
			return "", fmt.Errorf("reading router %s: %w", rec.router.ID, err)
		}
		rec.readyRouter = found
		switch {
		case hasAddress(found):
			return "", nil
		case found.Gateway == nil:
			return fmt.Sprintf("router %s has no gateway; connect it to floating network %s (%s)", found.ID, rec.external.Name, rec.external.ID), nil
		default:
			return fmt.Sprintf("router %s has no external address yet", found.ID), nil
		}
	})
}

func hasAddress(router cloudopenstack.Router) bool {
	return router.Gateway != nil && len(router.Gateway.FixedIPs) > 0
}
