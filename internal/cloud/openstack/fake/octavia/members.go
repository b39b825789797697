package octavia

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// replaceMembers replaces the members of a pool by those in the body: existing ones, by address and port, are changed, others created, and the rest
// removed unless the caller sets additive_only.
func (svc *Service) replaceMembers(q *core.Request) (core.Reply, error) {
	k := svc.kinds[slices.IndexFunc(svc.kinds, func(k *partKind) bool { return k.key == kindMember })]
	pool, missing := svc.parentInPath(q, k)
	if missing != nil {
		return *missing, nil
	}
	wanted, err := readMembers(q, k)
	if err != nil {
		return core.Reply{}, err
	}
	b, err := svc.findBalancer(q, pool.balancerID)
	if err != nil {
		return core.Reply{}, err
	}
	if err := svc.checkNotPending(b, &balancerPart{kind: k, parentID: pool.id}); err != nil {
		return core.Reply{}, err
	}
	old := svc.childrenOf(pool.id, kindMember)
	if len(wanted)+len(old) == 0 {
		return core.Accepted(nil)
	}
	kept := map[string]bool{}
	for _, attrs := range wanted {
		kept[socketOf(attrs)] = true
		at := slices.IndexFunc(old, func(p *balancerPart) bool { return socketOf(p.attrs) == socketOf(attrs) })
		if at >= 0 {
			changed := maps.Clone(old[at].attrs)
			maps.Copy(changed, withoutKeys(attrs, "subnet_id"))
			old[at].attrs, old[at].provisioning = changed, lbPendingUpdate
			continue
		}
		p := svc.newPart(kindMember, b, pool.id, attrs)
		if err := svc.checkPart(q, p); err != nil {
			return core.Reply{}, err
		}
		svc.addPart(b, p)
	}
	if !strings.EqualFold(q.Values.Get("additive_only"), "true") {
		for _, p := range old {
			if !kept[socketOf(p.attrs)] {
				p.provisioning = lbPendingDelete
			}
		}
	}
	for _, o := range svc.affected(pool) {
		o.provisioning = lbPendingUpdate
	}
	svc.changeBalancer(b)
	return core.Reply{Status: http.StatusAccepted}, nil
}

func readMembers(q *core.Request, k *partKind) ([]map[string]any, error) {
	var body struct {
		Members []map[string]any `json:"members"`
	}
	if json.Unmarshal(q.Body, &body) != nil {
		return nil, core.BadRequest("", "Request is not in valid JSON format")
	}
	for _, attrs := range body.Members {
		if err := checkOctavia(attrs, k.attributes, "members_.members", false); err != nil {
			return nil, err
		}
	}
	return body.Members, nil
}

// socketOf identifies a member in its pool.
func socketOf(attrs map[string]any) string {
	return fmt.Sprint(attrs["address"], " ", attrs["protocol_port"])
}
