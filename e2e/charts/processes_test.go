package charts

import (
	"context"
	"io"
	"io/fs"
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

// testMetrics runs the controllers and compares their metrics with those that Prometheus keeps. A metric without samples is searched in the source.
func testMetrics(t *testing.T, env *environment) {
	made := registeredMetrics(t)
	for _, name := range charts.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			served := env.scrapeBinary(t, binaries()[name])
			for metric := range strings.SplitSeq(keptBy(t, name), "|") {
				bare := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(metric, "")
				switch {
				case strings.HasPrefix(metric, "trellis_"):
					assert.True(t, served[metric] || made[bare], metric)
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

func keptBy(t *testing.T, name string) string {
	t.Helper()
	monitor := only(t, render(t, name, nil), "ServiceMonitor")
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
	running, err := binary.Start(t.Context(), controller.Options{
		Path: path, Kubeconfig: kubeconfig, Output: filepath.Join(t.TempDir(), "log"), LeaderElection: true, Args: args, Env: images(t, binary.Name),
	})
	require.NoError(t, err)
	t.Cleanup(running.Kill)
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
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, name := range regexp.MustCompile(`(?m)^[a-z_]+`).FindAllString(string(body), -1) {
		names[name] = true
	}
	return names
}

// registeredMetrics are the names of metrics in the source of our binaries.
func registeredMetrics(t *testing.T) map[string]bool {
	t.Helper()
	root, err := repo.Path("internal")
	require.NoError(t, err)
	names := map[string]bool{}
	quoted := regexp.MustCompile(`Name: +"(trellis_[a-z_]+)"`)
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range quoted.FindAllSubmatch(source, -1) {
			names[string(found[1])] = true
		}
		return err
	}))
	return names
}
