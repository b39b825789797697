package charts

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

func binaries() map[string]controller.Binary {
	all := map[string]controller.Binary{}
	for _, binary := range []controller.Binary{controller.Infrastructure(), controller.ControlPlane(), controller.Network(), controller.Worker()} {
		all[binary.Name] = binary
	}
	all[charts.AdmissionRuntime] = controller.Binary{Name: "admission"}
	for _, chart := range []string{charts.InstallationSeed, charts.InstallationRuntime} {
		all[chart] = controller.Binary{Name: "controllerinstallation-controller"}
	}
	return all
}

// testCommandLines starts the binaries with the charts' arguments, without an API server: the only error must be that it is missing.
func testCommandLines(t *testing.T, _ *environment) {
	for _, name := range append(charts.Names(), charts.AdmissionRuntime, charts.InstallationSeed, charts.InstallationRuntime) {
		binary, err := binaries()[name].Build(t.Context())
		require.NoError(t, err)
		for place, values := range map[string]map[string]any{"by default": nil, "with everything": allValues(name)} {
			t.Run(name+" "+place, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				args := append(argsOf(t, render(t, name, values)), "--kubeconfig="+filepath.Join(t.TempDir(), "none"))
				output, err := exec.CommandContext(ctx, binary, args...).CombinedOutput()
				require.Error(t, err)
				assert.Contains(t, string(output), "loading kubeconfig", "the command line is wrong")
			})
		}
	}
}

func argsOf(t *testing.T, objects []*unstructured.Unstructured) []string {
	t.Helper()
	containers, _, err := unstructured.NestedSlice(only(t, objects, "Deployment").Object, "spec", "template", "spec", "containers")
	require.NoError(t, err)
	require.Len(t, containers, 1)
	args, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
	require.NoError(t, err)
	require.NotEmpty(t, args)
	return args
}

// testTypes asserts that charts accept exactly the types that their binaries serve.
func testTypes(t *testing.T, _ *environment) {
	for _, name := range append(charts.Names(), charts.AdmissionRuntime, charts.InstallationSeed, charts.InstallationRuntime) {
		binary, err := binaries()[name].Build(t.Context())
		require.NoError(t, err)
		help, err := exec.CommandContext(t.Context(), binary, "--help").Output()
		require.NoError(t, err)
		served := regexp.MustCompile(`(?s)--types=TYPE,\.\.\.\n.*?Allowed: (.*?)\.\n`).FindSubmatch(help)
		require.NotNil(t, served, name)
		assert.Equal(t, typesOf(name), strings.Split(string(served[1]), ", "), name)
		archive, err := charts.Archive(name, "v0.1.0")
		require.NoError(t, err)
		_, err = charts.Render(archive, release(name), map[string]any{"types": []string{"another"}})
		require.ErrorContains(t, err, "'/types/0'", name)
		for _, one := range typesOf(name) {
			_, err = charts.Render(archive, release(name), map[string]any{"types": []string{one}})
			require.NoError(t, err, name)
		}
	}
}

// testMetrics runs the controllers and compares their metrics with those that Prometheus keeps, and with docs/reference/metrics.md. A metric without
// samples is searched on that page.
func testMetrics(t *testing.T, env *environment) {
	documented := documentedMetrics(t)
	for _, name := range observing() {
		for metric := range strings.SplitSeq(keptBy(t, name, map[string]any{"role": "secondary"}), "|") {
			if strings.HasPrefix(metric, "trellis_") {
				assert.True(t, documented[withoutSuffix(metric)], metric)
			}
		}
	}
	for _, name := range charts.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			served := env.scrapeBinary(t, binaries()[name])
			for metric := range served {
				if strings.HasPrefix(metric, "trellis_") {
					assert.True(t, documented[withoutSuffix(metric)], "%s is not in docs/reference/metrics.md", metric)
				}
			}
			for metric := range strings.SplitSeq(keptBy(t, name, nil), "|") {
				bare := withoutSuffix(metric)
				switch {
				case strings.HasPrefix(metric, "trellis_"):
					assert.True(t, served[metric] || documented[bare], metric)
				case bare == "controller_runtime_webhook_latency_seconds":
					// No webhook is called. It is counted where requests are made.
					assert.True(t, served["trellis_webhook_requests_total"])
				default:
					assert.True(t, served[metric], metric)
				}
			}
		})
	}
}

