package fake

import "slices"

// Flavor is a Nova flavor. RAM is in MiB, Disk in GiB.
type Flavor struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	VCPUs      int               `json:"vcpus"`
	RAM        int               `json:"ram"`
	Disk       int               `json:"disk"`
	Ephemeral  int               `json:"OS-FLV-EXT-DATA:ephemeral"`
	Swap       any               `json:"swap"` // "" before microversion 2.75, a number since
	RxTxFactor float64           `json:"rxtx_factor"`
	IsPublic   bool              `json:"os-flavor-access:is_public"`
	ExtraSpecs map[string]string `json:"extra_specs,omitempty"` // shown since 2.61
}

func (c *Cloud) registerFlavors(e endpoint) {
	c.novaRoute(e, "GET /flavors", func(*request, int) (reply, error) {
		out := []any{}
		for _, f := range c.nova.flavors.rows {
			out = append(out, map[string]any{"id": f.ID, "name": f.Name, "links": []any{}})
		}
		return ok(map[string]any{"flavors": out})
	})
	c.novaRoute(e, "GET /flavors/detail", func(q *request, micro int) (reply, error) {
		rows := c.nova.flavors.rows
		if marker := q.values.Get("marker"); marker != "" {
			rows = rows[slices.IndexFunc(rows, func(f *Flavor) bool { return f.ID == marker })+1:]
		}
		out := []Flavor{}
		for _, f := range rows {
			out = append(out, f.view(micro))
		}
		return ok(map[string]any{"flavors": out})
	})
	c.novaRoute(e, "GET /flavors/{id}", func(q *request, micro int) (reply, error) {
		f := c.nova.flavors.get(q.path("id"))
		if f == nil {
			return reply{}, notFound("", "Flavor %s could not be found.", q.path("id"))
		}
		return ok(map[string]any{"flavor": f.view(micro)})
	})
	c.novaRoute(e, "GET /flavors/{id}/os-extra_specs", func(q *request, _ int) (reply, error) {
		f := c.nova.flavors.get(q.path("id"))
		if f == nil {
			return reply{}, notFound("", "Flavor %s could not be found.", q.path("id"))
		}
		specs := f.ExtraSpecs
		if specs == nil {
			specs = map[string]string{}
		}
		return ok(map[string]any{"extra_specs": specs})
	})
}

func (f *Flavor) view(micro int) Flavor {
	out := *f
	out.Swap = ""
	if micro >= 275 {
		out.Swap = 0
	}
	if micro < 261 {
		out.ExtraSpecs = nil
	}
	return out
}

// AddFlavor adds a public flavor and returns its ID.
func (c *Cloud) AddFlavor(f Flavor) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.ID == "" {
		f.ID = newUUID()
	}
	f.IsPublic, f.RxTxFactor = true, 1
	return c.nova.flavors.add(&f).ID
}
