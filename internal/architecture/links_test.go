package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Relative links in documents lead to existing files, and to existing headings.
func TestDocuments_Links(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	links := 0
	for _, document := range markdownFiles(t) {
		content, err := os.ReadFile(filepath.Join(root, document))
		require.NoError(t, err)
		for _, match := range link.FindAllStringSubmatch(string(content), -1) {
			target := match[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			links++
			file, heading, _ := strings.Cut(target, "#")
			path := filepath.Join(root, filepath.Dir(document), file)
			if file == "" {
				path = filepath.Join(root, document)
			}
			if _, err := os.Stat(path); !assert.NoError(t, err, "%s links to %s", document, target) || heading == "" {
				continue
			}
			assert.Contains(t, headingsOf(t, path), heading, "%s links to %s", document, target)
		}
	}
	assert.Positive(t, links)
}

// headingsOf returns the anchors of a document's headings, as GitHub derives them.
func headingsOf(t *testing.T, path string) []string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var anchors []string
	for line := range strings.Lines(string(content)) {
		title, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !isHeading || !strings.HasPrefix(line, "#") {
			continue
		}
		text := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "$1")
		text = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`).ReplaceAllString(text, "")
		anchors = append(anchors, strings.ReplaceAll(text, " ", "-"))
	}
	return anchors
}

// markdownFiles lists all documents of the repository, relative to its root.
func markdownFiles(t *testing.T) []string {
	t.Helper()
	var documents []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		document, err := filepath.Rel(root, path)
		documents = append(documents, document)
		return err
	}))
	return documents
}
