package charts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// promtoolModule pins Prometheus' promtool. remove_all_sd leaves service discovery out, which unit tests do not need: it is most of promtool.
const (
	promtoolModule = "../e2e/promtool"
	promtoolTags   = "remove_all_sd"
)

// alertUnitTests are the parts of promtool's file format that this test reads.
type alertUnitTests struct {
	Tests []struct {
		Name           string `json:"name"`
		AlertRuleTests []struct {
			AlertName string `json:"alertname"`
			Alerts    []any  `json:"exp_alerts"`
		} `json:"alert_rule_test"`
	} `json:"tests"`
}

// alertCase is one chart with the files of its unit tests, in testdata/alerts, and what placeholders in these stand for.
type alertCase struct {
	files  []string
	values map[string]string
	// secondary is true for an installation that observes; its name begins with secondaryPrefix.
	secondary bool
}

const secondaryPrefix = "secondary "

// rendered returns the objects of the chart for a case of this name.
func (c alertCase) rendered(t *testing.T, name string) []*unstructured.Unstructured {
	t.Helper()
	if !c.secondary {
		return renderedFor(t, name)
	}
	chart := strings.TrimPrefix(name, secondaryPrefix)
	objects, err := Render(archiveOf(t, chart), releaseOf(chart), withTypes(chart, secondaryValues(nil)))
	require.NoError(t, err)
	return objects
}

// alertCases returns the case of each chart with alerts.
func alertCases() map[string]alertCase {
	resource := func(kind, resource, consequence string, files ...string) alertCase {
		return alertCase{files: append([]string{"resource", "process", "queue"}, files...), values: map[string]string{
			"prefix": "Trellis" + kind, "process": "Trellis" + kind + "Controller", "kind": kind, "resource": resource, "consequence": consequence, "topology": "seed",
		}}
	}
	secondary := func(kind, resource string, files ...string) alertCase {
		return alertCase{files: append([]string{"secondary", "process", "queue", "reconciles"}, files...), secondary: true, values: map[string]string{
			"prefix": "Trellis" + kind, "process": "Trellis" + kind + "Observer", "kind": kind, "resource": resource, "topology": "seed",
		}}
	}
	const webhooks = ", and its webhooks make the API server refuse objects of their control planes"
	operator := func(topology, seeds string, files ...string) alertCase {
		return alertCase{files: append([]string{"binary", "process", "queue", "reconciles", "operator"}, files...), values: map[string]string{
			"binary": installationBinary, "prefix": "TrellisControllerInstallation", "process": "TrellisControllerInstallation", "topology": topology,
			"down":    "Nothing is installed, updated or removed in " + seeds + " of what is registered with its types",
			"stalled": "nothing is installed, updated or removed in " + seeds + " of what is registered with its types",
		}}
	}
	return map[string]alertCase{
		"infrastructure-controller":                   resource("Infrastructure", "infrastructures", "", "clouds"),
		"controlplane-controller":                     resource("ControlPlane", "controlplanes", webhooks, "webhooks", "resource_webhooks"),
		"network-controller":                          resource("Network", "networks", ""),
		"worker-controller":                           resource("Worker", "workers", webhooks, "webhooks", "resource_webhooks", "clouds"),
		InstallationSeed:                              operator("seed", "this seed"),
		InstallationRuntime:                           operator("garden", "seeds", "rollouts"),
		secondaryPrefix + "infrastructure-controller": secondary("Infrastructure", "infrastructures", "clouds"),
		secondaryPrefix + "controlplane-controller":   secondary("ControlPlane", "controlplanes"),
		secondaryPrefix + "network-controller":        secondary("Network", "networks"),
		secondaryPrefix + "worker-controller":         secondary("Worker", "workers"),
		AdmissionRuntime: {files: []string{"binary", "process", "webhooks", "admission"}, values: map[string]string{
			"binary": "admission", "prefix": "TrellisAdmission", "process": "TrellisAdmission", "topology": "garden",
			"down":    "API servers reject the writes that it should validate",
			"stalled": "certificates are not renewed, and webhook configurations are not repaired",
		}},
	}
}

// TestAlerts_Promtool runs promtool's unit tests for the alerts of each chart as it is rendered. Each alert fires in one of them, with its labels and
// texts, and does not in another.
func TestAlerts_Promtool(t *testing.T) {
	if testing.Short() {
		t.Skip("builds promtool, which takes minutes the first time")
	}
	promtool := buildPromtool(t)
	cases := alertCases()
	names := append(Names(), AdmissionRuntime, InstallationSeed, InstallationRuntime)
	for _, name := range observing() {
		names = append(names, secondaryPrefix+name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, cases, name)
			folder := t.TempDir()
			tested := writeUnitTests(t, folder, name, cases[name])
			output := runPromtool(t, promtool, folder, append([]string{"test", "rules"}, tested...)...)
			t.Log(output)
			runPromtool(t, promtool, folder, "check", "rules", "--lint-fatal", "rules.yaml")
		})
	}
}

