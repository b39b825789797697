package dashboards

// documentJSON is a dashboard in Plutono's form.
type documentJSON struct {
	Title         string                 `json:"title"`
	UID           string                 `json:"uid"`
	Tags          []string               `json:"tags"`
	SchemaVersion int                    `json:"schemaVersion"`
	Version       int                    `json:"version"`
	Editable      bool                   `json:"editable"`
	GraphTooltip  int                    `json:"graphTooltip"`
	Refresh       string                 `json:"refresh"`
	Timezone      string                 `json:"timezone"`
	Time          timeJSON               `json:"time"`
	Annotations   listJSON[struct{}]     `json:"annotations"`
	Templating    listJSON[variableJSON] `json:"templating"`
	Panels        []panelJSON            `json:"panels"`
}

type timeJSON struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type listJSON[T any] struct {
	List []T `json:"list"`
}

type variableJSON struct {
	Name       string      `json:"name"`
	Label      string      `json:"label"`
	Type       string      `json:"type"`
	Datasource string      `json:"datasource"`
	Query      string      `json:"query"`
	Definition string      `json:"definition"`
	Refresh    int         `json:"refresh"`
	Sort       int         `json:"sort"`
	Multi      bool        `json:"multi"`
	IncludeAll bool        `json:"includeAll"`
	AllValue   string      `json:"allValue"`
	Current    currentJSON `json:"current"`
}

type currentJSON struct {
	Text     []string `json:"text"`
	Value    []string `json:"value"`
	Selected bool     `json:"selected"`
}

type panelJSON struct {
	ID            int          `json:"id"`
	Type          string       `json:"type"`
	Title         string       `json:"title"`
	Description   string       `json:"description"`
	Datasource    string       `json:"datasource"`
	GridPos       gridJSON     `json:"gridPos"`
	Fill          int          `json:"fill"`
	Linewidth     int          `json:"linewidth"`
	Lines         bool         `json:"lines"`
	NullPointMode string       `json:"nullPointMode"`
	Legend        legendJSON   `json:"legend"`
	Tooltip       tooltipJSON  `json:"tooltip"`
	Targets       []targetJSON `json:"targets"`
	XAxis         axisJSON     `json:"xaxis"`
	YAxes         []axisJSON   `json:"yaxes"`
}

type gridJSON struct {
	Height int `json:"h"`
	Width  int `json:"w"`
	X      int `json:"x"`
	Y      int `json:"y"`
}

type legendJSON struct {
	Show   bool `json:"show"`
	Values bool `json:"values"`
}

type tooltipJSON struct {
	Shared    bool   `json:"shared"`
	Sort      int    `json:"sort"`
	ValueType string `json:"value_type"` //nolint:tagliatelle // Plutono's name
}

type targetJSON struct {
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
	Format       string `json:"format"`
	RefID        string `json:"refId"`
}

type axisJSON struct {
	Mode   string `json:"mode,omitempty"`
	Format string `json:"format,omitempty"`
	Min    string `json:"min,omitempty"`
	Show   bool   `json:"show"`
}
