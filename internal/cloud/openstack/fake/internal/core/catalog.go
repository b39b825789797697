package core

import (
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// catalogEntry is a service in the catalog.
type catalogEntry struct {
	service           wire.Service
	kind, name        string
	prefix, versioned string // path below the cloud's URL, and the version that a versioned catalog adds
	alwaysVersioned   bool   // some services have their version in every installation
	perProject        bool   // the path ends with the project's ID
}

func catalogEntries() []catalogEntry {
	return []catalogEntry{
		{service: services.Keystone, kind: "identity", name: "keystone", prefix: KeystonePrefix, versioned: "/v3"},
		{service: services.Neutron, kind: "network", name: "neutron", prefix: NeutronPrefix, versioned: "/v2.0"},
		{service: services.Nova, kind: "compute", name: "nova", prefix: NovaPrefix, versioned: "/v2.1", alwaysVersioned: true},
		{service: services.Glance, kind: "image", name: "glance", prefix: GlancePrefix, versioned: "/v2"},
		{service: services.Octavia, kind: "load-balancer", name: "octavia", prefix: OctaviaPrefix, versioned: "/v2.0"},
		{service: services.Manila, kind: "sharev2", name: "manilav2", prefix: ManilaPrefix, versioned: "/v2", alwaysVersioned: true},
		{service: services.Cinder, kind: "volumev3", name: "cinderv3", prefix: CinderPrefix, versioned: "/v3", alwaysVersioned: true, perProject: true},
	}
}

// Catalog returns the service catalog of a project, with the endpoints of all configured services.
func (c *Cloud) Catalog(base, projectID string) []map[string]any {
	out := []map[string]any{}
	for _, entry := range catalogEntries() {
		if !c.Config.has(entry.service) {
			continue
		}
		url := base + entry.prefix
		if entry.alwaysVersioned || c.Config.Catalog == Versioned {
			url += entry.versioned
		}
		if entry.perProject {
			url += "/" + projectID
		}
		endpoints := []map[string]any{}
		for _, region := range c.Config.Regions {
			for _, routerInterface := range []string{"public", "internal"} {
				endpoints = append(endpoints, map[string]any{
					"id":        NewHexID(),
					"interface": routerInterface, "region": region, "region_id": region, "url": url,
				})
			}
		}
		out = append(out, map[string]any{"id": string(entry.service), "type": entry.kind, "name": entry.name, "endpoints": endpoints})
	}
	return out
}

// ApiVersion is an entry of a version document.
type ApiVersion struct {
	ID, Status, Path string
	Most, Least      string // microversions
	Micro            bool   // the service tells microversions, if only that there are none
	Undated          bool   // the service does not tell since when the version is like this
	Documented       string // a further link, where there is one
}

// View returns the version as version documents have it.
func (v ApiVersion) View(base string) map[string]any {
	links := []any{map[string]any{"rel": "self", "href": base + "/" + v.Path}}
	if v.Documented != "" {
		links = append(links, map[string]any{"rel": "describedby", "type": "text/html", "href": v.Documented})
	}
	view := map[string]any{"id": v.ID, "status": v.Status, "links": links}
	if !v.Undated {
		view["updated"] = "2013-07-23T11:33:21Z"
	}
	if v.Micro {
		view["version"], view["min_version"] = v.Most, v.Least
	}
	return view
}

// VersionDocument is the response of most services at their root.
func VersionDocument(status int, prefix string, versions ...ApiVersion) Handler {
	return func(q *Request) (Reply, error) {
		out := []any{}
		for _, v := range versions {
			out = append(out, v.View(q.Base()+prefix))
		}
		return Reply{Status: status, Body: map[string]any{"versions": out}}, nil
	}
}

const CinderPrefix = "/volume"

const GlancePrefix = "/image"

const KeystonePrefix = "/identity"

const ManilaPrefix = "/share"

const NeutronPrefix = "/network"

const OctaviaPrefix = "/load-balancer"

const NovaPrefix = "/compute"

// PrefixOfService is the path of a service below the cloud's URL.
func PrefixOfService(s wire.Service) (string, bool) {
	for _, entry := range catalogEntries() {
		if entry.service == s {
			return entry.prefix, true
		}
	}
	return "", false
}
