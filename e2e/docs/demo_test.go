package docs

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// demoTimeout bounds a demo, on a machine that compiles at the same time. Alone it takes four minutes at most.
const demoTimeout = 20 * time.Minute

// sample is a line that a demo must print, and where it stands.
type sample struct{ place, line string }

// TestDemo runs the demo in each cloud, and with our own network plugin, once, as DEMO_EXIT=1 make demo does, and looks for the lines that pages show of it, or a file where no page does.
func TestDemo(t *testing.T) {
	t.Parallel()
	program := buildDemo(t)
	for name, run := range map[string]struct {
		flag    string
		samples []sample
	}{
		"openstack": {"--cloud=openstack", onPages(t)},
		"aws":       {"--cloud=aws", inFile(t, "testdata/demo-aws.txt")},
		"gardenet":  {"--network=gardenet", inFile(t, "testdata/demo-gardenet.txt")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var printed []string
			for line := range strings.Lines(runDemo(t, program, run.flag)) {
				printed = append(printed, normalize(line))
			}
			for _, s := range run.samples {
				want := normalize(s.line)
				assert.True(t, slices.ContainsFunc(printed, func(line string) bool { return isLike(line, want) }),
					"%s shows a line that the demo does not print:\n  %s\nwithout what differs in each run:\n  %s\nThe demo prints:\n  %s",
					s.place, strings.TrimSpace(s.line), want, strings.Join(nearest(printed, want), "\n  "))
			}
			assert.Greater(t, len(run.samples), 20)
		})
	}
}

// onPages returns the lines that pages show of the demo.
func onPages(t *testing.T) (samples []sample) {
	t.Helper()
	for _, p := range pages(t) {
		for _, b := range p.blocks() {
			if claims()[p.name][b.First()].kind != demo {
				continue
			}
			for line := range strings.Lines(b.Text) {
				samples = append(samples, sample{p.name, line})
			}
		}
	}
	return samples
}

// inFile returns the lines of a file.
func inFile(t *testing.T, path string) (samples []sample) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		samples = append(samples, sample{path, line})
	}
	return samples
}

// TestDemo_UnknownCloud expects the names of the clouds.
func TestDemo_UnknownCloud(t *testing.T) {
	t.Parallel()
	output, err := exec.CommandContext(t.Context(), buildDemo(t), "--cloud=azure").CombinedOutput()
	failed, exited := errors.AsType[*exec.ExitError](err)
	require.True(t, exited, "%v", err)
	assert.Equal(t, 2, failed.ExitCode())
	assert.Equal(t, "demo: CLOUD or --cloud: there is no demo of \"azure\"; the clouds are aws and openstack\n", string(output))
}

// buildDemo returns the path of the demo.
func buildDemo(t *testing.T) string {
	t.Helper()
	_ = os.Getenv("TRELLIS_SOURCES") // noted by go test, which does not see the sources of binaries
	program := filepath.Join(t.TempDir(), "demo")
	_, err := repo.Go(t.Context(), filepath.Join(string(newCheckout(t)), "e2e"), nil, "build", "-o", program, "./cmd/demo")
	require.NoError(t, err)
	return program
}

// runDemo returns the output of the demo with a flag, which must end with exit code 0.
func runDemo(t *testing.T, program, flag string) string {
	t.Helper()
	output := filepath.Join(t.TempDir(), "output")
	file, err := os.Create(output)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), demoTimeout)
	defer cancel()
	show := exec.CommandContext(ctx, program, flag)
	show.Dir, show.Stdout, show.Stderr = filepath.Join(string(newCheckout(t)), "e2e"), file, file
	show.Env = append(os.Environ(), "DEMO_EXIT=1", "NO_COLOR=1")
	show.Cancel = func() error { return show.Process.Signal(syscall.SIGTERM) } // it stops its processes
	show.WaitDelay = time.Minute
	start := time.Now()
	failed := show.Run()
	content, err := os.ReadFile(output)
	require.NoError(t, err)
	require.NoError(t, failed, "the demo:\n%s", content)
	t.Logf("the demo took %.0f s", time.Since(start).Seconds())
	return string(content)
}
