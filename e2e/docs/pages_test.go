package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/charts/markdown"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// page is a Markdown file, by its path in the checkout.
type page struct{ name, text string }

// pages returns all pages whose commands are tested, sorted.
func pages(t *testing.T) []page {
	t.Helper()
	_ = os.Getenv("TRELLIS_DOCS") // noted by go test, which does not see files of another module
	root, err := repo.Root()
	require.NoError(t, err)
	names := []string{"README.md", "CONTRIBUTING.md"}
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			name, _ := filepath.Rel(root, path)
			names = append(names, name)
		}
		return err
	}))
	slices.Sort(names)
	all := make([]page, len(names))
	for i, name := range names {
		content, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		all[i] = page{name, string(content)}
	}
	return all
}

// blocks returns the blocks of commands, and those of what commands print.
func (p page) blocks() []markdown.Block {
	return slices.DeleteFunc(markdown.Blocks(p.text), func(b markdown.Block) bool {
		return slices.Contains([]string{"text", "go", "yaml", "json"}, b.Language)
	})
}

// scripts returns the text of all blocks of commands, and inline code that is a command of a developer, which need no context.
func (p page) scripts() []string {
	var scripts []string
	for _, b := range p.blocks() {
		if claims()[p.name][b.First()].kind != demo {
			scripts = append(scripts, b.Text)
		}
	}
	for _, span := range markdown.Spans(p.text) {
		words := strings.Fields(span)
		for len(words) > 1 && strings.Contains(words[0], "=") { // e.g. DEMO_EXIT=1
			words = words[1:]
		}
		if len(words) > 1 && slices.Contains([]string{"make", "go"}, words[0]) {
			scripts = append(scripts, span)
		}
	}
	return scripts
}

func TestPages_Scripts(t *testing.T) {
	p := page{"page.md", "Run `make test`, `GOWORK=off go test .` or `go.work` with `make`.\n\n```\nmake demo\n```\n\n```go\nfunc f() {}\n```\n"}
	assert.Equal(t, []string{"make demo\n", "make test", "GOWORK=off go test ."}, p.scripts())
}
