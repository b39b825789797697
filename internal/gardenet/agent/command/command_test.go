package command

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/gardenet/agent"
	"github.com/trellis-garden/trellis/internal/gardenet/agent/plugins"
	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/golden"
	"github.com/trellis-garden/trellis/internal/metriclist"
)

// exampleDocument is a configuration that is valid.
const exampleDocument = `{"podRanges": ["10.96.0.0/11"], "routes": "cloud", "masquerade": {}}`

func testBinary() Binary {
	return Binary{
		Name: "gardenet-agent", Description: "Keeps the network of a node.",
		Compute:   func(desired.Input) (desired.State, error) { return desired.State{Conflist: "{}"}, nil },
		NewKernel: func(KernelOptions) (agent.Kernel, error) { return &idleKernel{}, nil },
	}
}

// idleKernel is a node on which nothing has to be changed.
type idleKernel struct{}

func (*idleKernel) Facts(context.Context, desired.Node, []desired.Node) (desired.Facts, error) {
	return desired.Facts{}, nil
}
func (*idleKernel) Apply(context.Context, desired.State) ([]string, error)  { return nil, nil }
func (*idleKernel) Verify(context.Context, desired.State) ([]string, error) { return nil, nil }
func (*idleKernel) Rules(context.Context) (uint8, bool, error)              { return 0, false, nil }
func (*idleKernel) Dropped(context.Context) (map[string]uint64, error)      { return nil, nil }

// run runs the binary and returns what it has printed.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = testBinary().run(t.Context(), args, environment{}, &out, &errOut)
	return code, out.String(), errOut.String()
}

// file returns the path of a file with a content.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestHelp(t *testing.T) {
	for name, args := range map[string][]string{
		"help.txt":                 {"--help"},
		"help-install-plugins.txt": {"install-plugins", "-h"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, args...)
			require.Equal(t, exitClean, code)
			require.Empty(t, stderr)
			golden.Check(t, filepath.Join("testdata", name), stdout)
		})
	}
}

func TestRun_CommandLine(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "") // this test may itself run in a pod
	valid := file(t, exampleDocument)
	for sentence, test := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"help with a wrong flag":         {[]string{"--help", "--log-level=loud"}, exitClean, "Usage:", ""},
		"the version needs no node":      {[]string{"--version"}, exitClean, "gardenet-agent ", ""},
		"an unknown flag":                {[]string{"--nope"}, exitUsage, "", "unknown flag: --nope"},
		"an unexpected argument":         {[]string{"--node=n", "now"}, exitUsage, "", `"now": unexpected argument`},
		"no node":                        {nil, exitUsage, "", "--node: required; set it, or $NODE_NAME, to the name of the Node"},
		"an empty node":                  {[]string{"--node="}, exitUsage, "", `--node: "" must not be empty`},
		"an unknown level of logs":       {[]string{"--node=n", "--log-level=loud"}, exitUsage, "", `--log-level: "loud" is unknown; allowed: debug, info, error`},
		"an unknown format of logs":      {[]string{"--node=n", "--log-format=xml"}, exitUsage, "", `--log-format: "xml" is unknown; allowed: json, text`},
		"an address without a port":      {[]string{"--node=n", "--bind-address=localhost"}, exitUsage, "", `--bind-address: "localhost" must be an address`},
		"an address with a wrong port":   {[]string{"--node=n", "--bind-address=:http"}, exitUsage, "", `--bind-address: ":http" has "http" for a port`},
		"a switch that is no boolean":    {[]string{"--version=maybe", "--node=n"}, exitUsage, "", `--version: "maybe" must be true or false`},
		"what to do":                     {[]string{"--nope"}, exitUsage, "", "Run with --help to see all flags."},
		"a flag of the other command":    {[]string{"install-plugins", "--node=n"}, exitUsage, "", "unknown flag: --node"},
		"a configuration that is absent": {[]string{"--node=n", "--config=/none"}, exitFailure, "", "--config: reading the configuration: open /none: no such file"},
		"a configuration with a field of a newer driver": {
			[]string{"--node=n", "--config=" + file(t, `{"podRanges": ["10.96.0.0/11"], "routes": "cloud", "encryption": true}`)},
			exitFailure, "",
			`unknown field \"encryption\"`,
		},
		"a configuration that is invalid": {
			[]string{"--node=n", "--config=" + file(t, `{"podRanges": ["10.96.0.0/11"], "routes": "tunnel"}`)}, exitFailure, "", `routes: \"tunnel\" needs a tunnel`,
		},
		"no API server": {
			[]string{"--node=n", "--config=" + valid}, exitFailure, "", "finding the API server: ",
		},
		"a kubeconfig that is absent": {
			[]string{"--node=n", "--config=" + valid, "--kubeconfig=/none"}, exitFailure, "", "--kubeconfig: stat /none: no such file",
		},
		"an image without plugins": {
			[]string{"install-plugins", "--from=/none", "--to=" + t.TempDir()}, exitFailure, "", "comparing plugin bandwidth: stat /none/bandwidth",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			code, stdout, stderr := run(t, test.args...)
			assert.Equal(t, test.code, code)
			assert.Contains(t, stdout, test.stdout)
			assert.Contains(t, stderr, test.stderr)
		})
	}
	t.Run("all that is wrong is told at once", func(t *testing.T) {
		_, _, stderr := run(t, "--log-level=loud", "--bind-address=x")
		for _, flag := range []string{"--node:", "--log-level:", "--bind-address:"} {
			assert.Contains(t, stderr, flag)
		}
	})
	t.Run("the environment names the node", func(t *testing.T) {
		o, err := parse(nil, environment{node: "from-environment"})
		require.NoError(t, err)
		assert.Equal(t, "from-environment", o.node)
		o, err = parse([]string{"--node=from-flag"}, environment{node: "from-environment"})
		require.NoError(t, err)
		assert.Equal(t, "from-flag", o.node)
	})
}

func TestRun_InstallPlugins(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for _, name := range plugins.Names() {
		require.NoError(t, os.WriteFile(filepath.Join(from, name), []byte(name), 0o755))
	}
	code, _, stderr := run(t, "install-plugins", "--from="+from, "--to="+to, "--log-format=text")
	require.Equal(t, exitClean, code, stderr)
	assert.Contains(t, stderr, "Installed plugin")
	for _, name := range plugins.Names() {
		info, err := os.Stat(filepath.Join(to, name))
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o755), info.Mode())
	}
	_, _, stderr = run(t, "install-plugins", "--from="+from, "--to="+to)
	assert.Empty(t, stderr)
}

func TestRun_ListMetrics(t *testing.T) {
	code, stdout, stderr := run(t, "--list-metrics")
	require.Equal(t, exitClean, code, stderr)
	var metrics []metriclist.Metric
	require.NoError(t, json.Unmarshal([]byte(stdout), &metrics))
	names := make([]string, 0, len(metrics))
	for _, metric := range metrics {
		assert.NotEmpty(t, metric.Help, metric.Name)
		names = append(names, metric.Name)
	}
	assert.Equal(t, []string{
		"gardenet_dropped_packets_total", "gardenet_generation", "gardenet_last_success_timestamp_seconds", "gardenet_pod_addresses_free", "gardenet_policies", "gardenet_repairs_total",
		"gardenet_set_elements", "gardenet_sync_duration_seconds", "gardenet_sync_errors_total", "gardenet_unreachable_nodes", "trellis_build_info",
	}, names)
}
