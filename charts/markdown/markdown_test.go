package markdown

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const page = "# Page\n\nSay `make demo` or\n`make\ntest`.\n\n## Install\n\n```console\n\n# a comment\nmake images\n```\n\n| a | `go test -run 'A\\|B' .` |\n\n" +
	"### Details\n\n1. A list:\n   ```\n   ls\n     -l\n   ```\n\n## Next\n\n```yaml\na: `b`\n```\n"

func TestBlocks(t *testing.T) {
	want := []Block{
		{Language: "console", Text: "\n# a comment\nmake images\n", Heading: "Install", Line: 10},
		{Text: "ls\n  -l\n", Heading: "Details", Line: 21},
		{Language: "yaml", Text: "a: `b`\n", Heading: "Next", Line: 28},
	}
	assert.Equal(t, want, Blocks(page))
	assert.Equal(t, want[1:], Blocks(page, "", "yaml"))
	assert.Equal(t, "# a comment", want[0].First())
}

func TestSpans(t *testing.T) {
	assert.Equal(t, []string{"make demo", "make test", "go test -run 'A|B' ."}, Spans(page))
}

func TestSection(t *testing.T) {
	for sentence, c := range map[string]struct {
		heading, want string
		found         bool
	}{
		"it ends at the next of its level": {"## Next", "\n```yaml\na: `b`\n```\n", true},
		"a level below is part of it":      {"### Details", "\n1. A list:\n   ```\n   ls\n     -l\n   ```\n\n", true},
		"another heading":                  {"## Uninstall", "", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, found := Section(page, c.heading)
			assert.Equal(t, c.found, found)
			assert.Equal(t, c.want, got)
		})
	}
	install, _ := Section(page, "## Install")
	assert.Len(t, Blocks(install), 2, "a comment in a block is no heading")
}
