package fake

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// quotaAPI is a service's API by which operators set quotas, and projects read their own.
type quotaAPI struct {
	core.Endpoint
	path      string // its last part is {of}, the project that the quota is of
	key       string // around the quota in bodies
	resources []string
	// showsID is true if responses contain the project's ID.
	showsID bool
	// changed and removed are the response statuses of PUT and DELETE.
	changed, removed int
	// denied is the response to callers without the right to an action: show, update or delete.
	denied func(action string) *wire.Error
	// unknown is the response for a resource without a quota.
	unknown func(resource string) *wire.Error
	// body is checked first, where it is given.
	body schema.Rule
}

func quotaAPIs() []quotaAPI {
	return []quotaAPI{
		{
			Endpoint: core.Endpoint{Service: services.Neutron, Prefix: core.NeutronPrefix}, path: "/v2.0/quotas/{of}", key: "quota",
			resources: []string{
				"network", "subnet", "subnetpool", "port", "router", "floatingip", "security_group", "security_group_rule", "rbac_policy",
			},
			changed: http.StatusOK, removed: http.StatusNoContent,
			denied: func(action string) *wire.Error {
				return core.Forbidden("PolicyNotAuthorized", "rule:%s_quota is disallowed by policy", strings.Replace(action, "show", "get", 1))
			},
			unknown: func(resource string) *wire.Error {
				return core.BadRequest("HTTPBadRequest", "Unrecognized attribute(s) '%s'", resource)
			},
		},
		{
			Endpoint: core.Endpoint{Service: services.Nova, Prefix: core.NovaPrefix}, path: "/v2.1/os-quota-sets/{of}", key: "quota_set",
			resources: []string{"instances", "cores", "ram", "key_pairs", "server_groups"},
			showsID:   true, changed: http.StatusOK, removed: http.StatusAccepted,
			denied: func(action string) *wire.Error {
				return core.Forbidden("", "Policy doesn't allow os_compute_api:os-quota-sets:%s to be performed.", action)
			},
			body: schema.Object([]string{"quota_set"}, schema.Attribute("quota_set", schema.Object(nil,
				schema.Attribute("instances", schema.Number(core.Unlimited)), schema.Attribute("cores", schema.Number(core.Unlimited)), schema.Attribute("ram", schema.Number(core.Unlimited)),
				schema.Attribute("key_pairs", schema.Number(core.Unlimited)), schema.Attribute("server_groups", schema.Number(core.Unlimited)),
			))),
		},
		{
			Endpoint: core.Endpoint{Service: services.Cinder, Prefix: core.CinderPrefix}, path: "/v3/{project}/os-quota-sets/{of}", key: "quota_set",
			resources: []string{"volumes", "gigabytes"},
			showsID:   true, changed: http.StatusOK, removed: http.StatusOK,
			denied: func(action string) *wire.Error {
				return core.Forbidden("", "Policy doesn't allow volume_extension:quotas:%s to be performed.", action)
			},
			unknown: func(resource string) *wire.Error {
				return core.BadRequest("", "Invalid input received: Bad key(s) in quota set: %s", resource)
			},
		},
		{
			Endpoint: core.Endpoint{Service: services.Octavia, Prefix: core.OctaviaPrefix}, path: "/v2/lbaas/quotas/{of}", key: "quota",
			resources: []string{"load_balancer", "listener", "member", "pool", "health_monitor", "l7policy", "l7rule"},
			changed:   http.StatusAccepted, removed: http.StatusAccepted,
			denied: func(string) *wire.Error {
				return core.Forbidden("", "Policy does not allow this request to be performed.")
			},
			unknown: func(resource string) *wire.Error {
				return core.BadRequest("", "Unknown attribute for argument quotas.quota: %s", resource)
			},
		},
	}
}

func (c *Cloud) registerQuotas() {
	for _, api := range quotaAPIs() {
		c.core.Route(api.Endpoint, "GET "+api.path, func(q *core.Request) (core.Reply, error) {
			if !q.Owns(q.Path("of")) {
				return core.Reply{}, api.denied("show")
			}
			view := c.quotaView(&api, q.Path("of"))
			if api.showsID {
				view["id"] = q.Path("of")
			}
			return core.OK(map[string]any{api.key: view})
		})
		c.core.Route(api.Endpoint, "PUT "+api.path, func(q *core.Request) (core.Reply, error) { return c.changeQuota(&api, q) })
		c.core.Route(api.Endpoint, "DELETE "+api.path, func(q *core.Request) (core.Reply, error) { return c.removeQuota(&api, q) })
	}
}

func (c *Cloud) quotaView(api *quotaAPI, projectID string) map[string]any {
	view := map[string]any{}
	for _, resource := range api.resources {
		view[resource] = c.core.Limit(projectID, resource)
	}
	return view
}

func (c *Cloud) changeQuota(api *quotaAPI, q *core.Request) (core.Reply, error) {
	if api.body != nil {
		if err := schema.Validate(q.Body, api.body); err != nil {
			return core.Reply{}, err
		}
	}
	raw, found := core.Unwrap(q.Body, api.key)
	var limits map[string]int
	if !found || json.Unmarshal(raw, &limits) != nil {
		return core.Reply{}, core.BadRequest("", "'%s' is a required property", api.key)
	}
	for resource := range limits {
		if !slices.Contains(api.resources, resource) {
			return core.Reply{}, api.unknown(resource)
		}
	}
	if !q.Admin() {
		return core.Reply{}, api.denied("update")
	}
	for resource, limit := range limits {
		c.core.SetQuota(q.Path("of"), resource, limit)
	}
	return core.Reply{Status: api.changed, Body: map[string]any{api.key: c.quotaView(api, q.Path("of"))}}, nil
}

func (c *Cloud) removeQuota(api *quotaAPI, q *core.Request) (core.Reply, error) {
	if !q.Admin() {
		return core.Reply{}, api.denied("delete")
	}
	set := c.core.Quotas[q.Path("of")]
	had := false
	for _, resource := range api.resources {
		_, isSet := set[resource]
		had = had || isSet
		delete(set, resource)
	}
	if !had && api.Service == services.Neutron {
		return core.Reply{}, core.NotFound("TenantQuotaNotFound", "Quota for tenant %s could not be found.", q.Path("of"))
	}
	return core.Reply{Status: api.removed}, nil
}
