package charts

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/charts/dashboards"
)

// TestMonitoring_Queries parses every expression of alerts, sums and dashboards, and compares the metrics and labels in it with those that there are. It
// also asserts that Prometheus keeps what is asked for, and nothing else.
func TestMonitoring_Queries(t *testing.T) {
	known := knownMetrics(t)
	for title, objects := range monitored(t) {
		t.Run(title, func(t *testing.T) {
			queries := slices.Concat(expressionsOf(rulesOf(t, objects)), panelsOf(t, objects))
			require.Greater(t, len(queries), 10)
			kept, asked := keptMetrics(t, objects), map[string]bool{}
			for _, query := range queries {
				assertQuery(t, query, known)
				for _, metric := range metricsOf(t, serviceOf(t, objects), query) {
					asked[metric] = true
					if metric != "up" && !strings.HasPrefix(metric, calls) {
						assert.Regexp(t, kept, metric, query)
					}
				}
			}
			for metric := range strings.SplitSeq(strings.Trim(kept.String(), "^($)"), "|") {
				assert.True(t, asked[metric], "nobody asks for %s", metric)
			}
		})
	}
}

// The dashboard of the landscape asks for sums that charts in seeds compute, and for what runs in the garden. All of these are asked for.
func TestMonitoring_Landscape(t *testing.T) {
	known, sums := knownMetrics(t), map[string]bool{}
	for _, name := range chartsWithMonitoring() {
		objects := renderedFor(t, name)
		if !isInLandscape(name) {
			assert.Empty(t, sumsOf(t, objects), "%s runs in the garden", name)
			continue
		}
		for metric, labels := range sumsOf(t, objects) {
			known[metric], sums[metric] = labels, true
			assert.Regexp(t, `^seed:trellis_[a-z_]+:(sum|count)$`, metric, "the garden's Prometheus takes only such sums")
		}
		federated, _, err := unstructured.NestedStringSlice(only(t, objects, "ScrapeConfig").Object, "spec", "params", "match[]")
		require.NoError(t, err)
		assert.Equal(t, []string{`{__name__=~"seed:trellis_.+",registration="` + strings.TrimPrefix(serviceOf(t, objects), "gardener-extension-") + `"}`}, federated)
	}
	queries := landscapeOf(t, renderedFor(t, AdmissionRuntime))
	require.NotEmpty(t, queries)
	for _, query := range queries {
		assertQuery(t, query, known)
		for metric := range sums {
			if strings.Contains(query, metric) {
				delete(sums, metric)
			}
		}
	}
	assert.Empty(t, sums, "sums that no panel shows")
}

// What is generated for the charts is in them.
func TestDashboards_Generated(t *testing.T) {
	files, err := dashboards.Files()
	require.NoError(t, err)
	want := map[string]bool{}
	for _, file := range files {
		want[file.Path] = true
		compareFile(t, filepath.FromSlash(file.Path), string(file.Content))
	}
	for _, pattern := range []string{"*/dashboards/*.json", "*/*/dashboards/*.json"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range found {
			assert.True(t, want[filepath.ToSlash(path)], "%s is not generated", path)
		}
	}
}

// The query that a test of queries must refuse.
func TestMonitoring_UnknownNames(t *testing.T) {
	known := map[string][]string{"a_total": {"code"}, "h": {"code"}}
	for query, want := range map[string]string{
		`sum by (code) (rate(a_total[5m]))`:                                "",
		`histogram_quantile(0.9, sum by (le, code) (rate(h_bucket[5m])))`:  "",
		`sum by (code) (rate(b_total[5m]))`:                                "b_total: there is no such metric",
		`sum by (kode) (rate(a_total[5m]))`:                                `kode: none of a_total has this label`,
		`a_total{kode="1"}`:                                                "kode: a_total has no such label",
		`a_total / on (kode) a_total`:                                      `kode: none of a_total has this label`,
		`sum by (le) (a_total)`:                                            `le: none of a_total has this label`,
		`label_replace(a_total, "kode", "$1", "cod", "(.*)") and sum by (`: "parse error",
	} {
		problem := problemOf(query, known)
		if want == "" {
			assert.NoError(t, problem, query)
		} else {
			assert.ErrorContains(t, problem, want, query)
		}
	}
}

