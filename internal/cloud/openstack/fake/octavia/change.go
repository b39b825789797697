package octavia

import (
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func (svc *Service) newPart(kind string, b *LoadBalancer, parentID string, attrs map[string]any) *balancerPart {
	k := svc.kinds[slices.IndexFunc(svc.kinds, func(k *partKind) bool { return k.key == kind })]
	p := &balancerPart{
		kind: k, id: core.NewUUID(), balancerID: b.ID, parentID: parentID, attrs: attrs,
		provisioning: lbPendingCreate, operating: operatingOffline, created: octaviaTime(svc.Now()),
	}
	if kind == kindMember && len(svc.childrenOf(parentID, kindHealthMonitor)) == 0 {
		p.operating = operatingUnmonitored
	}
	if kind == kindListener && p.text("default_pool_id") != "" {
		p.updated = p.created
	}
	return p
}

// createPart checks in Octavia's order: the body, its references, the quota, whether the load balancer is pending, and duplicates.
func (svc *Service) createPart(q *core.Request, k *partKind) (core.Reply, error) {
	parent, missing := svc.parentInPath(q, k)
	if missing != nil {
		return *missing, nil
	}
	attrs, invalid := k.read(q.Body, false)
	if invalid != nil {
		return core.Reply{}, invalid
	}
	b, parent, err := svc.parentsOf(q, k, attrs, parent)
	if err != nil {
		return core.Reply{}, err
	}
	parentID := ""
	if parent != nil {
		parentID = parent.id
	}
	p := svc.newPart(k.key, b, parentID, attrs)
	if err := svc.checkPart(q, p); err != nil {
		return core.Reply{}, err
	}
	mine := func(o *balancerPart) bool {
		return o.kind.key == k.key && svc.Balancers.Get(o.balancerID).ProjectID == b.ProjectID
	}
	if svc.Exceeds(b.ProjectID, k.quota, svc.parts.Count(mine), 1) {
		return core.Reply{}, core.Forbidden("", "Quota has been met for resources: %s", k.title)
	}
	if err := svc.checkNotPending(b, p); err != nil {
		return core.Reply{}, err
	}
	if err := svc.checkDuplicate(p); err != nil {
		return core.Reply{}, err
	}
	svc.addPart(b, p)
	for _, o := range svc.affected(p) {
		o.provisioning = lbPendingUpdate
	}
	p.provisioning = lbPendingCreate
	view := svc.partView(p)
	svc.changeBalancer(b)
	return core.Created(map[string]any{k.key: view})
}

// parentsOf returns the load balancer of a new part, and the part that contains it if there is one.
func (svc *Service) parentsOf(q *core.Request, k *partKind, attrs map[string]any, parent *balancerPart) (*LoadBalancer, *balancerPart, error) {
	id := func(name string) string { text, _ := attrs[name].(string); return text }
	balancerID := id("loadbalancer_id")
	var within string // the kind in which it lies, named in the body
	switch k.key {
	case kindHealthMonitor:
		within = kindPool
	case kindPolicy:
		within = kindListener
	case kindPool:
		if balancerID == "" && id("listener_id") == "" {
			return nil, nil, core.BadRequest("", "Validation failure: Must provide at least one of: loadbalancer_id, listener_id")
		}
		if listener := svc.partOf(kindListener, id("listener_id")); balancerID == "" && listener != nil {
			balancerID = listener.balancerID
		}
	}
	if within != "" {
		if parent = svc.partOf(within, id(within+"_id")); parent == nil {
			return nil, nil, core.NotFound("", "%s %s not found.", strings.ToUpper(within[:1])+within[1:], id(within+"_id"))
		}
	}
	if parent != nil {
		balancerID = parent.balancerID
	}
	b, err := svc.findBalancer(q, balancerID)
	return b, parent, err
}

// checkPart checks the references of a new or changed part.
func (svc *Service) checkPart(q *core.Request, p *balancerPart) error {
	switch p.kind.key {
	case kindListener:
		return svc.poolExists(p.text("default_pool_id"))
	case kindPool:
		if listener := svc.partOf(kindListener, p.text("listener_id")); listener != nil && listener.text("default_pool_id") != "" {
			return core.Conflict("", "This listener already has a default pool")
		}
	case kindMember:
		if id := p.text("subnet_id"); id != "" && svc.visibleSubnet(q.Identity, id) == nil {
			return core.BadRequest("", "Subnet %s not found.", id)
		}
	case kindHealthMonitor:
		return checkMonitor(p)
	case kindPolicy:
		if p.text("action") == "REDIRECT_TO_POOL" && p.text("redirect_pool_id") == "" {
			return core.BadRequest("", "Invalid L7 Policy arguments: redirect_pool_id or redirect_pool must not be None")
		}
		return svc.poolExists(p.text("redirect_pool_id"))
	}
	return nil
}

func (svc *Service) poolExists(id string) error {
	if id != "" && svc.partOf(kindPool, id) == nil {
		return core.NotFound("", "Pool %s not found.", id)
	}
	return nil
}

// checkMonitor sets the defaults of HTTP requests, and refuses their attributes for other types.
func checkMonitor(p *balancerPart) error {
	pages := strings.HasPrefix(p.text("type"), "HTTP")
	for _, a := range []struct{ name, fallback string }{{"http_method", "GET"}, {"url_path", "/"}, {"expected_codes", "200"}} {
		switch given := p.text(a.name) != ""; {
		case pages && !given:
			p.set(a.name, a.fallback)
		case !pages && given:
			return core.BadRequest("", "%s is not a valid option for health monitors of type %s", a.name, p.text("type"))
		}
	}
	return nil
}

// checkNotPending refuses a change during another one.
func (svc *Service) checkNotPending(b *LoadBalancer, p *balancerPart) *wire.Error {
	parent := svc.parts.Get(p.parentID)
	if parent != nil && parent.kind.key != kindListener && parent.provisioning != lbActive {
		return core.Conflict("", "%s %s is immutable and cannot be updated.", pathTitle(parent.kind.key), parent.id)
	}
	if b.ProvisioningStatus != lbActive {
		return core.Conflict("", "Load Balancer %s is immutable and cannot be updated.", b.ID)
	}
	return nil
}

// checkDuplicate refuses a second part where only one may exist.
func (svc *Service) checkDuplicate(p *balancerPart) error {
	same := func(o *balancerPart, names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return o.attrs[name] != p.attrs[name] })
	}
	for _, o := range svc.parts.Rows {
		if o.kind.key != p.kind.key || o.balancerID != p.balancerID || o.parentID != p.parentID {
			continue
		}
		switch {
		case p.kind.key == kindListener && same(o, "protocol_port") && transportOf(o) == transportOf(p):
			return core.Conflict("", "Another Listener on this Load Balancer is already using protocol %s and protocol_port %v",
				o.text("protocol"), p.attrs["protocol_port"])
		case p.kind.key == kindMember && same(o, "address", "protocol_port"):
			return core.Conflict("", "Another member on this pool is already using ip %s on protocol_port %v", p.text("address"), p.attrs["protocol_port"])
		case p.kind.key == kindHealthMonitor:
			return core.Conflict("", "This pool already has a health monitor")
		}
	}
	return nil
}

