package openstack

import (
	"context"
	"fmt"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// findFloatingNetwork determines the external network, from the observation or by name.
func (p *pass) findFloatingNetwork(ctx context.Context) error {
	external := p.seen.external
	if external == nil || !p.keepsFloatingNetwork(*external) {
		found, err := p.lookUpFloatingNetwork(ctx)
		if err != nil {
			return err
		}
		external = found
	}
	p.external = *external
	p.record(func(l *ledger) {
		l.note(keyFloatingNetwork, external.ID)
		l.note(openstackv1alpha1.StateKeyFloatingNetworkName, external.Name)
	})
	return nil
}

// keepsFloatingNetwork tells whether the recorded network counts, whatever its name is by now. Until the shoot has a router in
// it, or was fulfilled, a user may still correct which one is meant.
func (p *pass) keepsFloatingNetwork(recorded cloudopenstack.Network) bool {
	hasRouter := p.plan.router.givenID == "" && p.seen.router != nil
	return hasRouter || p.fulfilled || meansNetwork(p.floating.pool, recorded)
}

func (p *pass) lookUpFloatingNetwork(ctx context.Context) (*cloudopenstack.Network, error) {
	filter := cloudopenstack.NetworkFilter{External: new(true)}
	switch {
	case isID(p.floating.pool):
		filter.IDs = []string{p.floating.pool}
	case !isPattern(p.floating.pool):
		filter.Name = p.floating.pool
	}
	networks, err := p.cloud.ListNetworks(ctx, filter)
	if err != nil {
		return nil, fmt.Errorf("looking for external network %q: %w", p.floating.pool, err)
	}
	return chooseFloatingNetwork(p.floating.pool, networks)
}

// ensureNetwork uses the given network, repairs the shoot's own, or creates one.
func (p *pass) ensureNetwork(ctx context.Context) error {
	wanted, seen := p.plan.network, p.seen.network
	switch {
	case wanted.givenID != "":
		if seen.External {
			return cloud.Errorf(cloud.Configuration, "networks.id: network %s is an external network; give a tenant network", seen.ID)
		}
		if !seen.AdminStateUp {
			p.report(fmt.Sprintf("network %s is switched off: nodes cannot reach each other", seen.ID))
		}
		p.net = *seen
	case seen == nil:
		created, err := p.cloud.CreateNetwork(ctx, cloudopenstack.NetworkCreate{
			Name: wanted.name, Description: p.mark, MTU: wanted.mtu, AvailabilityZoneHints: wanted.azHints,
		})
		if err != nil {
			p.notCreated(kindNetwork, err)
			return fmt.Errorf("creating network %q: %w", wanted.name, blameNetwork(wanted.mtu, wanted.azHints, err))
		}
		p.log.Info("Created network", "id", created.ID)
		p.net = created
	default:
		repaired, err := p.repairNetwork(ctx, *seen)
		if err != nil {
			return err
		}
		p.net = repaired
	}
	p.hold(kindNetwork, p.net.ID, ownerOf(wanted.givenID), map[string]string{openstackv1alpha1.StateKeyNetworkName: p.net.Name})
	return nil
}

func (p *pass) repairNetwork(ctx context.Context, seen cloudopenstack.Network) (cloudopenstack.Network, error) {
	update, findings := networkChange(p.plan.network, seen)
	p.report(findings...)
	if update == nil {
		return seen, nil
	}
	repaired, err := p.cloud.UpdateNetwork(ctx, seen.ID, *update)
	if err != nil {
		return seen, fmt.Errorf("repairing network %s: %w", seen.ID, blameNetwork(value(update.MTU), nil, err))
	}
	p.log.Info("Repaired network", "id", seen.ID)
	return repaired, nil
}

// networkChange decides what to repair in the shoot's own network, and what to report.
func networkChange(wanted networkWant, seen cloudopenstack.Network) (*cloudopenstack.NetworkUpdate, []string) {
	var update cloudopenstack.NetworkUpdate
	var findings []string
	changed := false
	if !seen.AdminStateUp {
		update.AdminStateUp = new(true)
		changed = true
	}
	switch {
	case wanted.mtu == 0 || seen.MTU == 0 || wanted.mtu == seen.MTU:
	case wanted.mtu > seen.MTU:
		update.MTU = new(wanted.mtu)
		changed = true
	default:
		findings = append(findings, fmt.Sprintf("network %s has an MTU of %d, not %d as networks.mtu says; it is not lowered, "+
			"since running nodes would lose packets until they renew their lease", seen.ID, seen.MTU, wanted.mtu))
	}
	if !changed {
		return nil, findings
	}
	return &update, findings
}

func ownerOf(givenID string) ownership {
	if givenID != "" {
		return given
	}
	return own
}
