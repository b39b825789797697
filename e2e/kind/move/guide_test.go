//go:build kind

package move

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/charts/markdown"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// block is a script of the guide, with its heading.
type block struct{ heading, script string }

// read returns all shell blocks between two of the guide's sections, in order; to its end if to is empty.
func read(t *testing.T, from, to string) []block {
	t.Helper()
	path, err := repo.Path("docs", "operations", "migrate-from-upstream.md")
	require.NoError(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	_, page, found := strings.Cut(string(content), "\n"+from+"\n")
	require.True(t, found, "%s has no section %q", path, from)
	if to != "" {
		page, _, found = strings.Cut(page, "\n"+to+"\n")
		require.True(t, found, "%s has no section %q", path, to)
	}
	var blocks []block
	for _, b := range markdown.Blocks(page, "sh") {
		blocks = append(blocks, block{b.Heading, b.Text})
	}
	return blocks
}

// admin is a bash that runs as long as the test, for the blocks of the guide.
type admin struct {
	t     *testing.T
	input io.Writer
	done  chan string
	ended chan struct{}

	lock   sync.Mutex
	output strings.Builder
}

// finished is printed after each block.
const finished = "=== this block is done"

// newAdmin starts one, in the root of the repository, with environment variables.
func newAdmin(t *testing.T, programs string, environment ...string) *admin {
	t.Helper()
	root, err := repo.Root()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), "bash", "-s")
	command.Dir = root
	command.Env = append(os.Environ(), append(environment, "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))...)
	command.WaitDelay = time.Second
	input, err := command.StdinPipe()
	require.NoError(t, err)
	reader, writer := io.Pipe()
	command.Stdout, command.Stderr = writer, writer
	require.NoError(t, command.Start())
	a := &admin{t: t, input: input, done: make(chan string, 1), ended: make(chan struct{})}
	go a.listen(reader)
	go func() {
		_ = command.Wait()
		_ = writer.Close()
		close(a.ended)
	}()
	t.Cleanup(func() {
		_ = input.Close()
		<-a.ended
	})
	return a
}

func (a *admin) listen(reader io.Reader) {
	lines := bufio.NewScanner(reader)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if lines.Text() == finished {
			a.done <- finished
			continue
		}
		a.lock.Lock()
		a.output.WriteString(lines.Text() + "\n")
		a.lock.Unlock()
	}
}

// follow runs a block, and returns its output.
func (a *admin) follow(b block) string {
	a.t.Helper()
	start := time.Now()
	_, err := fmt.Fprintf(a.input, "{\n%s\n} </dev/null\necho '%s'\n", b.script, finished)
	require.NoError(a.t, err)
	select {
	case <-a.done:
	case <-a.ended:
		require.FailNow(a.t, "a command of the page has failed under "+b.heading, a.takeOutput())
	case <-time.After(guideTimeout):
		require.FailNow(a.t, "the page waits in vain under "+b.heading, a.takeOutput())
	}
	output := a.takeOutput()
	a.t.Logf("%5.1f s  %s\n%s", time.Since(start).Seconds(), b.heading, output)
	return output
}

// takeOutput returns the output since the last call.
func (a *admin) takeOutput() string {
	a.lock.Lock()
	defer a.lock.Unlock()
	text := a.output.String()
	a.output.Reset()
	return text
}

// writable is a folder below the test's.
func writable(t *testing.T, dir string, elements ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{dir}, elements...)...)
	require.NoError(t, os.MkdirAll(path, 0o700))
	return path
}