// A failing unit test must be an error, else promtool would be run in vain.
func TestAlerts_PromtoolFails(t *testing.T) {
	if testing.Short() {
		t.Skip("builds promtool, which takes minutes the first time")
	}
	promtool, folder := buildPromtool(t), t.TempDir()
	c := alertCases()["network-controller"]
	c.files = []string{"queue"}
	writeUnitTests(t, folder, "network-controller", c)
	path := filepath.Join(folder, "queue.yaml")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(content), "values: 40x60", "values: 20x60", 1)), 0o600))
	command := exec.CommandContext(t.Context(), promtool, "test", "rules", "queue.yaml")
	command.Dir = folder
	output, err := command.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(output), "alertname: TrellisNetworkBacklog, time: 31m")
}

// TestAlerts_Coverage asserts that unit tests expect each alert of each chart to fire, and not to.
func TestAlerts_Coverage(t *testing.T) {
	for name, c := range alertCases() {
		t.Run(name, func(t *testing.T) {
			fires, silent := map[string]bool{}, map[string]bool{}
			for _, file := range c.files {
				var tests alertUnitTests
				require.NoError(t, yaml.Unmarshal([]byte(unitTests(t, name, file, c)), &tests))
				for _, unit := range tests.Tests {
					require.NotEmpty(t, unit.Name)
					for _, one := range unit.AlertRuleTests {
						if len(one.Alerts) > 0 {
							fires[one.AlertName] = true
						} else {
							silent[one.AlertName] = true
						}
					}
				}
			}
			alerts := map[string]bool{}
			for _, rule := range alertRulesOf(t, c.rendered(t, name)) {
				alerts[rule["alert"].(string)] = true
			}
			assert.Equal(t, alerts, fires, "alerts of the chart, and those that a unit test expects to fire")
			assert.Equal(t, alerts, silent, "alerts of the chart, and those that a unit test expects not to fire")
		})
	}
}

// writeUnitTests writes rules.yaml with the rules of the chart, and the files of its unit tests, whose names it returns.
func writeUnitTests(t *testing.T, folder, name string, c alertCase) []string {
	t.Helper()
	rules, err := yaml.Marshal(only(t, c.rendered(t, name), "PrometheusRule").Object["spec"])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "rules.yaml"), rules, 0o600))
	var names []string
	for _, file := range c.files {
		names = append(names, file+".yaml")
		require.NoError(t, os.WriteFile(filepath.Join(folder, file+".yaml"), []byte(unitTests(t, name, file, c)), 0o600))
	}
	return names
}

// unitTests returns a file of testdata/alerts with the placeholders of the chart replaced.
func unitTests(t *testing.T, name, file string, c alertCase) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "alerts", file+".yaml"))
	require.NoError(t, err)
	chart := strings.TrimPrefix(name, secondaryPrefix)
	binary := c.values["binary"]
	registration, service := binary, binary
	if binary == "" {
		binary, registration, service = name, releaseOf(chart).Name, chart
	}
	labels := fmt.Sprintf("service: %s, topology: %s, type: seed, visibility: operator", service, c.values["topology"])
	replacements := []string{
		"$(job)", serviceOf(t, c.rendered(t, name)), "$(binary)", binary, "$(lease)", registration + "-leader-election",
		"$(types)", strings.Join(typesOf(chart), ", "), "$(alternatives)", strings.Join(typesOf(chart), " or "), "$(critical)", "severity: critical, " + labels, "$(warning)", "severity: warning, " + labels,
	}
	for placeholder, value := range c.values {
		replacements = append(replacements, "$("+placeholder+")", value)
	}
	replaced := strings.NewReplacer(replacements...).Replace(string(content))
	require.NotContains(t, replaced, "$(", "a placeholder is unknown")
	return replaced
}

func buildPromtool(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "promtool")
	command := exec.CommandContext(t.Context(), "go", "build", "-tags", promtoolTags, "-buildvcs=false", "-ldflags", "-s -w", "-o", path,
		"github.com/prometheus/prometheus/cmd/promtool")
	command.Dir, command.Env = promtoolModule, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "building promtool: %s", output)
	return path
}

func runPromtool(t *testing.T, promtool, folder string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), promtool, args...)
	command.Dir = folder
	output, err := command.CombinedOutput()
	require.NoError(t, err, "promtool %v:\n%s", args, output)
	return string(output)
}
