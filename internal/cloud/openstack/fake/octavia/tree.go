package octavia

import "maps"

// newTree creates the parts in a request for a load balancer. They are not stored yet.
func (svc *Service) newTree(b *LoadBalancer, in *balancerInput) ([]*balancerPart, error) {
	pools := in.Pools
	for _, listener := range in.Listeners {
		pool, given := listener["default_pool"].(map[string]any)
		switch {
		case given && pool["name"] == nil:
			return nil, validationFailure("Pools must be named when creating a fully populated loadbalancer.")
		case given && len(pool) > 1: // otherwise it names one
			pools = append(pools, pool)
		}
	}
	var parts []*balancerPart
	ids := map[any]string{}
	for _, attrs := range pools {
		for _, name := range []string{"protocol", "lb_algorithm"} {
			if attrs[name] == nil {
				return nil, validationFailure("Pool definition for '%v' missing required attribute: %s", attrs["name"], name)
			}
		}
		if ids[attrs["name"]] != "" {
			return nil, validationFailure("Pool names must be unique when creating a fully populated loadbalancer.")
		}
		made, err := svc.newPoolTree(b, attrs)
		if err != nil {
			return nil, err
		}
		ids[attrs["name"]] = made[0].id
		parts = append(parts, made...)
	}
	for _, attrs := range in.Listeners {
		own := withoutKeys(attrs, "default_pool", "l7policies")
		if pool, given := attrs["default_pool"].(map[string]any); given {
			if own["default_pool_id"] = ids[pool["name"]]; own["default_pool_id"] == "" {
				return nil, validationFailure("Pool '%v' was referenced but no full definition was found.", pool["name"])
			}
		}
		listener := svc.newPart(kindListener, b, "", own)
		parts = append(parts, listener)
		for _, policy := range objectsIn(attrs["l7policies"]) {
			parts = append(parts, svc.newPolicyTree(b, listener.id, policy)...)
		}
	}
	return parts, nil
}

// newPoolTree creates a pool, the first of the result, with its health monitor and members.
func (svc *Service) newPoolTree(b *LoadBalancer, attrs map[string]any) ([]*balancerPart, error) {
	pool := svc.newPart(kindPool, b, "", withoutKeys(attrs, "members", "healthmonitor"))
	parts := []*balancerPart{pool}
	for _, attrs := range objectsIn(attrs["healthmonitor"]) {
		monitor := svc.newPart(kindHealthMonitor, b, pool.id, attrs)
		if err := checkMonitor(monitor); err != nil {
			return nil, err
		}
		parts = append(parts, monitor)
	}
	for _, attrs := range objectsIn(attrs["members"]) {
		member := svc.newPart(kindMember, b, pool.id, attrs)
		if len(parts) > 1 && parts[1].kind.key == kindHealthMonitor {
			member.operating = operatingOffline
		}
		parts = append(parts, member)
	}
	return parts, nil
}

func (svc *Service) newPolicyTree(b *LoadBalancer, listenerID string, attrs map[string]any) []*balancerPart {
	own := withoutKeys(attrs, "rules")
	own["listener_id"] = listenerID
	policy := svc.newPart(kindPolicy, b, listenerID, own)
	parts := []*balancerPart{policy}
	for _, rule := range objectsIn(attrs["rules"]) {
		parts = append(parts, svc.newPart(kindRule, b, policy.id, rule))
	}
	return parts
}

// withoutKeys returns attributes without some keys.
func withoutKeys(attrs map[string]any, names ...string) map[string]any {
	own := maps.Clone(attrs)
	for _, name := range names {
		delete(own, name)
	}
	return own
}

// fullView is a load balancer in the response to its creation: with its parts instead of their IDs.
func (svc *Service) fullView(b *LoadBalancer) (map[string]any, error) {
	view := map[string]any{}
	if err := decodeInto(b, &view); err != nil {
		return nil, err
	}
	listeners, pools := []any{}, []any{}
	for _, p := range svc.partsOf(b) {
		switch p.kind.key {
		case kindListener:
			full := withoutKeys(svc.partView(p), "loadbalancers")
			full["l7policies"] = svc.fullViews(p, kindPolicy)
			listeners = append(listeners, full)
		case kindPool:
			full := withoutKeys(svc.partView(p), "loadbalancers", "healthmonitor_id")
			// Octavia leaves out the health monitor in this response, though it creates one.
			full["members"], full["healthmonitor"] = svc.fullViews(p, kindMember), nil
			pools = append(pools, full)
		}
	}
	view["listeners"], view["pools"] = listeners, pools
	return view, nil
}

func (svc *Service) fullViews(parent *balancerPart, kind string) []any {
	views := []any{}
	for _, p := range svc.childrenOf(parent.id, kind) {
		view := svc.partView(p)
		if kind == kindPolicy {
			view["rules"] = svc.fullViews(p, kindRule)
		}
		views = append(views, view)
	}
	return views
}
