package octavia

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// balancerPart is a listener, pool, member, health monitor, policy or rule.
type balancerPart struct {
	kind       *partKind
	id         string
	balancerID string
	// parentID is the pool of a member or health monitor, the listener of a policy, the policy of a rule.
	parentID                string
	attrs                   map[string]any // replaced as a whole
	provisioning, operating string
	created, updated        string
}

func (p *balancerPart) text(name string) string {
	text, _ := p.attrs[name].(string)
	return text
}

func (p *balancerPart) set(name string, value any) {
	changed := map[string]any{name: value}
	for key, old := range p.attrs {
		if key != name {
			changed[key] = old
		}
	}
	p.attrs = changed
}

func (svc *Service) registerBalancerParts(e core.Endpoint, base string) {
	for _, k := range partKinds() {
		svc.Route(e, "GET "+base+k.path, func(q *core.Request) (core.Reply, error) { return svc.listParts(q, k) })
		svc.Route(e, "POST "+base+k.path, func(q *core.Request) (core.Reply, error) { return svc.createPart(q, k) })
		svc.Route(e, "GET "+base+k.path+"/{id}", func(q *core.Request) (core.Reply, error) { return svc.showPart(q, k) })
		svc.Route(e, "PUT "+base+k.path+"/{id}", func(q *core.Request) (core.Reply, error) { return svc.updatePart(q, k) })
		svc.Route(e, "DELETE "+base+k.path+"/{id}", func(q *core.Request) (core.Reply, error) { return svc.deletePart(q, k) })
	}
	svc.Route(e, "PUT "+base+"/pools/{parent}/members", svc.replaceMembers)
}

// partOf returns a part of a kind, or nil.
func (svc *Service) partOf(kind, id string) *balancerPart {
	if p := svc.parts.Get(id); p != nil && p.kind.key == kind {
		return p
	}
	return nil
}

func (svc *Service) findPart(q *core.Request, k *partKind, id string) (*balancerPart, *LoadBalancer, error) {
	p := svc.partOf(k.key, id)
	if p == nil || q.Path("parent") != "" && q.Path("parent") != p.parentID {
		return nil, nil, core.NotFound("", "%s %s not found.", k.title, id)
	}
	b, err := svc.findBalancer(q, p.balancerID)
	return p, b, err
}

// parentInPath returns the part whose path contains that of a request, if there is one. If it does not exist, Octavia does not use its usual error
// format.
func (svc *Service) parentInPath(q *core.Request, k *partKind) (*balancerPart, *core.Reply) {
	id := q.Path("parent")
	if id == "" {
		return nil, nil
	}
	kind := kindPool
	if k.key == kindRule {
		kind = kindPolicy
	}
	parent := svc.partOf(kind, id)
	if parent == nil {
		return nil, frameworkError(http.StatusNotFound, "Bad Request", fmt.Sprintf("%s %s not found.", pathTitle(kind), id))
	}
	return parent, nil
}

// frameworkError is an error in the format of the framework below Octavia.
func frameworkError(status int, title, description string) *core.Reply {
	return &core.Reply{Status: status, Body: map[string]any{"code": status, "title": title, "description": description}}
}

func (svc *Service) childrenOf(parentID, kind string) []*balancerPart {
	return svc.parts.Where(func(p *balancerPart) bool { return p.parentID == parentID && p.kind.key == kind })
}

func (svc *Service) listenersOf(pool *balancerPart) []*balancerPart {
	return svc.parts.Where(func(p *balancerPart) bool {
		return p.kind.key == kindListener && p.text("default_pool_id") == pool.id
	})
}

func refs(parts []*balancerPart) []Ref {
	out := []Ref{}
	for _, p := range parts {
		out = append(out, Ref{ID: p.id})
	}
	return out
}

