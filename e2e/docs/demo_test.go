package docs

import (
	"context"
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

// demoTimeout bounds the demo, on a machine that compiles at the same time. Alone it takes three and a half minutes.
const demoTimeout = 20 * time.Minute

// TestDemo runs the demo once, as DEMO_EXIT=1 make demo does, and looks for the lines that pages show of it.
func TestDemo(t *testing.T) {
	t.Parallel()
	var printed []string
	for line := range strings.Lines(runDemo(t)) {
		printed = append(printed, normalize(line))
	}
	samples := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks() {
			if claims()[p.name][b.First()].kind != demo {
				continue
			}
			for line := range strings.Lines(b.Text) {
				samples++
				want := normalize(line)
				assert.True(t, slices.ContainsFunc(printed, func(line string) bool { return isLike(line, want) }),
					"%s shows a line that the demo does not print:\n  %s\nwithout what differs in each run:\n  %s\nThe demo prints:\n  %s",
					p.name, strings.TrimSpace(line), want, strings.Join(nearest(printed, want), "\n  "))
			}
		}
	}
	assert.Greater(t, samples, 20)
}

// runDemo returns the output of the demo, which must end with exit code 0.
func runDemo(t *testing.T) string {
	t.Helper()
	_ = os.Getenv("TRELLIS_SOURCES") // noted by go test, which does not see the sources of binaries
	module := filepath.Join(string(newCheckout(t)), "e2e")
	program, output := filepath.Join(t.TempDir(), "demo"), filepath.Join(t.TempDir(), "output")
	_, err := repo.Go(t.Context(), module, nil, "build", "-o", program, "./cmd/demo")
	require.NoError(t, err)

	file, err := os.Create(output)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), demoTimeout)
	defer cancel()
	show := exec.CommandContext(ctx, program)
	show.Dir, show.Stdout, show.Stderr = module, file, file
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
