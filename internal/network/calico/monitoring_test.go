package calico

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/golden"
	"github.com/trellis-garden/trellis/internal/network/monitoring"
)

// monitoringSettings are shoots in which Calico consists of different parts.
func monitoringSettings() map[string]*settings {
	return map[string]*settings{
		"defaults": testSettings(nil),
		"ebpf-and-bird-exporter": testSettings(func(s *settings) {
			s.form.BPF, s.config.BirdExporter.Enabled = true, true
		}),
		"nftables-and-typha-unused": testSettings(func(s *settings) { s.form.NFTables, s.form.NodesUseTypha = true, false }),
		"without-typha":             testSettings(func(s *settings) { s.form.Typha, s.form.NodesUseTypha = false, false }),
	}
}

func TestMonitoringManifests(t *testing.T) {
	folder := golden.Open(t, "testdata/monitoring")
	for name, s := range monitoringSettings() {
		t.Run(name, func(t *testing.T) {
			objects, err := s.monitoringObjects()
			require.NoError(t, err)
			again, err := s.monitoringObjects()
			require.NoError(t, err)
			require.Equal(t, objects, again)
			for _, object := range objects {
				if dashboards, ok := object.(*corev1.ConfigMap); ok {
					for file, content := range dashboards.Data {
						// A line for each panel is still JSON, and can be read.
						dashboards.Data[file] = strings.ReplaceAll(content, `,{"id":`, ",\n{\"id\":") + "\n"
					}
				}
			}
			file, base := name+".diff", "defaults.yaml"
			if name == "defaults" {
				file, base = base, ""
			}
			checkManifest(t, folder, file, base, objects)
		})
	}
}

func TestScrapeTargets(t *testing.T) {
	for sentence, test := range map[string]struct {
		change           func(*settings)
		scraped, retired []string
	}{
		"Typha is there": {
			change:  func(*settings) {},
			scraped: []string{"shoot-calico-felix", "shoot-calico-typha"},
			retired: []string{"calico-monitoring-config", "shoot-calico-bird", "shoot-calico-bird-exporter"},
		},
		"no Typha": {
			change:  func(s *settings) { s.form.Typha = false },
			scraped: []string{"shoot-calico-felix"},
			retired: []string{"calico-monitoring-config", "shoot-calico-typha", "shoot-calico-bird", "shoot-calico-bird-exporter"},
		},
		"the exporter and BIRD": {
			change:  func(s *settings) { s.config.BirdExporter.Enabled = true },
			scraped: []string{"shoot-calico-felix", "shoot-calico-typha", "shoot-calico-bird"},
			retired: []string{"calico-monitoring-config", "shoot-calico-bird-exporter"},
		},
		"the exporter has no BIRD to look at": {
			change:  func(s *settings) { s.config.BirdExporter.Enabled, s.form.Backend = true, "vxlan" },
			scraped: []string{"shoot-calico-felix", "shoot-calico-typha"},
			retired: []string{"calico-monitoring-config", "shoot-calico-bird", "shoot-calico-bird-exporter"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := testSettings(test.change)
			objects, err := s.monitoringObjects()
			require.NoError(t, err)
			assert.Equal(t, append(test.scraped, "shoot-calico", "calico-dashboards"), namesIn(t, s.namespace, objects))
			assert.Equal(t, test.retired, namesIn(t, s.namespace, s.retiredSeedObjects()))
		})
	}
}

func namesIn(t *testing.T, namespace string, objects []client.Object) []string {
	t.Helper()
	names := make([]string, 0, len(objects))
	for _, object := range objects {
		assert.Equal(t, namespace, object.GetNamespace(), object.GetName())
		assert.NotEmpty(t, object.GetObjectKind().GroupVersionKind().Kind, object.GetName())
		names = append(names, object.GetName())
	}
	return names
}

// expressions returns every expression that alerts and dashboards have, by where it stands.
func expressions(t *testing.T, s *settings) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, alert := range s.alerts() {
		found["alert "+alert.Name] = alert.Expression
	}
	dashboards, err := s.dashboards()
	require.NoError(t, err)
	for file, content := range dashboards.Data {
		for _, panel := range readDashboard(t, content).Panels {
			for _, target := range panel.Targets {
				found[file+": "+panel.Title+" "+target.RefID] = target.Expression
			}
		}
	}
	return found
}

func readDashboard(t *testing.T, content string) monitoring.PlutonoDashboard {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(content))
	decoder.DisallowUnknownFields()
	var read monitoring.PlutonoDashboard
	require.NoError(t, decoder.Decode(&read))
	return read
}

var (
	quoted = regexp.MustCompile(`"[^"]*"`)
	metric = regexp.MustCompile(`\b(?:felix_|typha_|bird_|kube_)\w+|\bup\b`)
)

func TestMonitoring_MetricsExist(t *testing.T) {
	existing := existingMetrics(t)
	for _, s := range monitoringSettings() {
		kept := keptMetrics(s)
		for place, expression := range expressions(t, s) {
			names := metric.FindAllString(quoted.ReplaceAllString(expression, `""`), -1)
			assert.NotEmpty(t, names, place)
			for _, name := range names {
				if strings.HasPrefix(name, "kube_") || name == "up" {
					assert.NotEmpty(t, existing[name], "%s: %s", place, name)
					continue
				}
				kind := existing[name]
				if base, isPart := summaryPart(name); kind == "" && isPart {
					kind = existing[base]
				}
				assert.NotEmpty(t, kind, "%s: %s is not among the metrics that Calico and the exporter show", place, name)
				assert.Regexp(t, kept, name, place)
			}
			assert.Equal(t, existing[names[0]] == "summary", strings.Contains(expression, "quantile="),
				"%s: summaries, and nothing else, have quantiles", place)
		}
	}
}

