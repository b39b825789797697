package fake

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// Flavor is a Nova flavor. RAM is in MiB, Disk in GiB.
type Flavor struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	VCPUs      int               `json:"vcpus"`
	RAM        int               `json:"ram"`
	Disk       int               `json:"disk"`
	Ephemeral  int               `json:"OS-FLV-EXT-DATA:ephemeral"`
	ExtraSpecs map[string]string `json:"extra_specs,omitempty"` // shown since 2.61
}

func (svc *novaService) registerFlavors(e endpoint) {
	svc.novaRoute(e, "GET /flavors", func(q *request, micro int) (reply, error) {
		return svc.listFlavors(q, micro, func(f *Flavor) any { return f.brief(q, micro) })
	})
	svc.novaRoute(e, "GET /flavors/detail", func(q *request, micro int) (reply, error) {
		return svc.listFlavors(q, micro, func(f *Flavor) any { return f.view(q, micro) })
	})
	svc.novaRoute(e, "GET /flavors/{id}", func(q *request, micro int) (reply, error) {
		f := svc.flavors.Get(q.path("id"))
		if f == nil {
			return reply{}, noFlavor(q.path("id"))
		}
		return ok(map[string]any{"flavor": f.view(q, micro)})
	})
	svc.novaRoute(e, "GET /flavors/{id}/os-extra_specs", func(q *request, _ int) (reply, error) {
		f := svc.flavors.Get(q.path("id"))
		if f == nil {
			return reply{}, noFlavor(q.path("id"))
		}
		return ok(map[string]any{"extra_specs": f.specs()})
	})
	svc.novaRoute(e, "POST /flavors", svc.createFlavor)
	svc.novaRoute(e, "DELETE /flavors/{id}", func(q *request, _ int) (reply, error) {
		if !q.admin() {
			return reply{}, policyForbids("os-flavor-manage:delete")
		}
		if svc.flavors.Get(q.path("id")) == nil {
			return reply{}, noFlavor(q.path("id"))
		}
		svc.flavors.Remove(q.path("id"))
		return accepted(nil)
	})
}

func (svc *novaService) createFlavor(q *request, micro int) (reply, error) {
	rule := schema.Object([]string{"flavor"}, schema.Attribute("flavor", schema.OpenObject([]string{"name", "ram", "vcpus", "disk"},
		schema.Attribute("name", schema.Name), schema.Attribute("ram", schema.Number(1)), schema.Attribute("vcpus", schema.Number(1)), schema.Attribute("disk", schema.Number(0)),
	)))
	if err := schema.Validate(q.body, rule); err != nil {
		return reply{}, err
	}
	if !q.admin() {
		return reply{}, policyForbids("os-flavor-manage:create")
	}
	var in struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		RAM  int    `json:"ram"`
		CPUs int    `json:"vcpus"`
		Disk int    `json:"disk"`
	}
	if raw, _ := core.Unwrap(q.body, "flavor"); json.Unmarshal(raw, &in) != nil {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	for _, f := range svc.flavors.Rows {
		switch {
		case f.Name == in.Name:
			return reply{}, core.Conflict("", "Flavor with name %s already exists.", f.Name)
		case f.ID == in.ID:
			return reply{}, core.Conflict("", "Flavor with ID %s already exists.", f.ID)
		}
	}
	f := svc.flavors.Add(&Flavor{ID: cmp.Or(in.ID, core.NewUUID()), Name: in.Name, VCPUs: in.CPUs, RAM: in.RAM, Disk: in.Disk})
	return ok(map[string]any{"flavor": f.view(q, micro)})
}

func noFlavor(id string) error { return core.NotFound("", "Flavor %s could not be found.", id) }

// flavorSortKeys are the columns by which Nova sorts flavors, as far as the fake has them.
func flavorSortKeys() map[string]func(a, b *Flavor) int {
	return map[string]func(a, b *Flavor) int{
		"flavorid":  func(a, b *Flavor) int { return strings.Compare(a.ID, b.ID) },
		"name":      func(a, b *Flavor) int { return strings.Compare(a.Name, b.Name) },
		"memory_mb": func(a, b *Flavor) int { return a.RAM - b.RAM },
		"root_gb":   func(a, b *Flavor) int { return a.Disk - b.Disk },
		"vcpus":     func(a, b *Flavor) int { return a.VCPUs - b.VCPUs },
	}
}

// listFlavors filters by the least sizes alone.
func (svc *novaService) listFlavors(q *request, micro int, view func(*Flavor) any) (reply, error) {
	if micro >= 275 {
		if err := onlyParameters(q, "limit", "marker", "is_public", "minRam", "minDisk", "sort_key", "sort_dir"); err != nil {
			return reply{}, err
		}
	}
	order, known := flavorSortKeys()[cmp.Or(q.values.Get("sort_key"), "flavorid")]
	if !known {
		key := q.values.Get("sort_key")
		return reply{}, core.BadRequest("", "Invalid input for query parameters sort_key. Value: %s. '%s' is not one of %s", key, key,
			"['created_at', 'description', 'disabled', 'ephemeral_gb', 'flavorid', 'id', 'is_public', 'memory_mb', 'name', 'root_gb', "+
				"'rxtx_factor', 'swap', 'updated_at', 'vcpu_weight', 'vcpus']")
	}
	least := map[string]int{}
	for _, parameter := range []string{"minRam", "minDisk"} {
		value := q.values.Get(parameter)
		n, err := strconv.Atoi(cmp.Or(value, "0"))
		if err != nil {
			return reply{}, core.BadRequest("", "Invalid %s filter [%s]", parameter, value)
		}
		least[parameter] = n
	}
	rows := svc.flavors.Where(func(f *Flavor) bool { return f.RAM >= least["minRam"] && f.Disk >= least["minDisk"] })
	slices.SortStableFunc(rows, func(a, b *Flavor) int {
		if q.values.Get("sort_dir") == "desc" {
			a, b = b, a
		}
		return cmp.Or(order(a, b), strings.Compare(a.ID, b.ID))
	})
	part, err := novaPage(q, rows, svc.flavors.ID)
	if err != nil {
		return reply{}, err
	}
	out := []any{}
	for _, f := range part.rows {
		out = append(out, view(f))
	}
	body := map[string]any{"flavors": out}
	if part.links != nil {
		body["flavors_links"] = part.links
	}
	return ok(body)
}

func (f *Flavor) specs() map[string]string {
	if f.ExtraSpecs == nil {
		return map[string]string{}
	}
	return f.ExtraSpecs
}

func (f *Flavor) brief(q *request, micro int) map[string]any {
	view := map[string]any{"id": f.ID, "name": f.Name, "links": novaLinks(q, "flavors", f.ID)}
	if micro >= 255 {
		view["description"] = nil
	}
	return view
}

func (f *Flavor) view(q *request, micro int) map[string]any {
	view := f.brief(q, micro)
	maps.Copy(view, map[string]any{
		"vcpus": f.VCPUs, "ram": f.RAM, "disk": f.Disk, "swap": "", "rxtx_factor": json.Number("1.0"),
		"OS-FLV-EXT-DATA:ephemeral": f.Ephemeral, "OS-FLV-DISABLED:disabled": false, "os-flavor-access:is_public": true,
	})
	if micro >= 275 {
		view["swap"] = 0
	}
	if micro >= 261 {
		view["extra_specs"] = f.specs()
	}
	return view
}

// addFlavor adds a public flavor and returns its ID.
func (svc *novaService) addFlavor(f Flavor) string {
	if f.ID == "" {
		f.ID = core.NewUUID()
	}
	return svc.flavors.Add(&f).ID
}