// withoutSuffix returns the name of a histogram for one of its series.
func withoutSuffix(series string) string {
	return regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(series, "")
}

func keptBy(t *testing.T, name string, values map[string]any) string {
	t.Helper()
	monitor := only(t, render(t, name, values), "ServiceMonitor")
	endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	require.NoError(t, err)
	relabelings, _, err := unstructured.NestedSlice(endpoints[0].(map[string]any), "metricRelabelings")
	require.NoError(t, err)
	return strings.Trim(relabelings[0].(map[string]any)["regex"].(string), "^($)")
}

// scrapeBinary runs a controller that leads, and returns the names of its metrics.
func (env *environment) scrapeBinary(t *testing.T, binary controller.Binary) map[string]bool {
	t.Helper()
	path, err := binary.Build(t.Context())
	require.NoError(t, err)
	kubeconfig, err := env.AddController(t.Context(), binary.Name, binary.Role)
	require.NoError(t, err)
	args, err := binary.WebhookArgs()
	require.NoError(t, err)
	if binary.Name == "infrastructure-controller" || binary.Name == "network-controller" {
		args = nil
	}
	debug, err := process.FreeAddress()
	require.NoError(t, err)
	running, err := binary.Start(t.Context(), controller.Options{
		Path: path, Kubeconfig: kubeconfig, Output: filepath.Join(t.TempDir(), "log"), LeaderElection: true, Args: args,
		Env: append(images(t, binary.Name), "TRELLIS_PPROF_BIND_ADDRESS="+debug),
	})
	require.NoError(t, err)
	t.Cleanup(running.Kill)
	assert.Regexp(t, "^"+strings.TrimSuffix(binary.Name, "-controller")+`: \d+ running, \d+ queued, \d+ waiting for the next attempt\n`,
		read(t, "http://"+debug+"/debug/reconciliations"), "the binary serves what its contract's controller does")
	for end := time.Now().Add(timeout); ; time.Sleep(interval) {
		names := scrape(t, running.MetricsURL)
		if names["controller_runtime_max_concurrent_reconciles"] && names["workqueue_depth"] {
			return names
		}
		require.True(t, time.Now().Before(end), "no controller has been started")
	}
}

// images has the environment of a binary with an image vector overwrite. It does not start with an invalid one.
func images(t *testing.T, name string) []string {
	t.Helper()
	var environment []string
	for _, object := range render(t, name, allValues(name)) {
		vector, found, err := unstructured.NestedString(object.Object, "data", "images.yaml")
		require.NoError(t, err)
		if found {
			file := filepath.Join(t.TempDir(), "images.yaml")
			require.NoError(t, os.WriteFile(file, []byte(vector), 0o600))
			environment = append(environment, "IMAGEVECTOR_OVERWRITE="+file)
		}
	}
	assert.Equal(t, name != "infrastructure-controller", len(environment) == 1, "every chart but one has images")
	return environment
}

func scrape(t *testing.T, url string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, name := range regexp.MustCompile(`(?m)^[a-z_]+`).FindAllString(read(t, url), -1) {
		names[name] = true
	}
	return names
}

// read returns the content of a page.
func read(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}

// documentedMetrics are the names of our metrics in docs/reference/metrics.md.
func documentedMetrics(t *testing.T) map[string]bool {
	t.Helper()
	path, err := repo.Path("docs", "reference", "metrics.md")
	require.NoError(t, err)
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, found := range regexp.MustCompile("(?m)^\\| `(trellis_[a-z_]+)`").FindAllSubmatch(page, -1) {
		names[string(found[1])] = true
	}
	return names
}
