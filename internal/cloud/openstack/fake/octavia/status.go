package octavia

import "github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"

// showStatuses answers with the statuses of a load balancer and of all that hangs below it.
func (svc *Service) showStatuses(q *core.Request) (core.Reply, error) {
	b, err := svc.findBalancer(q, q.Path("id"))
	if err != nil {
		return core.Reply{}, err
	}
	listeners := []any{}
	for _, p := range svc.partsOf(b) {
		if p.kind.key != kindListener {
			continue
		}
		view := statusOf(p)
		pools := []any{}
		if pool := svc.partOf(kindPool, p.text("default_pool_id")); pool != nil {
			pools = append(pools, svc.poolStatus(pool))
		}
		for _, policy := range svc.childrenOf(p.id, kindPolicy) {
			if pool := svc.partOf(kindPool, policy.text("redirect_pool_id")); pool != nil {
				pools = append(pools, svc.poolStatus(pool))
			}
		}
		view["pools"] = pools
		listeners = append(listeners, view)
	}
	return core.OK(map[string]any{"statuses": map[string]any{"loadbalancer": map[string]any{
		"id": b.ID, "name": b.Name, "provisioning_status": b.ProvisioningStatus, "operating_status": b.OperatingStatus,
		"listeners": listeners,
	}}})
}

func statusOf(p *balancerPart, more ...string) map[string]any {
	view := map[string]any{
		"id": p.id, "name": p.text("name"), "provisioning_status": p.provisioning, "operating_status": p.operating,
	}
	for _, name := range more {
		view[name] = p.attrs[name]
	}
	return view
}

func (svc *Service) poolStatus(pool *balancerPart) map[string]any {
	view := statusOf(pool)
	members := []any{}
	for _, member := range svc.childrenOf(pool.id, kindMember) {
		members = append(members, statusOf(member, "address", "protocol_port"))
	}
	view["members"] = members
	for _, monitor := range svc.childrenOf(pool.id, kindHealthMonitor) {
		view["health_monitor"] = statusOf(monitor, "type")
	}
	return view
}
