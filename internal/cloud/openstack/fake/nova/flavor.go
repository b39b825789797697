package nova

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

func (svc *Service) registerFlavors(e core.Endpoint) {
	svc.novaRoute(e, "GET /flavors", func(q *core.Request, micro int) (core.Reply, error) {
		return svc.listFlavors(q, micro, func(f *Flavor) any { return f.brief(q, micro) })
	})
	svc.novaRoute(e, "GET /flavors/detail", func(q *core.Request, micro int) (core.Reply, error) {
		return svc.listFlavors(q, micro, func(f *Flavor) any { return f.view(q, micro) })
	})
	svc.novaRoute(e, "GET /flavors/{id}", func(q *core.Request, micro int) (core.Reply, error) {
		f := svc.flavors.Get(q.Path("id"))
		if f == nil {
			return core.Reply{}, noFlavor(q.Path("id"))
		}
		return core.OK(map[string]any{"flavor": f.view(q, micro)})
	})
	svc.novaRoute(e, "GET /flavors/{id}/os-extra_specs", func(q *core.Request, _ int) (core.Reply, error) {
		f := svc.flavors.Get(q.Path("id"))
		if f == nil {
			return core.Reply{}, noFlavor(q.Path("id"))
		}
		return core.OK(map[string]any{"extra_specs": f.specs()})
	})
	svc.novaRoute(e, "POST /flavors", svc.createFlavor)
	svc.novaRoute(e, "DELETE /flavors/{id}", func(q *core.Request, _ int) (core.Reply, error) {
		if !q.Admin() {
			return core.Reply{}, policyForbids("os-flavor-manage:delete")
		}
		if svc.flavors.Get(q.Path("id")) == nil {
			return core.Reply{}, noFlavor(q.Path("id"))
		}
		svc.flavors.Remove(q.Path("id"))
		return core.Accepted(nil)
	})
}

func (svc *Service) createFlavor(q *core.Request, micro int) (core.Reply, error) {
	rule := schema.Object([]string{"flavor"}, schema.Attribute("flavor", schema.OpenObject([]string{"name", "ram", "vcpus", "disk"},
		schema.Attribute("name", schema.Name), schema.Attribute("ram", schema.Number(1)), schema.Attribute("vcpus", schema.Number(1)), schema.Attribute("disk", schema.Number(0)),
	)))
	if err := schema.Validate(q.Body, rule); err != nil {
		return core.Reply{}, err
	}
	if !q.Admin() {
		return core.Reply{}, policyForbids("os-flavor-manage:create")
	}
	var in struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		RAM  int    `json:"ram"`
		CPUs int    `json:"vcpus"`
		Disk int    `json:"disk"`
	}
	if raw, _ := core.Unwrap(q.Body, "flavor"); json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	for _, f := range svc.flavors.Rows {
		switch {
		case f.Name == in.Name:
			return core.Reply{}, core.Conflict("", "Flavor with name %s already exists.", f.Name)
		case f.ID == in.ID:
			return core.Reply{}, core.Conflict("", "Flavor with ID %s already exists.", f.ID)
		}
	}
	f := svc.flavors.Add(&Flavor{ID: cmp.Or(in.ID, core.NewUUID()), Name: in.Name, VCPUs: in.CPUs, RAM: in.RAM, Disk: in.Disk})
	return core.OK(map[string]any{"flavor": f.view(q, micro)})
}

func noFlavor(id string) error { return core.NotFound("", "Flavor %s could not be found.", id) }

// flavorSortKeys are the sort keys that the fake supports.
func flavorSortKeys() map[string]func(a, b *Flavor) int {
	return map[string]func(a, b *Flavor) int{
		"flavorid":  func(a, b *Flavor) int { return strings.Compare(a.ID, b.ID) },
		"name":      func(a, b *Flavor) int { return strings.Compare(a.Name, b.Name) },
		"memory_mb": func(a, b *Flavor) int { return a.RAM - b.RAM },
		"root_gb":   func(a, b *Flavor) int { return a.Disk - b.Disk },
		"vcpus":     func(a, b *Flavor) int { return a.VCPUs - b.VCPUs },
	}
}

// listFlavors filters by minimum sizes only.
func (svc *Service) listFlavors(q *core.Request, micro int, view func(*Flavor) any) (core.Reply, error) {
	if micro >= 275 {
		if err := onlyParameters(q, "limit", "marker", "is_public", "minRam", "minDisk", "sort_key", "sort_dir"); err != nil {
			return core.Reply{}, err
		}
	}
	order, known := flavorSortKeys()[cmp.Or(q.Values.Get("sort_key"), "flavorid")]
	if !known {
		key := q.Values.Get("sort_key")
		return core.Reply{}, core.BadRequest("", "Invalid input for query parameters sort_key. Value: %s. '%s' is not one of %s", key, key,
			"['created_at', 'description', 'disabled', 'ephemeral_gb', 'flavorid', 'id', 'is_public', 'memory_mb', 'name', 'root_gb', "+
				"'rxtx_factor', 'swap', 'updated_at', 'vcpu_weight', 'vcpus']")
	}
	least := map[string]int{}
	for _, parameter := range []string{"minRam", "minDisk"} {
		value := q.Values.Get(parameter)
		n, err := strconv.Atoi(cmp.Or(value, "0"))
		if err != nil {
			return core.Reply{}, core.BadRequest("", "Invalid %s filter [%s]", parameter, value)
		}
		least[parameter] = n
	}
	rows := svc.flavors.Where(func(f *Flavor) bool { return f.RAM >= least["minRam"] && f.Disk >= least["minDisk"] })
	slices.SortStableFunc(rows, func(a, b *Flavor) int {
		if q.Values.Get("sort_dir") == "desc" {
			a, b = b, a
		}
		return cmp.Or(order(a, b), strings.Compare(a.ID, b.ID))
	})
	part, err := novaPage(q, rows, svc.flavors.ID)
	if err != nil {
		return core.Reply{}, err
	}
	out := []any{}
	for _, f := range part.Rows {
		out = append(out, view(f))
	}
	body := map[string]any{"flavors": out}
	if part.Links != nil {
		body["flavors_links"] = part.Links
	}
	return core.OK(body)
}

func (f *Flavor) specs() map[string]string {
	if f.ExtraSpecs == nil {
		return map[string]string{}
	}
	return f.ExtraSpecs
}

func (f *Flavor) brief(q *core.Request, micro int) map[string]any {
	view := map[string]any{"id": f.ID, "name": f.Name, "links": novaLinks(q, "flavors", f.ID)}
	if micro >= 255 {
		view["description"] = nil
	}
	return view
}

func (f *Flavor) view(q *core.Request, micro int) map[string]any {
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

// AddFlavor adds a public flavor and returns its ID.
func (svc *Service) AddFlavor(f Flavor) string {
	if f.ID == "" {
		f.ID = core.NewUUID()
	}
	return svc.flavors.Add(&f).ID
}
