package openstack

import (
	"context"
	"fmt"
	"net/http"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/record"
)

// findFloatingNetwork determines the external network: the observed one, the one that another shoot of the account has found lately by this name, or that
// of a request.
func (rec *reconciliation) findFloatingNetwork(ctx context.Context) error {
	external := rec.observed.external
	if external == nil || !rec.keepsFloatingNetwork(*external) {
		if recent, ok := rec.cloud.RecentExternalNetwork(rec.floating.pool); ok {
			rec.setFloatingNetwork(recent)
			rec.externalIsRecent = true
			return nil
		}
		found, err := rec.lookUpFloatingNetwork(ctx)
		if err != nil {
			return err
		}
		external = found
	}
	rec.setFloatingNetwork(*external)
	return nil
}

func (rec *reconciliation) setFloatingNetwork(external cloudopenstack.Network) {
	rec.external = external
	rec.updateState(func(s *state) {
		s.SetFact(keyFloatingNetwork, external.ID)
		s.SetFact(openstackv1alpha1.StateKeyFloatingNetworkName, external.Name)
	})
}

// keepsFloatingNetwork reports whether the recorded network is used whatever its name is by now. Until the shoot has a router in it, or a reconciliation
// has succeeded, a user may still correct the name.
func (rec *reconciliation) keepsFloatingNetwork(recorded cloudopenstack.Network) bool {
	hasRouter := rec.plan.router.givenID == "" && rec.observed.router != nil
	return hasRouter || rec.succeededBefore || matchesNetwork(rec.floating.pool, recorded)
}

func (rec *reconciliation) lookUpFloatingNetwork(ctx context.Context) (*cloudopenstack.Network, error) {
	filter := cloudopenstack.NetworkFilter{External: new(true)}
	switch {
	case isID(rec.floating.pool):
		filter.IDs = []string{rec.floating.pool}
	case !isPattern(rec.floating.pool):
		filter.Name = rec.floating.pool
	}
	networks, err := rec.cloud.ListNetworks(ctx, filter)
	if err != nil {
		return nil, fmt.Errorf("looking for external network %q: %w", rec.floating.pool, err)
	}
	found, err := chooseFloatingNetwork(rec.floating.pool, networks)
	if err != nil {
		return nil, err
	}
	rec.cloud.RememberExternalNetwork(rec.floating.pool, *found)
	return found, nil
}

// refreshFloatingNetwork looks up an external network that was not read in this reconciliation, after a gateway in it was refused. It returns false if the
// network is the same.
func (rec *reconciliation) refreshFloatingNetwork(ctx context.Context, refusal error) (bool, error) {
	mayBeOutdated := cloud.KindOf(refusal) == cloud.Configuration || isStatus(refusal, http.StatusNotFound) || isStatus(refusal, http.StatusBadRequest)
	if !rec.externalIsRecent || !mayBeOutdated {
		return false, nil
	}
	rec.externalIsRecent = false
	rec.cloud.ForgetExternalNetwork(rec.floating.pool)
	found, err := rec.lookUpFloatingNetwork(ctx)
	if err != nil || found.ID == rec.external.ID {
		return false, err
	}
	rec.setFloatingNetwork(*found)
	return true, nil
}

// ensureNetwork uses the given network, repairs the shoot's own, or creates one.
func (rec *reconciliation) ensureNetwork(ctx context.Context) error {
	wanted, observed := rec.plan.network, rec.observed.network
	switch {
	case wanted.givenID != "":
		if observed.External {
			return cloud.Errorf(cloud.Configuration, "networks.id: network %s is an external network; give a tenant network", observed.ID)
		}
		if !observed.AdminStateUp {
			rec.addFindings(fmt.Sprintf("network %s is switched off: nodes cannot reach each other", observed.ID))
		}
		rec.net = *observed
	case observed == nil:
		created, err := rec.cloud.CreateNetwork(ctx, cloudopenstack.NetworkCreate{
			Name: wanted.name, Description: rec.mark, MTU: wanted.mtu, AvailabilityZoneHints: wanted.azHints,
		})
		if err != nil {
			rec.recordFailedCreate(kindNetwork, err)
			return fmt.Errorf("creating network %q: %w", wanted.name, explainNetworkError(wanted.mtu, wanted.azHints, err))
		}
		rec.log.Info("Created network", "id", created.ID)
		rec.net = created
	default:
		repaired, err := rec.repairNetwork(ctx, *observed)
		if err != nil {
			return err
		}
		rec.net = repaired
	}
	rec.recordResource(kindNetwork, rec.net.ID, ownerOf(wanted.givenID), map[string]string{openstackv1alpha1.StateKeyNetworkName: rec.net.Name})
	return nil
}

func (rec *reconciliation) repairNetwork(ctx context.Context, observed cloudopenstack.Network) (cloudopenstack.Network, error) {
	update, findings := networkChange(rec.plan.network, observed)
	rec.addFindings(findings...)
	if update == nil {
		return observed, nil
	}
	repaired, err := rec.cloud.UpdateNetwork(ctx, observed.ID, *update)
	if err != nil {
		return observed, fmt.Errorf("repairing network %s: %w", observed.ID, explainNetworkError(value(update.MTU), nil, err))
	}
	rec.log.Info("Repaired network", "id", observed.ID)
	return repaired, nil
}

// networkChange computes the repairs of the shoot's own network, and the findings.
func networkChange(wanted networkSpec, observed cloudopenstack.Network) (*cloudopenstack.NetworkUpdate, []string) {
	var update cloudopenstack.NetworkUpdate
	var findings []string
	changed := false
	if !observed.AdminStateUp {
		update.AdminStateUp = new(true)
		changed = true
	}
	switch {
	case wanted.mtu == 0 || observed.MTU == 0 || wanted.mtu == observed.MTU:
	case wanted.mtu > observed.MTU:
		update.MTU = new(wanted.mtu)
		changed = true
	default:
		findings = append(findings, fmt.Sprintf("network %s has an MTU of %d, not %d as networks.mtu says; it is not lowered, "+
			"since running nodes would lose packets until they renew their lease", observed.ID, observed.MTU, wanted.mtu))
	}
	if !changed {
		return nil, findings
	}
	return &update, findings
}

func ownerOf(givenID string) record.Owner {
	if givenID != "" {
		return given
	}
	return own
}