// keptMetrics matches what Prometheus keeps of all targets. It anchors expressions at both ends.
func keptMetrics(s *settings) *regexp.Regexp {
	var patterns []string
	for _, target := range s.scrapeTargets() {
		patterns = append(patterns, target.Keep)
	}
	return regexp.MustCompile(`^(?:` + strings.Join(patterns, "|") + `)$`)
}

func summaryPart(name string) (string, bool) {
	if base, found := strings.CutSuffix(name, "_count"); found {
		return base, true
	}
	return strings.CutSuffix(name, "_sum")
}

// existingMetrics are those of the list that was taken from the sources, with their kinds.
func existingMetrics(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open("testdata/metrics.txt")
	require.NoError(t, err)
	defer file.Close()
	kinds := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 3 && fields[0] != "#" {
			kinds[fields[0]] = fields[1]
		}
	}
	require.Greater(t, len(kinds), 90)
	return kinds
}

func TestMonitoring_Expressions(t *testing.T) {
	closing := map[rune]rune{')': '(', ']': '[', '}': '{'}
	for name, s := range monitoringSettings() {
		for place, expression := range expressions(t, s) {
			assert.Zero(t, strings.Count(expression, `"`)%2, "%s, %s: %s", name, place, expression)
			var open []rune
			for _, character := range quoted.ReplaceAllString(expression, "") {
				switch character {
				case '(', '[', '{':
					open = append(open, character)
				case ')', ']', '}':
					if assert.NotEmpty(t, open, "%s, %s: %s", name, place, expression) {
						assert.Equal(t, closing[character], open[len(open)-1], "%s, %s: %s", name, place, expression)
						open = open[:len(open)-1]
					}
				}
			}
			assert.Empty(t, open, "%s, %s: %s", name, place, expression)
		}
	}
}

func TestAlerts(t *testing.T) {
	aggregated := regexp.MustCompile(`^(?:max|count) by \(([^)]*)\)`)
	label := regexp.MustCompile(`\$labels\.(\w+)`)
	for name, s := range monitoringSettings() {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, alert := range s.alerts() {
				assert.Regexp(t, `^Calico[A-Z]`, alert.Name)
				assert.False(t, seen[alert.Name], alert.Name)
				seen[alert.Name] = true
				assert.Contains(t, []string{"warning", "critical"}, alert.Severity, alert.Name)
				assert.Contains(t, []string{"all", "operator", "owner"}, alert.Visibility, alert.Name)
				// What concerns the whole shoot has no labels to tell, and an aggregation tells its own.
				labels := label.FindAllStringSubmatch(alert.Description, -1)
				if kept := aggregated.FindStringSubmatch(alert.Expression); kept != nil {
					for _, label := range labels {
						assert.Contains(t, strings.Split(kept[1], ", "), label[1], alert.Name)
					}
				}
				if alert.Severity == "critical" && alert.Name != "CalicoBGPNodeIsolated" {
					assert.Empty(t, labels, alert.Name)
				}
				for _, text := range []string{alert.Summary, alert.Description} {
					// Prometheus declares these two variables in front of every template.
					parsed, err := template.New(alert.Name).Parse(`{{$labels := .Labels}}{{$value := .Value}}` + text)
					require.NoError(t, err, alert.Name)
					require.NoError(t, parsed.Execute(io.Discard, map[string]any{"Labels": map[string]string{}, "Value": 1.5}), alert.Name)
				}
			}
		})
	}
}

func TestPrometheusRule_Labels(t *testing.T) {
	rule := monitoring.Rule("shoot--dev--one", "calico", testSettings(nil).alerts())
	assert.Equal(t, map[string]string{"prometheus": "shoot"}, rule.Labels)
	require.Len(t, rule.Spec.Groups, 1)
	require.NotEmpty(t, rule.Spec.Groups[0].Rules)
	for _, rule := range rule.Spec.Groups[0].Rules {
		assert.Equal(t, []string{"service", "severity", "type", "visibility"}, slices.Sorted(maps.Keys(rule.Labels)), rule.Alert)
		assert.Equal(t, "shoot", rule.Labels["type"])
		assert.NotEqual(t, monitoringv1.Duration(""), *rule.For)
	}
}

func TestDashboards_Layout(t *testing.T) {
	for name, s := range monitoringSettings() {
		dashboards, err := s.dashboards()
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"dashboard.monitoring.gardener.cloud/shoot": "true"}, dashboards.Labels)
		for file, content := range dashboards.Data {
			t.Run(name+", "+file, func(t *testing.T) {
				read := readDashboard(t, content)
				require.Len(t, read.Templating.List, 1)
				assert.LessOrEqual(t, len(read.UID), 40, "Plutono takes no longer ones")
				variable := "$" + read.Templating.List[0].Name
				taken := map[[2]int]string{}
				for i, panel := range read.Panels {
					assert.Equal(t, i+1, panel.ID)
					for x := panel.GridPos.X; x < panel.GridPos.X+panel.GridPos.Width; x++ {
						for y := panel.GridPos.Y; y < panel.GridPos.Y+panel.GridPos.Height; y++ {
							assert.Less(t, x, monitoring.GridWidth)
							assert.Empty(t, taken[[2]int{x, y}], "%s is upon another", panel.Title)
							taken[[2]int{x, y}] = panel.Title
						}
					}
					for _, target := range panel.Targets {
						for _, used := range regexp.MustCompile(`"\$\w+"`).FindAllString(target.Expression, -1) {
							assert.Equal(t, `"`+variable+`"`, used, panel.Title)
						}
					}
				}
			})
		}
	}
}
