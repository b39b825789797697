package docs

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/charts/markdown"
	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
	"github.com/trellis-garden/trellis/e2e/internal/assets"
)

// TestRun runs blocks as a reader does: in the root of the repository, with bash, after the page about installation has been followed. The real
// kubectl and make are used. One API server stands for garden, runtime cluster and seeds; helm is a stand-in, see helm_test.go.
func TestRun(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	for _, p := range pages(t) {
		for _, b := range p.blocks() {
			if entry := claims()[p.name][b.First()]; entry.kind == run {
				t.Run(p.name+": "+b.First(), func(t *testing.T) { e.run(t, p, b, entry) })
			}
		}
	}
}

// environment is a copy of the checkout, and what the pages take for granted.
type environment struct {
	dir       string
	variables []string
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	programs, err := assets.Ensure(t.Context(), os.Stderr, append(assets.APIServer(), "kubectl")...)
	require.NoError(t, err)
	server, err := apiserver.New(programs, apiserver.Options{})
	require.NoError(t, err)
	config, err := server.Start()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	installKinds(t, config)

	e := &environment{dir: t.TempDir()}
	copyCheckout(t, e.dir)
	kubeconfig := filepath.Join(e.dir, "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, server.KubeConfig, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(e.dir, "garden.kubeconfig"), server.KubeConfig, 0o600))
	standIns := t.TempDir()
	executable, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(executable, filepath.Join(standIns, "helm")))
	require.NoError(t, os.Symlink(filepath.Join(programs, "kubectl"), filepath.Join(standIns, "kubectl")))
	e.variables = append(environmentWithoutMake(), "PATH="+standIns+string(os.PathListSeparator)+os.Getenv("PATH"), "GOWORK=off", "CGO_ENABLED=0",
		"KUBECONFIG="+kubeconfig, "GARDEN="+kubeconfig, "RUNTIME="+kubeconfig, "VERSION=v0.1.0", "REPOSITORY=registry.example.org/trellis")
	e.bash(t, `kubectl create namespace garden
kubectl create namespace garden-dev
make registrations VERSION=$VERSION OUT=bin/registrations ARGS="--image-repository $REPOSITORY"`)
	return e
}

// copyCheckout copies all files of the checkout except those that git ignores.
func copyCheckout(t *testing.T, dir string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = string(newCheckout(t))
	names, err := list.Output()
	require.NoError(t, err)
	pack := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", `tar -c --null --ignore-failed-read -T - | tar -x -C "$1"`, "bash", dir)
	pack.Dir, pack.Stdin = list.Dir, strings.NewReader(string(names))
	output, err := pack.CombinedOutput()
	require.NoError(t, err, string(output))
}

// run runs a block between the scripts of its entry.
func (e *environment) run(t *testing.T, p page, b markdown.Block, entry claim) {
	for name, first := range entry.files {
		found := false
		for _, content := range markdown.Blocks(p.text, "yaml") {
			if content.First() == first {
				require.NoError(t, os.WriteFile(filepath.Join(e.dir, name), []byte(content.Text), 0o600))
				found = true
			}
		}
		require.True(t, found, "%s has no block that begins with %q", p.name, first)
	}
	block := b.Text
	for from, to := range entry.replace {
		require.Contains(t, block, from)
		block = strings.ReplaceAll(block, from, to)
	}
	e.bash(t, strings.Join([]string{cmp.Or(entry.before, ":"), block, cmp.Or(entry.after, ":")}, "\n"))
}

// bash runs a script, which ends with the first command that fails.
func (e *environment) bash(t *testing.T, script string) {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	shell.Dir, shell.Env = e.dir, e.variables
	output, err := shell.CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, output)
	t.Logf("%s\n%s", script, output)
}
