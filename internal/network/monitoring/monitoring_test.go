package monitoring

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDashboards(t *testing.T) {
	dashboard := Dashboard{UID: "example", Title: "Example", Scope: "up", Label: "node", Rows: []Row{
		{Title: "Now", Panels: []Panel{Stat("Up", `sum(up)`), Stat("Down", `count(up == 0)`)}},
		{Title: "Later", Panels: []Panel{TimeSeries("Up", "short", `up{node=~"$node"}`, "{{node}}"), TimeSeries("Again", "short", `up`, "{{node}}"), TimeSeries("Still", "short", `up`, "")}},
	}}
	object, err := Dashboards("example-dashboards", "shoot--dev--one", map[string]Dashboard{"example.json": dashboard})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"dashboard.monitoring.gardener.cloud/shoot": "true"}, object.Labels)
	assert.Equal(t, "shoot--dev--one", object.Namespace)
	var shown PlutonoDashboard
	require.NoError(t, json.Unmarshal([]byte(object.Data["example.json"]), &shown))
	var places [][4]int
	for i, panel := range shown.Panels {
		assert.Equal(t, i+1, panel.ID)
		places = append(places, [4]int{panel.GridPos.X, panel.GridPos.Y, panel.GridPos.Width, panel.GridPos.Height})
	}
	assert.Equal(t, [][4]int{
		{0, 0, GridWidth, 1}, {0, 1, 4, 4}, {4, 1, 4, 4}, // a row's title, and numbers
		{0, 5, GridWidth, 1}, {0, 6, 12, 8}, {12, 6, 12, 8}, {0, 14, 12, 8}, // a row's title, and time series in two lines
	}, places)
	require.Len(t, shown.Templating.List, 1)
	assert.Equal(t, "label_values(up, node)", shown.Templating.List[0].Query)
}

func TestScrapeConfig(t *testing.T) {
	object := ScrapeConfig("shoot--dev--one", Target{Name: "example", Job: "example-agent", Service: "agents", PortName: "metrics", Keep: "example_.+"})
	assert.Equal(t, ObjectName("example"), object.Name)
	assert.Equal(t, map[string]string{"prometheus": "shoot"}, object.Labels, "the shoot's Prometheus selects it")
	var kept []string
	for _, relabeling := range append(object.Spec.RelabelConfigs, object.Spec.MetricRelabelConfigs...) {
		if relabeling.Action == "keep" {
			kept = append(kept, relabeling.Regex)
		}
	}
	assert.Equal(t, []string{"agents;metrics", "example_.+"}, kept)
}

func TestRule(t *testing.T) {
	object := Rule("shoot--dev--one", "example", []Alert{{
		Name: "ExampleDown", Expression: "up == 0", Wait: "15m", Severity: "critical", Visibility: "all", Summary: "Down.", Description: "It is down.",
	}})
	assert.Equal(t, "shoot-example", object.Name)
	require.Len(t, object.Spec.Groups, 1)
	require.Len(t, object.Spec.Groups[0].Rules, 1)
	rule := object.Spec.Groups[0].Rules[0]
	assert.Equal(t, map[string]string{"service": "example", "severity": "critical", "type": "shoot", "visibility": "all"}, rule.Labels)
	assert.Equal(t, map[string]string{"summary": "Down.", "description": "It is down."}, rule.Annotations)
	assert.EqualValues(t, "15m", *rule.For)
}