// transportOf is the transport protocol of a listener's protocol.
func transportOf(p *balancerPart) string {
	if protocol := p.text("protocol"); protocol == "UDP" || protocol == "SCTP" {
		return protocol
	}
	return "TCP"
}

func (svc *Service) addPart(b *LoadBalancer, p *balancerPart) {
	if p.kind.key == kindPolicy && p.attrs["position"] == nil {
		p.set("position", len(svc.childrenOf(p.parentID, kindPolicy))+1)
	}
	svc.parts.Add(p)
	switch p.kind.key {
	case kindListener:
		b.Listeners = core.With(b.Listeners, Ref{ID: p.id})
	case kindPool:
		b.Pools = core.With(b.Pools, Ref{ID: p.id})
		if listener := svc.partOf(kindListener, p.text("listener_id")); listener != nil {
			listener.set("default_pool_id", p.id)
		}
		p.set("listener_id", nil)
	}
}

// affected are the parts that are pending while one changes: itself, those that contain it, and the listeners that use it.
func (svc *Service) affected(p *balancerPart) []*balancerPart {
	out := []*balancerPart{p}
	if p.kind.key == kindPool {
		out = append(out, svc.listenersOf(p)...)
	}
	if parent := svc.parts.Get(p.parentID); parent != nil {
		out = append(out, svc.affected(parent)...)
	}
	return out
}

func (svc *Service) updatePart(q *core.Request, k *partKind) (core.Reply, error) {
	if _, missing := svc.parentInPath(q, k); missing != nil {
		return *missing, nil
	}
	attrs, invalid := k.read(q.Body, true)
	if invalid != nil {
		return core.Reply{}, invalid
	}
	p, b, err := svc.findPart(q, k, q.Path("id"))
	if err != nil {
		return core.Reply{}, err
	}
	changed := *p
	changed.attrs = maps.Clone(p.attrs)
	maps.Copy(changed.attrs, attrs)
	if err := svc.checkPart(q, &changed); err != nil {
		return core.Reply{}, err
	}
	if err := svc.checkNotPending(b, p); err != nil {
		return core.Reply{}, err
	}
	p.attrs, p.updated = changed.attrs, octaviaTime(svc.Now())
	for _, o := range svc.affected(p) {
		o.provisioning = lbPendingUpdate
	}
	view := svc.partView(p)
	svc.changeBalancer(b)
	return core.OK(map[string]any{k.key: view})
}

func (svc *Service) deletePart(q *core.Request, k *partKind) (core.Reply, error) {
	if _, missing := svc.parentInPath(q, k); missing != nil {
		return *missing, nil
	}
	p, b, err := svc.findPart(q, k, q.Path("id"))
	if err != nil {
		return core.Reply{}, err
	}
	redirectsToPool := func(o *balancerPart) bool { return o.kind.key == kindPolicy && o.text("redirect_pool_id") == p.id }
	if policy := svc.parts.First(redirectsToPool); policy != nil {
		return core.Reply{}, core.Conflict("", "Pool %s is in use by L7 policy %s", p.id, policy.id)
	}
	if err := svc.checkNotPending(b, p); err != nil {
		return core.Reply{}, err
	}
	for _, o := range svc.affected(p) {
		o.provisioning = lbPendingUpdate
	}
	p.provisioning = lbPendingDelete
	svc.changeBalancer(b)
	return core.NoContent()
}

// dropPart deletes a part with those that it contains.
func (svc *Service) dropPart(b *LoadBalancer, p *balancerPart) {
	for _, inside := range svc.parts.Where(func(o *balancerPart) bool { return o.parentID == p.id }) {
		svc.dropPart(b, inside)
	}
	for _, listener := range svc.listenersOf(p) {
		listener.set("default_pool_id", nil)
	}
	gone := func(r Ref) bool { return r.ID == p.id }
	b.Listeners, b.Pools = core.Without(b.Listeners, gone), core.Without(b.Pools, gone)
	svc.parts.Remove(p.id)
}
