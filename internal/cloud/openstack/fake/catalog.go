package fake

import (
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// catalogEntry is how one service appears in the catalog.
type catalogEntry struct {
	service           wire.Service
	kind, name        string
	prefix, versioned string // path below the cloud's URL, and the version that a versioned catalog adds
	alwaysVersioned   bool   // some services have their version in every installation
	perProject        bool   // the path ends with the project's ID
}

func catalogEntries() []catalogEntry {
	return []catalogEntry{
		{service: wire.Keystone, kind: "identity", name: "keystone", prefix: keystonePrefix, versioned: "/v3"},
		{service: wire.Neutron, kind: "network", name: "neutron", prefix: neutronPrefix, versioned: "/v2.0"},
		{service: wire.Nova, kind: "compute", name: "nova", prefix: novaPrefix, versioned: "/v2.1", alwaysVersioned: true},
		{service: wire.Glance, kind: "image", name: "glance", prefix: glancePrefix, versioned: "/v2"},
		{service: wire.Octavia, kind: "load-balancer", name: "octavia", prefix: octaviaPrefix, versioned: "/v2.0"},
		{service: wire.Manila, kind: "sharev2", name: "manilav2", prefix: manilaPrefix, versioned: "/v2", alwaysVersioned: true},
		{service: wire.Cinder, kind: "volumev3", name: "cinderv3", prefix: cinderPrefix, versioned: "/v3", alwaysVersioned: true, perProject: true},
	}
}

func (c *shared) catalog(base, projectID string) []map[string]any {
	out := []map[string]any{}
	for _, entry := range catalogEntries() {
		if !c.config.has(entry.service) {
			continue
		}
		url := base + entry.prefix
		if entry.alwaysVersioned || c.config.catalog == Versioned {
			url += entry.versioned
		}
		if entry.perProject {
			url += "/" + projectID
		}
		endpoints := []map[string]any{}
		for _, region := range c.config.regions {
			for _, routerInterface := range []string{"public", "internal"} {
				endpoints = append(endpoints, map[string]any{
					"id":        core.NewHexID(),
					"interface": routerInterface, "region": region, "region_id": region, "url": url,
				})
			}
		}
		out = append(out, map[string]any{"id": string(entry.service), "type": entry.kind, "name": entry.name, "endpoints": endpoints})
	}
	return out
}

// apiVersion is an entry of a version document.
type apiVersion struct {
	id, status, path string
	most, least      string // microversions
	micro            bool   // the service tells microversions, if only that there are none
	undated          bool   // the service does not tell since when the version is like this
	documented       string // a further link, where there is one
}

func (v apiVersion) view(base string) map[string]any {
	links := []any{map[string]any{"rel": "self", "href": base + "/" + v.path}}
	if v.documented != "" {
		links = append(links, map[string]any{"rel": "describedby", "type": "text/html", "href": v.documented})
	}
	view := map[string]any{"id": v.id, "status": v.status, "links": links}
	if !v.undated {
		view["updated"] = "2013-07-23T11:33:21Z"
	}
	if v.micro {
		view["version"], view["min_version"] = v.most, v.least
	}
	return view
}

// versionDocument is what most services answer at their root.
func versionDocument(status int, prefix string, versions ...apiVersion) handler {
	return func(q *request) (reply, error) {
		out := []any{}
		for _, v := range versions {
			out = append(out, v.view(q.base()+prefix))
		}
		return reply{status: status, body: map[string]any{"versions": out}}, nil
	}
}

const cinderPrefix = "/volume"

const glancePrefix = "/image"

const keystonePrefix = "/identity"

const manilaPrefix = "/share"

const neutronPrefix = "/network"

const octaviaPrefix = "/load-balancer"

const novaPrefix = "/compute"

// prefixOfService is where a service lives below the cloud's URL.
func prefixOfService(s wire.Service) (string, bool) {
	for _, entry := range catalogEntries() {
		if entry.service == s {
			return entry.prefix, true
		}
	}
	return "", false
}
