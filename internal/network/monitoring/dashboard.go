package monitoring

import (
	"encoding/json"
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Dashboard is a dashboard of Plutono in short form: rows of panels.
type Dashboard struct {
	// UID has at most 40 characters.
	UID, Title string
	// Scope is a metric and Label its label. Users choose among the label's values, and queries refer to them by $ and the label.
	Scope, Label string
	Rows         []Row
}

// Row is a row of panels, which are all of one kind.
type Row struct {
	Title  string
	Panels []Panel
}

// Panel shows current numbers or time series.
type Panel struct {
	Title string
	// Unit is Plutono's name of it, e.g. "s" or "short".
	Unit    string
	Now     bool
	Queries []Query
}

// Query is an expression and the legend of its series.
type Query struct{ Expression, Legend string }

// TimeSeries is a panel with one query.
func TimeSeries(title, unit, expression, legend string) Panel {
	return Panel{Title: title, Unit: unit, Queries: []Query{{expression, legend}}}
}

// Stat is a panel with a count.
func Stat(title, expression string) Panel {
	return Panel{Title: title, Unit: "short", Now: true, Queries: []Query{{Expression: expression}}}
}

// Dashboards returns the ConfigMap in the shoot's namespace of the seed from which Plutono loads dashboards. They are by the names of their files: two files
// of the same name from two ConfigMaps would overwrite each other.
func Dashboards(name, namespace string, dashboards map[string]Dashboard) (*corev1.ConfigMap, error) {
	data := map[string]string{}
	for file, dashboard := range dashboards {
		content, err := dashboard.json()
		if err != nil {
			return nil, fmt.Errorf("writing dashboard %s: %w", file, err)
		}
		data[file] = content
	}
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace, Labels: map[string]string{v1beta1constants.LabelPrefixMonitoringDashboard + prometheusName: "true"},
		},
		Data: data,
	}, nil
}

const (
	// GridWidth is the width of all dashboards, in Plutono's unit.
	GridWidth = 24

	statHeight, timeSeriesHeight  = 4, 8
	statsPerRow, timeSeriesPerRow = 6, 2
	// dataSource is Gardener's name of the shoot's Prometheus in the shoot's Plutono.
	dataSource = "prometheus"
)

// PlutonoDashboard is the part of Plutono's model whose values differ from the defaults or have none.
type PlutonoDashboard struct {
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
func (d Dashboard) json() (string, error) {
	content, err := json.Marshal(PlutonoDashboard{
		UID: d.UID, Title: d.Title, Tags: []string{"network", "shoot"},
		// Plutono does not save dashboards that come from files, and shows crosshairs in all panels at once.
		SchemaVersion: 27, Editable: false, GraphTooltip: 1,
		Time: plutonoTime{From: "now-3h", To: "now"}, Timezone: "utc",
		Templating: plutonoTemplating{List: []plutonoVariable{d.variable()}},
		Panels:     d.panels(),
	})
	return string(content), err
}

// variable is queried again whenever the time range changes, as nodes and pods come and go.
func (d Dashboard) variable() plutonoVariable {
	values := "label_values(" + d.Scope + ", " + d.Label + ")"
	variable := plutonoVariable{
		Type: "query", Name: d.Label, Label: d.Label, DataSource: dataSource, Definition: values, Query: values,
		AllValue: ".*", IncludeAll: true, Multi: true, Refresh: 2, Sort: 1,
	}
	variable.Current.Text, variable.Current.Value = []string{"All"}, []string{"$__all"}
	return variable
}

// panels stacks rows and fills each from left to right. A row has panels of one kind.
func (d Dashboard) panels() []plutonoPanel {
	var placed []plutonoPanel
	y := 0
	for _, row := range d.Rows {
		placed = append(placed, plutonoPanel{
			ID: len(placed) + 1, Type: "row", Title: row.Title, GridPos: plutonoGridPos{Height: 1, Width: GridWidth, Y: y},
			Panels: []plutonoPanel{},
		})
		y++
		perLine, height := timeSeriesPerRow, timeSeriesHeight
		if row.Panels[0].Now {
			perLine, height = statsPerRow, statHeight
		}
		for i, panel := range row.Panels {
			shown := panel.json()
			shown.ID = len(placed) + 1
			shown.GridPos = plutonoGridPos{
				Height: height, Width: GridWidth / perLine, X: i % perLine * (GridWidth / perLine), Y: y + i/perLine*height,
			}
			placed = append(placed, shown)
		}
		y += (len(row.Panels) + perLine - 1) / perLine * height
	}
	return placed
}

func (p Panel) json() plutonoPanel {
	shown := plutonoPanel{Title: p.Title, DataSource: dataSource}
	for i, query := range p.Queries {
		shown.Targets = append(shown.Targets, plutonoTarget{
			Expression: query.Expression, Legend: query.Legend, RefID: string(rune('A' + i)), Instant: p.Now,
		})
	}
	if p.Now {
		shown.Type = "stat"
		shown.FieldConfig = &plutonoFieldConfig{Overrides: []struct{}{}}
		shown.FieldConfig.Defaults.Unit = p.Unit
		shown.Options = &plutonoOptions{GraphMode: "none"}
		shown.Options.ReduceOptions.Calcs = []string{"lastNotNull"}
		return shown
	}
	shown.Type, shown.Lines, shown.LineWidth, shown.NullPointMode, shown.Renderer = "graph", true, 1, "null", "flot"
	shown.Legend = &plutonoLegend{Show: true, AlignAsTable: true, Values: true, Current: true, Max: true, RightSide: true}
	shown.Tooltip = &plutonoTooltip{Shared: true, Sort: 2, ValueType: "individual"}
	shown.XAxis = &plutonoAxis{Mode: "time", Show: true}
	shown.YAxes = []plutonoAxis{{Format: p.Unit, Min: new(0), Show: true}, {Format: "short"}}
	return shown
}
