package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is that of the repository, as seen from here.
const root = "../../.."

func readPage(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	require.NoError(t, err)
	return string(content)
}

// blocksOf returns what a part of a page has for a shell in blocks of a language.
func blocksOf(part, language string) []string {
	var blocks []string
	for _, match := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(part, -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}

// section is what stands under a heading, up to the next of the same or a higher level. A single # is a comment in a block.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, after, found := strings.Cut(page, "\n"+heading+"\n")
	require.True(t, found, heading)
	level, _, _ := strings.Cut(heading, " ")
	return regexp.MustCompile(`(?m)^#{2,`+string(rune('0'+len(level)))+`} `).Split(after, 2)[0]
}

// TestInstallBlocks follows the pages that say how to install as far as no registry is needed: images and registrations are of one version and one registry.
func TestInstallBlocks(t *testing.T) {
	landscape := readPage(t, "docs", "landscape.md")
	for name, part := range map[string]string{
		"the page on landscapes":  blocksOf(section(t, landscape, "## Install"), "console")[0],
		"the page of the project": blocksOf(section(t, readPage(t, "README.md"), "## Run it in a landscape"), "")[0],
		"that of registrations":   regexp.MustCompile(`(?m)^ {4}`).ReplaceAllString(readPage(t, "charts", "registrations", "README.md"), ""),
	} {
		t.Run(name, func(t *testing.T) {
			one := regexp.MustCompile(`(?m)^VERSION=(\S+) REPOSITORY=(\S+)$`).FindStringSubmatch(part)
			require.NotNil(t, one)
			assert.Regexp(t, `(?m)^make images VERSION=\$VERSION PUSH=\$REPOSITORY( |$)`, part)
			written := regexp.MustCompile(`(?m)^make registrations VERSION=\$VERSION OUT=(\S+) ARGS="(.*?)"`).FindStringSubmatch(part)
			require.NotNil(t, written)
			applied := regexp.MustCompile(`(?m)^kubectl apply -f (\S+)$`).FindStringSubmatch(part)
			require.NotNil(t, applied)
			file, inFolder := strings.CutPrefix(applied[1], written[1]+"/")
			require.True(t, inFolder, "%s is not in %s", applied[1], written[1])

			folder := t.TempDir()
			arguments := strings.Fields(strings.ReplaceAll(written[2], "$REPOSITORY", one[2]))
			got := command(t, append([]string{"generate", "--version", one[1], "--out", folder}, arguments...)...)
			require.Equal(t, exitDone, got.code, got.complaints)
			content, err := os.ReadFile(filepath.Join(folder, file))
			require.NoError(t, err)
			assert.Contains(t, string(content), "# Version: "+one[1]+"\n")
			assert.Contains(t, string(content), "repository: "+one[2]+"/")
		})
	}
}

// TestMoveTakesRegistrationsOfAVersion runs the first block of a move from upstream's extensions, which looks at what the others are going to apply.
func TestMoveTakesRegistrationsOfAVersion(t *testing.T) {
	steps := section(t, readPage(t, "docs", "landscape.md"), "### Step 0: where things are")
	require.Len(t, blocksOf(steps, "sh"), 1)
	ofVersion := t.TempDir()
	require.Equal(t, exitDone, command(t, "generate", "--version", "v0.1.0", "--out", ofVersion).code)
	committed, err := filepath.Abs(filepath.Join(root, "charts", "registrations"))
	require.NoError(t, err)
	for sentence, c := range map[string]struct {
		environment []string
		// says is in what is printed; refused tells whether it ends there.
		says    string
		refused bool
	}{
		"no folder":                       {nil, "REGISTRATIONS: the folder that make registrations", true},
		"a folder without files":          {[]string{"REGISTRATIONS=" + t.TempDir()}, "network-calico/rawchart.yaml: No such file", true},
		"what is committed":               {[]string{"REGISTRATIONS=" + committed}, "network-calico/rawchart.yaml is of no version, and nobody has images of it", true},
		"what was written for a version":  {[]string{"REGISTRATIONS=" + ofVersion}, "# Version: v0.1.0", false},
		"charts from a registry":          {[]string{"REGISTRATIONS=" + ofVersion, "FORM=oci"}, "# Version: v0.1.0", false},
		"the older form":                  {[]string{"REGISTRATIONS=" + ofVersion, "FORM=v1beta1"}, "# Version: v0.1.0", false},
		"the type of the operator":        {[]string{"REGISTRATIONS=" + ofVersion, "FORM=trellis"}, "FORM=trellis: this move is by rawchart, oci or v1beta1", true},
		"what gardener-operator is given": {[]string{"REGISTRATIONS=" + ofVersion, "FORM=operator"}, "FORM=operator: this move is by", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			bash := exec.CommandContext(t.Context(), "bash", "-s")
			bash.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GARDEN=garden", "SEEDS=seed"}, c.environment...)
			bash.Stdin = strings.NewReader(blocksOf(steps, "sh")[0])
			var said bytes.Buffer
			bash.Stdout, bash.Stderr = &said, &said
			err := bash.Run()
			assert.Equal(t, c.refused, err != nil, said.String())
			assert.Contains(t, said.String(), c.says)
		})
	}
}

// TestBlocksAreShell lets bash read all blocks of the page that somebody pastes.
func TestBlocksAreShell(t *testing.T) {
	page := readPage(t, "docs", "landscape.md")
	blocks := append(blocksOf(page, "sh"), blocksOf(page, "console")...)
	require.Greater(t, len(blocks), 10)
	for _, block := range blocks {
		bash := exec.CommandContext(t.Context(), "bash", "-n")
		// Names that the reader fills in stand in angle brackets, which bash would take for redirections.
		bash.Stdin = strings.NewReader(regexp.MustCompile(`<[a-z-]+>`).ReplaceAllString(block, "NAME"))
		output, err := bash.CombinedOutput()
		assert.NoError(t, err, "%s\n%s", output, block)
	}
}
