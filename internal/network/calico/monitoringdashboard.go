package calico

import "encoding/json"

// dashboard is a dashboard of Plutono in short form: rows of panels.
type dashboard struct {
	uid, title string
	// scope is a metric and its label. Users choose among the label's values, and queries refer to them by $ and the label.
	scope, label string
	rows         []dashboardRow
}

type dashboardRow struct {
	title  string
	panels []panel
}

// panel shows current numbers or time series.
type panel struct {
	title string
	// unit is Plutono's name of it, e.g. "s" or "short".
	unit    string
	now     bool
	queries []query
}

// query is an expression and the legend of its series.
type query struct{ expression, legend string }

// timeSeries is a panel with one query.
func timeSeries(title, unit, expression, legend string) panel {
	return panel{title: title, unit: unit, queries: []query{{expression, legend}}}
}

// stat is a panel with a count.
func stat(title, expression string) panel {
	return panel{title: title, unit: "short", now: true, queries: []query{{expression: expression}}}
}

const (
	gridWidth, statHeight, timeSeriesHeight = 24, 4, 8
	statsPerRow, timeSeriesPerRow           = 6, 2
	// dataSource is Gardener's name of the shoot's Prometheus in the shoot's Plutono.
	dataSource = "prometheus"
)

// plutonoDashboard is the part of Plutono's model whose values differ from the defaults or have none.
type plutonoDashboard struct {
	UID           string            `json:"uid"`
	Title         string            `json:"title"`
	Tags          []string          `json:"tags"`
	SchemaVersion int               `json:"schemaVersion"`
	Editable      bool              `json:"editable"`
	GraphTooltip  int               `json:"graphTooltip"`
	Time          plutonoTime       `json:"time"`
	Timezone      string            `json:"timezone"`
	Templating    plutonoTemplating `json:"templating"`
	Panels        []plutonoPanel    `json:"panels"`
}

type plutonoTime struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type plutonoTemplating struct {
	List []plutonoVariable `json:"list"`
}

type plutonoVariable struct {
	Type       string `json:"type"`
	Name       string `json:"name"`
	Label      string `json:"label"`
	DataSource string `json:"datasource"`
	Definition string `json:"definition"`
	Query      string `json:"query"`
	AllValue   string `json:"allValue"`
	IncludeAll bool   `json:"includeAll"`
	Multi      bool   `json:"multi"`
	Refresh    int    `json:"refresh"`
	Sort       int    `json:"sort"`
	Current    struct {
		Text  []string `json:"text"`
		Value []string `json:"value"`
	} `json:"current"`
}

type plutonoPanel struct {
	ID            int                 `json:"id"`
	Type          string              `json:"type"`
	Title         string              `json:"title"`
	DataSource    string              `json:"datasource,omitempty"`
	GridPos       plutonoGridPos      `json:"gridPos"`
	FieldConfig   *plutonoFieldConfig `json:"fieldConfig,omitempty"`
	Options       *plutonoOptions     `json:"options,omitempty"`
	Targets       []plutonoTarget     `json:"targets,omitempty"`
	Lines         bool                `json:"lines,omitempty"`
	LineWidth     int                 `json:"linewidth,omitempty"`
	NullPointMode string              `json:"nullPointMode,omitempty"`
	Renderer      string              `json:"renderer,omitempty"`
	Legend        *plutonoLegend      `json:"legend,omitempty"`
	Tooltip       *plutonoTooltip     `json:"tooltip,omitempty"`
	XAxis         *plutonoAxis        `json:"xaxis,omitempty"`
	YAxes         []plutonoAxis       `json:"yaxes,omitempty"`
	// Panels are those of a collapsed row. Rows are not collapsed and have an empty list.
	Panels []plutonoPanel `json:"panels,omitzero"`
}

type plutonoGridPos struct {
	Height int `json:"h"`
	Width  int `json:"w"`
	X      int `json:"x"`
	Y      int `json:"y"`
}

type plutonoFieldConfig struct {
	Defaults struct {
		Unit string `json:"unit"`
	} `json:"defaults"`
	Overrides []struct{} `json:"overrides"`
}

type plutonoOptions struct {
	GraphMode     string `json:"graphMode"`
	ReduceOptions struct {
		Calcs []string `json:"calcs"`
	} `json:"reduceOptions"`
}

