// Package dashboards describes what Plutono shows of the controllers: one dashboard for each chart, and one for the landscape. The command dashboards
// writes them into the charts. It must not know how charts are rendered.
package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Placeholders in the JSON of a dashboard. A chart replaces them, since the names depend on its release.
const (
	// Registration stands for the name of the registration.
	Registration = "$(registration)"
	// UID stands for the dashboard's unique ID.
	UID = "$(uid)"
	// Datasource stands for the data source of Plutono that has the metrics.
	Datasource = "$(datasource)"
	// Job stands for the job of the metrics, which is the name of the Service.
	Job = "$(job)"
)

// gardenDatasource is the data source of the garden's Plutono.
const gardenDatasource = "prometheus-garden"

// File is a dashboard as it lies in a chart.
type File struct {
	// Path is relative to the folder of all charts.
	Path string
	// Content is JSON in which placeholders are left to replace.
	Content []byte
}

// Files returns all dashboards.
func Files() ([]File, error) {
	all := append(slices.Concat(controllers(), secondaries()), dashboard{
		path: "admission/runtime/dashboards/landscape.json", title: "Trellis: landscape", uid: "trellis-landscape", datasource: gardenDatasource,
		variables: []variable{{name: "seed", label: "Seed", query: `label_values(seed:trellis_replicas:count, seed)`}},
		panels:    landscape(),
	})
	files := make([]File, 0, len(all))
	for _, d := range all {
		content, err := d.encode()
		if err != nil {
			return nil, fmt.Errorf("encoding dashboard %s: %w", d.path, err)
		}
		files = append(files, File{Path: d.path, Content: content})
	}
	return files, nil
}

// dashboard is what differs between dashboards.
type dashboard struct {
	path, title, uid, datasource string
	variables                    []variable
	panels                       []panel
}

// variable is a selection at the top of a dashboard, of any number of values.
type variable struct{ name, label, query string }

// panel is one graph.
type panel struct {
	title, description string
	// unit is a unit of Plutono, such as "s" or "short".
	unit    string
	queries []query
}

// query is one expression of PromQL. legend names its series, by labels in double braces.
type query struct{ expr, legend string }

// encode returns the dashboard in the form of schema version 27, Plutono's.
func (d dashboard) encode() ([]byte, error) {
	document := documentJSON{
		Title: d.title, UID: d.uid, Tags: []string{"trellis", "extension"}, SchemaVersion: 27, Version: 1, Editable: true,
		GraphTooltip: 1, Refresh: "1m", Timezone: "utc", Time: timeJSON{From: "now-3h", To: "now"},
		Annotations: listJSON[struct{}]{List: []struct{}{}}, Templating: listJSON[variableJSON]{List: []variableJSON{}},
	}
	for _, v := range d.variables {
		document.Templating.List = append(document.Templating.List, variableJSON{
			Name: v.name, Label: v.label, Type: "query", Datasource: d.datasource, Query: v.query, Definition: v.query,
			Refresh: 2, Sort: 1, Multi: true, IncludeAll: true, AllValue: ".*",
			Current: currentJSON{Text: []string{"All"}, Value: []string{"$__all"}, Selected: true},
		})
	}
	for i, p := range d.panels {
		document.Panels = append(document.Panels, p.encode(i, d.datasource))
	}
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(document)
	return content.Bytes(), err
}

// encode returns the graph at an index: two are in a row.
func (p panel) encode(index int, datasource string) panelJSON {
	const width, height = 12, 8
	graph := panelJSON{
		ID: index + 1, Type: "graph", Title: p.title, Description: p.description, Datasource: datasource,
		GridPos: gridJSON{Height: height, Width: width, X: width * (index % 2), Y: height * (index / 2)},
		Fill:    1, Linewidth: 1, Lines: true, NullPointMode: "null", Legend: legendJSON{Show: true},
		Tooltip: tooltipJSON{Shared: true, Sort: 2, ValueType: "individual"},
		XAxis:   axisJSON{Mode: "time", Show: true},
		YAxes:   []axisJSON{{Format: p.unit, Min: "0", Show: true}, {Format: "short"}},
	}
	for i, q := range p.queries {
		graph.Targets = append(graph.Targets, targetJSON{Expr: q.expr, LegendFormat: q.legend, Format: "time_series", RefID: string(rune('A' + i))})
	}
	return graph
}