// docs/operations/monitoring.md lists each alert with its severity.
func TestMonitoring_Page(t *testing.T) {
	page, err := os.ReadFile("../docs/operations/monitoring.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| (\\S*)").FindAllStringSubmatch(string(page), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			rows[strings.Trim(name, "`")] = row[2]
		}
	}
	for _, objects := range monitored(t) {
		for _, rule := range alertRulesOf(t, objects) {
			alert, _, err := unstructured.NestedString(rule, "alert")
			require.NoError(t, err)
			severity, _, err := unstructured.NestedString(rule, "labels", "severity")
			require.NoError(t, err)
			assert.Contains(t, []string{"critical", "warning"}, severity)
			short := regexp.MustCompile(`^Trellis(ControllerInstallation|ControlPlane|Infrastructure|Network|Worker|Admission)`).ReplaceAllString(alert, "")
			assert.Equal(t, severity, rows[short], "%s as %s", alert, short)
		}
	}
}

// An API server asks again after 429, so that the object is not refused: nobody has to get up for it.
func TestMonitoring_WebhookAlerts(t *testing.T) {
	const prefix = "sum by (webhook) (rate(trellis_webhook_requests_total{"
	for name, want := range map[string]map[string]string{
		"controlplane-controller":   {"failed": "critical", "busy": "warning"},
		"worker-controller":         {"failed": "critical", "busy": "warning"},
		AdmissionRuntime:            {"busy": "warning"}, // what failed is counted by API servers
		"infrastructure-controller": {},
	} {
		t.Run(name, func(t *testing.T) {
			severities := map[string]string{}
			for _, rule := range alertRulesOf(t, renderedFor(t, name)) {
				query, _, err := unstructured.NestedString(rule, "expr")
				require.NoError(t, err)
				if selector, ok := strings.CutPrefix(query, prefix); ok {
					match := regexp.MustCompile(`result="(.*?)"`).FindStringSubmatch(selector)
					require.NotNil(t, match, query)
					severities[match[1]], _, err = unstructured.NestedString(rule, "labels", "severity")
					require.NoError(t, err)
				}
			}
			assert.Equal(t, want, severities)
		})
	}
}

// calls is the beginning of metrics by which API servers count what became of their calls. Prometheus keeps them without being told.
const calls = "apiserver_admission_webhook_"

// chartsWithMonitoring are all but those that are rights only.
func chartsWithMonitoring() []string {
	return append(Names(), AdmissionRuntime, InstallationSeed, InstallationRuntime)
}

// monitored returns the objects of all charts with alerts, by what they install.
func monitored(t *testing.T) map[string][]*unstructured.Unstructured {
	t.Helper()
	all := map[string][]*unstructured.Unstructured{}
	for _, name := range chartsWithMonitoring() {
		all[name] = renderedFor(t, name)
	}
	for _, name := range observing() {
		title := secondaryPrefix + name
		all[title] = alertCase{secondary: true}.rendered(t, title)
	}
	return all
}

// isInLandscape reports whether a chart runs in seeds.
func isInLandscape(name string) bool { return slices.Contains(append(Names(), InstallationSeed), name) }

// renderedFor returns the objects of a chart where it is installed most of the time.
func renderedFor(t *testing.T, name string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, usualValues(name)))
	require.NoError(t, err)
	return objects
}

func serviceOf(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	return only(t, objects, "Service").GetName()
}

// metricsOf returns the names that a query asks for, and asserts that it asks this process alone, or about its webhooks.
func metricsOf(t *testing.T, service, query string) []string {
	t.Helper()
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	require.NoError(t, err, query)
	var names []string
	for _, selector := range parser.ExtractSelectors(expression) {
		name := nameIn(selector)
		names = append(names, name)
		about := `job="` + service + `"`
		if strings.HasPrefix(name, calls) {
			about = `name=~".+[.]` + strings.TrimPrefix(service, "gardener-extension-") + `[.]extensions[.]gardener[.]cloud"`
		}
		assert.True(t, slices.ContainsFunc(selector, func(m *labels.Matcher) bool { return m.String() == about }), "%s does not select %s", query, about)
	}
	return names
}

func expressionsOf(rules []map[string]any) []string {
	queries := make([]string, 0, len(rules))
	for _, rule := range rules {
		queries = append(queries, fmt.Sprint(rule["expr"]))
	}
	return queries
}