type plutonoTarget struct {
	Expression string `json:"expr"`
	Legend     string `json:"legendFormat"`
	RefID      string `json:"refId"`
	Instant    bool   `json:"instant,omitempty"`
}

type plutonoLegend struct {
	Show         bool `json:"show"`
	AlignAsTable bool `json:"alignAsTable"`
	Values       bool `json:"values"`
	Current      bool `json:"current"`
	Max          bool `json:"max"`
	RightSide    bool `json:"rightSide"`
}

type plutonoTooltip struct {
	Shared    bool   `json:"shared"`
	Sort      int    `json:"sort"`
	ValueType string `json:"value_type"`
}

type plutonoAxis struct {
	Format string `json:"format,omitempty"`
	Mode   string `json:"mode,omitempty"`
	Min    *int   `json:"min,omitempty"`
	Show   bool   `json:"show"`
}

// json returns the dashboard in Plutono's format.
func (d dashboard) json() (string, error) {
	content, err := json.Marshal(plutonoDashboard{
		UID: d.uid, Title: d.title, Tags: []string{"network", "shoot"},
		// Plutono does not save dashboards that come from files, and shows crosshairs in all panels at once.
		SchemaVersion: 27, Editable: false, GraphTooltip: 1,
		Time: plutonoTime{From: "now-3h", To: "now"}, Timezone: "utc",
		Templating: plutonoTemplating{List: []plutonoVariable{d.variable()}},
		Panels:     d.panels(),
	})
	return string(content), err
}

// variable is queried again whenever the time range changes, as nodes and pods come and go.
func (d dashboard) variable() plutonoVariable {
	values := "label_values(" + d.scope + ", " + d.label + ")"
	variable := plutonoVariable{
		Type: "query", Name: d.label, Label: d.label, DataSource: dataSource, Definition: values, Query: values,
		AllValue: ".*", IncludeAll: true, Multi: true, Refresh: 2, Sort: 1,
	}
	variable.Current.Text, variable.Current.Value = []string{"All"}, []string{"$__all"}
	return variable
}

// panels stacks rows and fills each from left to right. A row has panels of one kind.
func (d dashboard) panels() []plutonoPanel {
	var placed []plutonoPanel
	y := 0
	for _, row := range d.rows {
		placed = append(placed, plutonoPanel{
			ID: len(placed) + 1, Type: "row", Title: row.title, GridPos: plutonoGridPos{Height: 1, Width: gridWidth, Y: y},
			Panels: []plutonoPanel{},
		})
		y++
		perLine, height := timeSeriesPerRow, timeSeriesHeight
		if row.panels[0].now {
			perLine, height = statsPerRow, statHeight
		}
		for i, panel := range row.panels {
			shown := panel.json()
			shown.ID = len(placed) + 1
			shown.GridPos = plutonoGridPos{
				Height: height, Width: gridWidth / perLine, X: i % perLine * (gridWidth / perLine), Y: y + i/perLine*height,
			}
			placed = append(placed, shown)
		}
		y += (len(row.panels) + perLine - 1) / perLine * height
	}
	return placed
}

func (p panel) json() plutonoPanel {
	shown := plutonoPanel{Title: p.title, DataSource: dataSource}
	for i, query := range p.queries {
		shown.Targets = append(shown.Targets, plutonoTarget{
			Expression: query.expression, Legend: query.legend, RefID: string(rune('A' + i)), Instant: p.now,
		})
	}
	if p.now {
		shown.Type = "stat"
		shown.FieldConfig = &plutonoFieldConfig{Overrides: []struct{}{}}
		shown.FieldConfig.Defaults.Unit = p.unit
		shown.Options = &plutonoOptions{GraphMode: "none"}
		shown.Options.ReduceOptions.Calcs = []string{"lastNotNull"}
		return shown
	}
	shown.Type, shown.Lines, shown.LineWidth, shown.NullPointMode, shown.Renderer = "graph", true, 1, "null", "flot"
	shown.Legend = &plutonoLegend{Show: true, AlignAsTable: true, Values: true, Current: true, Max: true, RightSide: true}
	shown.Tooltip = &plutonoTooltip{Shared: true, Sort: 2, ValueType: "individual"}
	shown.XAxis = &plutonoAxis{Mode: "time", Show: true}
	shown.YAxes = []plutonoAxis{{Format: p.unit, Min: new(0), Show: true}, {Format: "short"}}
	return shown
}
