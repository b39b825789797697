package fake

import (
	"encoding/json"
	"maps"
	"slices"
)

// balancerPart is a listener, pool, member or health monitor. The cloud keeps what was sent and adds the rest.
type balancerPart struct {
	id, kind   string
	balancerID string
	poolID     string // of a member
	attrs      map[string]any
}

// partKind is how one kind of part appears in the API.
type partKind struct {
	one, many string
	path      string
	required  []string
}

func partKinds() []partKind {
	return []partKind{
		{one: "listener", many: "listeners", path: "/listeners", required: []string{"protocol", "protocol_port"}},
		{one: "pool", many: "pools", path: "/pools", required: []string{"protocol", "lb_algorithm"}},
		{one: "member", many: "members", path: "/pools/{pool}/members", required: []string{"address", "protocol_port"}},
		{one: "healthmonitor", many: "healthmonitors", path: "/healthmonitors", required: []string{"type", "delay", "timeout", "max_retries"}},
	}
}

func (c *Cloud) registerBalancerParts(e endpoint, base string) {
	for _, k := range partKinds() {
		c.route(e, "GET "+base+k.path, func(q *request) (reply, error) { return c.listParts(q, k) })
		c.route(e, "POST "+base+k.path, func(q *request) (reply, error) { return c.createPart(q, k) })
		c.route(e, "GET "+base+k.path+"/{id}", func(q *request) (reply, error) {
			p, _, err := c.findPart(q, k, q.path("id"))
			if err != nil {
				return reply{}, err
			}
			return ok(map[string]any{k.one: c.partView(p)})
		})
		c.route(e, "PUT "+base+k.path+"/{id}", func(q *request) (reply, error) { return c.updatePart(q, k) })
		c.route(e, "DELETE "+base+k.path+"/{id}", func(q *request) (reply, error) { return c.deletePart(q, k) })
	}
}

func (c *Cloud) findPart(q *request, k partKind, id string) (*balancerPart, *LoadBalancer, error) {
	p := c.octavia.parts.get(id)
	if p == nil || p.kind != k.one {
		return nil, nil, notFound("", "%s %s not found.", k.one, id)
	}
	b, err := c.findBalancer(q, p.balancerID)
	if err != nil {
		return nil, nil, notFound("", "%s %s not found.", k.one, id)
	}
	return p, b, nil
}

// partView is a part on the wire. Its status is that of its load balancer.
func (c *Cloud) partView(p *balancerPart) map[string]any {
	view := maps.Clone(p.attrs)
	b := c.octavia.balancers.get(p.balancerID)
	view["id"], view["project_id"] = p.id, b.ProjectID
	view["provisioning_status"], view["operating_status"] = b.ProvisioningStatus, b.OperatingStatus
	if p.kind != "member" {
		view["loadbalancers"] = []Ref{{ID: b.ID}}
	}
	return view
}

func (c *Cloud) listParts(q *request, k partKind) (reply, error) {
	out := []any{}
	for _, p := range c.octavia.parts.rows {
		b := c.octavia.balancers.get(p.balancerID)
		name, _ := p.attrs["name"].(string)
		if p.kind != k.one || !q.owns(b.ProjectID) || p.poolID != q.path("pool") {
			continue
		}
		if wanted := q.values.Get("name"); wanted != "" && wanted != name {
			continue
		}
		if wanted := q.values.Get("loadbalancer_id"); wanted != "" && wanted != b.ID {
			continue
		}
		out = append(out, c.partView(p))
	}
	return ok(map[string]any{k.many: out})
}

func (c *Cloud) createPart(q *request, k partKind) (reply, error) {
	raw, found := unwrap(q.body, k.one)
	var attrs map[string]any
	if !found || json.Unmarshal(raw, &attrs) != nil {
		return reply{}, badRequest("", "Invalid input for field/attribute %s. Mandatory field missing.", k.one)
	}
	for _, name := range k.required {
		if attrs[name] == nil {
			return reply{}, badRequest("", "Invalid input for field/attribute %s. Value: 'None'. Mandatory field missing.", name)
		}
	}
	b, err := c.balancerOf(q, attrs)
	if err != nil {
		return reply{}, err
	}
	if err := changeable(b); err != nil {
		return reply{}, err
	}
	samePort := func(p *balancerPart) bool {
		return p.kind == k.one && p.balancerID == b.ID && p.attrs["protocol_port"] == attrs["protocol_port"] && p.attrs["protocol"] == attrs["protocol"]
	}
	if k.one == "listener" && c.octavia.parts.first(samePort) != nil {
		return reply{}, conflict("", "Another Listener on this Load Balancer is already using protocol_port %v", attrs["protocol_port"])
	}
	p := &balancerPart{id: newUUID(), kind: k.one, balancerID: b.ID, poolID: q.path("pool"), attrs: attrs}
	c.octavia.parts.add(p)
	switch k.one {
	case "listener":
		b.Listeners = with(b.Listeners, Ref{ID: p.id})
	case "pool":
		b.Pools = with(b.Pools, Ref{ID: p.id})
	}
	c.changeBalancer(b)
	return created(map[string]any{k.one: c.partView(p)})
}

// balancerOf is the load balancer that a new part belongs to, named directly or by another part.
func (c *Cloud) balancerOf(q *request, attrs map[string]any) (*LoadBalancer, error) {
	if id, isSet := attrs["loadbalancer_id"].(string); isSet {
		return c.findBalancer(q, id)
	}
	for _, id := range []any{attrs["listener_id"], attrs["pool_id"], q.path("pool")} {
		text, _ := id.(string)
		if p := c.octavia.parts.get(text); p != nil {
			return c.findBalancer(q, p.balancerID)
		}
	}
	return nil, notFound("", "Pool %s not found.", q.path("pool"))
}

func (c *Cloud) updatePart(q *request, k partKind) (reply, error) {
	p, b, err := c.findPart(q, k, q.path("id"))
	if err != nil {
		return reply{}, err
	}
	if err := changeable(b); err != nil {
		return reply{}, err
	}
	raw, found := unwrap(q.body, k.one)
	var attrs map[string]any
	if !found || json.Unmarshal(raw, &attrs) != nil {
		return reply{}, badRequest("", "Invalid input for field/attribute %s. Mandatory field missing.", k.one)
	}
	changed := maps.Clone(p.attrs)
	maps.Copy(changed, attrs)
	p.attrs = changed
	c.changeBalancer(b)
	return ok(map[string]any{k.one: c.partView(p)})
}

func (c *Cloud) deletePart(q *request, k partKind) (reply, error) {
	p, b, err := c.findPart(q, k, q.path("id"))
	if err != nil {
		return reply{}, err
	}
	if err := changeable(b); err != nil {
		return reply{}, err
	}
	inside := c.octavia.parts.where(func(o *balancerPart) bool { return o.poolID == p.id || o.attrs["pool_id"] == p.id })
	for _, o := range append(slices.Clip(inside), p) {
		c.octavia.parts.remove(o.id)
	}
	gone := func(r Ref) bool { return r.ID == p.id }
	b.Listeners, b.Pools = without(b.Listeners, gone), without(b.Pools, gone)
	c.changeBalancer(b)
	return noContent()
}
