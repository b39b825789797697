package octavia

import "github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"

// changeBalancer makes a load balancer pending for the duration of a change.
func (svc *Service) changeBalancer(b *LoadBalancer) {
	b.ProvisioningStatus = lbPendingUpdate
	svc.BeginTransition(core.LoadBalancerUpdate, b.ID, func(failed bool) { svc.finishBalancerTransition(b, failed) })
}

// finishBalancerTransition ends the transition of a load balancer and its parts.
func (svc *Service) finishBalancerTransition(b *LoadBalancer, failed bool) {
	now := octaviaTime(svc.Now())
	for _, p := range svc.partsOf(b) {
		if p.provisioning == lbPendingDelete && !failed {
			svc.dropPart(b, p)
		}
	}
	for _, p := range svc.partsOf(b) {
		p.provisioning, p.updated = provisioningStatus(failed), now
		p.operating = operatingStatus(failed, p.attrs["admin_state_up"] != false)
		if p.kind.key == kindMember && p.operating == operatingOnline && len(svc.childrenOf(p.parentID, kindHealthMonitor)) == 0 {
			p.operating = operatingUnmonitored
		}
	}
	b.ProvisioningStatus, b.OperatingStatus = provisioningStatus(failed), operatingStatus(failed, b.AdminStateUp)
	b.UpdatedAt = core.Null(now)
}

func provisioningStatus(failed bool) string {
	if failed {
		return lbError
	}
	return lbActive
}

func operatingStatus(failed, enabled bool) string {
	switch {
	case failed:
		return operatingError
	case enabled:
		return operatingOnline
	default:
		return operatingOffline
	}
}

func (svc *Service) partsOf(b *LoadBalancer) []*balancerPart {
	return svc.parts.Where(func(p *balancerPart) bool { return p.balancerID == b.ID })
}