// alertRulesOf returns the rules with an alert.
func alertRulesOf(t *testing.T, objects []*unstructured.Unstructured) []map[string]any {
	t.Helper()
	return slices.DeleteFunc(rulesOf(t, objects), func(rule map[string]any) bool { return rule["alert"] == nil })
}

// sumsOf returns the names of what rules record, with the labels of the series.
func sumsOf(t *testing.T, objects []*unstructured.Unstructured) map[string][]string {
	t.Helper()
	sums := map[string][]string{}
	for _, rule := range rulesOf(t, objects) {
		if rule["record"] == nil {
			continue
		}
		expression, err := parser.NewParser(parser.Options{}).ParseExpr(fmt.Sprint(rule["expr"]))
		require.NoError(t, err)
		aggregation, ok := expression.(*parser.AggregateExpr)
		require.True(t, ok, "%v is recorded of one aggregation, so that its labels are known", rule["record"])
		added, _, err := unstructured.NestedStringMap(rule, "labels")
		require.NoError(t, err)
		sums[fmt.Sprint(rule["record"])] = slices.Concat(aggregation.Grouping, slices.Collect(maps.Keys(added)), []string{"seed"})
	}
	return sums
}

func rulesOf(t *testing.T, objects []*unstructured.Unstructured) []map[string]any {
	t.Helper()
	groups, _, err := unstructured.NestedSlice(only(t, objects, "PrometheusRule").Object, "spec", "groups")
	require.NoError(t, err)
	var all []map[string]any
	for _, group := range groups {
		rules, _, err := unstructured.NestedSlice(group.(map[string]any), "rules")
		require.NoError(t, err)
		for _, rule := range rules {
			all = append(all, rule.(map[string]any))
		}
	}
	return all
}

// panelsOf returns the queries of the chart's own dashboard.
func panelsOf(t *testing.T, objects []*unstructured.Unstructured) []string {
	t.Helper()
	return queriesOf(t, objects, serviceOf(t, objects)+".json")
}

// landscapeOf returns the queries of the dashboard of the landscape.
func landscapeOf(t *testing.T, objects []*unstructured.Unstructured) []string {
	t.Helper()
	return queriesOf(t, objects, "trellis-landscape.json")
}

func queriesOf(t *testing.T, objects []*unstructured.Unstructured, document string) []string {
	t.Helper()
	config := only(t, slices.DeleteFunc(slices.Clone(objects), func(object *unstructured.Unstructured) bool {
		return object.GetKind() == "ConfigMap" && object.GetNamespace() != "garden" // that of a secondary marks its installation
	}), "ConfigMap")
	documents, _, err := unstructured.NestedStringMap(config.Object, "data")
	require.NoError(t, err)
	require.NotContains(t, documents[document], "$(", "a placeholder was not replaced")
	var dashboard struct {
		UID    string `json:"uid"`
		Panels []struct {
			Title      string `json:"title"`
			Datasource string `json:"datasource"`
			Targets    []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	require.NoError(t, json.Unmarshal([]byte(documents[document]), &dashboard))
	assert.LessOrEqual(t, len(dashboard.UID), 40, "Plutono refuses longer ones")
	datasource := "prometheus-seed"
	if config.GetLabels()["dashboard.monitoring.gardener.cloud/garden"] == "true" {
		datasource = "prometheus-garden"
	}
	var queries []string
	for _, panel := range dashboard.Panels {
		assert.NotEmpty(t, panel.Targets, panel.Title)
		assert.Equal(t, datasource, panel.Datasource, "the data source of %s, which has the metrics", panel.Title)
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	return queries
}

func keptMetrics(t *testing.T, objects []*unstructured.Unstructured) *regexp.Regexp {
	t.Helper()
	endpoints, _, err := unstructured.NestedSlice(only(t, objects, "ServiceMonitor").Object, "spec", "endpoints")
	require.NoError(t, err)
	require.Len(t, endpoints, 1)
	relabelings, _, err := unstructured.NestedSlice(endpoints[0].(map[string]any), "metricRelabelings")
	require.NoError(t, err)
	require.Len(t, relabelings, 1)
	return regexp.MustCompile(relabelings[0].(map[string]any)["regex"].(string))
}

func only(t *testing.T, objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() == kind {
			found = append(found, object)
		}
	}
	require.Len(t, found, 1, kind)
	return found[0]
}