// partView is a part on the wire.
func (svc *Service) partView(p *balancerPart) map[string]any {
	view := p.kind.shown(p.attrs)
	projectID := svc.Balancers.Get(p.balancerID).ProjectID
	view["id"], view["project_id"], view["tenant_id"] = p.id, projectID, projectID
	view["provisioning_status"], view["operating_status"] = p.provisioning, p.operating
	view["created_at"], view["updated_at"] = p.created, core.Null(p.updated)
	switch p.kind.key {
	case kindListener:
		view["loadbalancers"], view["l7policies"] = []Ref{{ID: p.balancerID}}, refs(svc.childrenOf(p.id, kindPolicy))
	case kindPool:
		view["loadbalancers"], view["listeners"] = []Ref{{ID: p.balancerID}}, refs(svc.listenersOf(p))
		view["members"] = refs(svc.childrenOf(p.id, kindMember))
		view["session_persistence"] = persistence(p.attrs["session_persistence"])
		for _, monitor := range svc.childrenOf(p.id, kindHealthMonitor) {
			view["healthmonitor_id"] = monitor.id
		}
	case kindHealthMonitor:
		view["pools"] = []Ref{{ID: p.parentID}}
	case kindPolicy:
		view["rules"] = refs(svc.childrenOf(p.id, kindRule))
	}
	return view
}

func persistence(sent any) any {
	attrs, given := sent.(map[string]any)
	if !given {
		return nil
	}
	return map[string]any{
		"type": attrs["type"], "cookie_name": attrs["cookie_name"],
		"persistence_timeout": attrs["persistence_timeout"], "persistence_granularity": attrs["persistence_granularity"],
	}
}

func (svc *Service) showPart(q *core.Request, k *partKind) (core.Reply, error) {
	if _, missing := svc.parentInPath(q, k); missing != nil {
		return *missing, nil
	}
	p, _, err := svc.findPart(q, k, q.Path("id"))
	if err != nil {
		return core.Reply{}, err
	}
	return core.OK(map[string]any{k.key: svc.partView(p)})
}

func (svc *Service) listParts(q *core.Request, k *partKind) (core.Reply, error) {
	parent, missing := svc.parentInPath(q, k)
	if missing != nil {
		return *missing, nil
	}
	if parent != nil {
		if _, err := svc.findBalancer(q, parent.balancerID); err != nil {
			return core.Reply{}, err
		}
	}
	if err := checkBalancerRole(q, listedProject(q)); err != nil {
		return core.Reply{}, err
	}
	if err := k.checkFilters(q); err != nil {
		return core.Reply{}, err
	}
	page, err := octaviaPage(svc, q, svc.parts.Where(func(p *balancerPart) bool {
		return p.kind.key == k.key && p.parentID == cmp.Or(q.Path("parent"), p.parentID) && svc.listed(q, p)
	}), svc.parts.ID)
	if err != nil {
		return core.Reply{}, err
	}
	views := []map[string]any{}
	for _, p := range page.Rows {
		views = append(views, svc.partView(p))
	}
	return core.ListReply(k.many, views, page.Links, q)
}

func (k *partKind) checkFilters(q *core.Request) *wire.Error {
	known := []string{"id", "project_id", "provisioning_status", "operating_status", "created_at", "updated_at", "sort"}
	for name := range q.Values {
		isAttribute := slices.ContainsFunc(k.attributes, func(a octaviaAttribute) bool { return a.name == name && !a.hidden })
		if !isAttribute && !core.Reserved(name) && !slices.Contains(known, name) && !slices.Contains(k.listedBy, name) {
			return invalidFilter()
		}
	}
	return nil
}

// listed reports whether a list contains the part.
func (svc *Service) listed(q *core.Request, p *balancerPart) bool {
	if !lists(q, svc.Balancers.Get(p.balancerID).ProjectID) {
		return false
	}
	view := svc.partView(p)
	view["loadbalancer_id"], view["load_balancer_id"], view["pool_id"] = p.balancerID, p.balancerID, p.parentID
	for name, wanted := range q.Values {
		if core.Reserved(name) || name == "sort" {
			continue
		}
		if !slices.ContainsFunc(wanted, func(s string) bool { return strings.EqualFold(s, fmt.Sprint(view[name])) }) {
			return false
		}
	}
	return true
}
