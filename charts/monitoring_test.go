package charts

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestMonitoring_Prometheus(t *testing.T) {
	for _, name := range append(Names(), AdmissionRuntime, InstallationSeed, InstallationRuntime) {
		t.Run(name, func(t *testing.T) {
			objects, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, usualValues(name)))
			require.NoError(t, err)
			queries := append(alertsOf(t, objects), panelsOf(t, objects)...)
			require.Greater(t, len(queries), 10)
			kept := keptMetrics(t, objects)
			promQL := parser.NewParser(parser.Options{})
			asked := map[string]bool{}
			for _, query := range queries {
				expression, err := promQL.ParseExpr(query)
				require.NoError(t, err, query)
				for _, metric := range metricsOf(t, serviceOf(t, objects), expression) {
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

// docs/operations/monitoring.md lists each alert with its severity, and each metric of ours that an alert or a dashboard uses.
func TestMonitoring_Page(t *testing.T) {
	page, err := os.ReadFile("../docs/operations/monitoring.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| (\\S*)").FindAllStringSubmatch(string(page), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			rows[strings.Trim(name, "`")] = row[2]
		}
	}
	for _, name := range append(Names(), AdmissionRuntime, InstallationSeed, InstallationRuntime) {
		objects, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, usualValues(name)))
		require.NoError(t, err)
		for _, rule := range rulesOf(t, objects) {
			alert, _, err := unstructured.NestedString(rule, "alert")
			require.NoError(t, err)
			severity, _, err := unstructured.NestedString(rule, "labels", "severity")
			require.NoError(t, err)
			short := regexp.MustCompile(`^Trellis(ControllerInstallation|ControlPlane|Infrastructure|Network|Worker|Admission)`).ReplaceAllString(alert, "")
			assert.Equal(t, severity, rows[short], "%s as %s", alert, short)
		}
		for _, query := range append(alertsOf(t, objects), panelsOf(t, objects)...) {
			for _, metric := range regexp.MustCompile(`trellis_[a-z_]+`).FindAllString(query, -1) {
				_, described := rows[regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(metric, "")]
				assert.True(t, described, "%s, of %s", metric, query)
			}
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
			objects, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, usualValues(name)))
			require.NoError(t, err)
			severities := map[string]string{}
			for _, rule := range rulesOf(t, objects) {
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

func serviceOf(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	return only(t, objects, "Service").GetName()
}

// metricsOf returns the names that an expression asks for, and makes sure that it asks this process alone, or about its webhooks.
func metricsOf(t *testing.T, service string, expression parser.Expr) []string {
	t.Helper()
	var names []string
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			names = append(names, selector.Name)
			about := `job="` + service + `"`
			if strings.HasPrefix(selector.Name, calls) {
				about = `name=~".+[.]` + strings.TrimPrefix(service, "gardener-extension-") + `[.]extensions[.]gardener[.]cloud"`
			}
			assert.Contains(t, selector.String(), about)
		}
		return nil
	})
	return names
}

func alertsOf(t *testing.T, objects []*unstructured.Unstructured) []string {
	t.Helper()
	var queries []string
	for _, rule := range rulesOf(t, objects) {
		query, _, err := unstructured.NestedString(rule, "expr")
		require.NoError(t, err)
		queries = append(queries, query)
		severity, _, err := unstructured.NestedString(rule, "labels", "severity")
		require.NoError(t, err)
		assert.Contains(t, []string{"critical", "warning"}, severity)
	}
	return queries
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

func panelsOf(t *testing.T, objects []*unstructured.Unstructured) []string {
	t.Helper()
	documents, _, err := unstructured.NestedStringMap(only(t, objects, "ConfigMap").Object, "data")
	require.NoError(t, err)
	var dashboard struct {
		UID    string `json:"uid"`
		Panels []struct {
			ID      int    `json:"id"`
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	require.NoError(t, json.Unmarshal([]byte(documents[serviceOf(t, objects)+".json"]), &dashboard))
	assert.LessOrEqual(t, len(dashboard.UID), 40, "Plutono refuses longer ones")
	var queries []string
	for _, panel := range dashboard.Panels {
		assert.NotEmpty(t, panel.Targets, panel.Title)
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
