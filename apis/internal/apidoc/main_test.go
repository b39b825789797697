package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, run("testdata/sample", "testdata/sample/examples", out, "Sample"))

	page, err := os.ReadFile(out)
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/sample.md")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(string(want), string(page)))
}

func TestRun_InvalidPackages(t *testing.T) {
	for sentence, test := range map[string]struct {
		source string // no file if empty
		want   []string
	}{
		"all fields without a comment are named": {
			`package sample

			type Settings struct {
				First string ` + "`json:\"first\"`" + `
				// Default: nothing said but this.
				Second string ` + "`json:\"second\"`" + `
				// Third is fine.
				Third string ` + "`json:\"third\"`" + `
			}`,
			[]string{"Settings: field First has no comment", "Settings: field Second has no comment"},
		},
		"what does not parse is named":       {"package sample\n\ntype Settings struct {", []string{"types.go:3", "expected"}},
		"a directory without Go is an error": {"", []string{"no Go files"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			if test.source != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "types.go"), []byte(test.source), 0o600))
			}
			err := run(dir, "", filepath.Join(dir, "page.md"), "None")
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			require.NoFileExists(t, filepath.Join(dir, "page.md"))
		})
	}
}

func TestRun_InvalidExamples(t *testing.T) {
	for sentence, test := range map[string]struct {
		source string // no file if empty
		want   string
	}{
		"one without an introduction is named":         {"name: a # not b\n", "example.yaml: begins with no comment"},
		"a directory without any is probably an error": {"", "no examples there"},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			if test.source != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "example.yaml"), []byte(test.source), 0o600))
			}
			err := run("testdata/sample", dir, filepath.Join(dir, "page.md"), "None")
			require.ErrorContains(t, err, test.want)
			require.NoFileExists(t, filepath.Join(dir, "page.md"))
		})
	}
}
