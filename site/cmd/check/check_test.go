package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	const home = `<a href="./">Home</a> <a href="./a/">A</a> <a href="` + repositoryURL + `README.md">Source</a>`
	const index = `[{"url": "", "title": "Home", "text": "x"}, {"url": "a/", "title": "A", "text": "x"}]`
	tests := map[string]struct {
		home, page, index string
		want              string // part of the error; empty for none
	}{
		"a good site":                         {home: home, page: `<h1 id="top">A</h1> <a href="#top">Top</a> <a href="../">Home</a>`, index: index},
		"another site is not followed":        {home: home, page: `<a href="https://example.org/">Example</a>`, index: index},
		"a page that does not exist":          {home: home, page: `<a href="../b/">B</a>`, index: index, want: `page "a/" links to "../b/"`},
		"an anchor that does not exist":       {home: home, page: `<a href="#b">B</a>`, index: index, want: "no such anchor"},
		"an anchor of another page":           {home: home, page: `<a href="../#b">B</a>`, index: index, want: "no such anchor"},
		"a script that does not exist":        {home: home, page: `<script src="../x.js"></script>`, index: index, want: "x.js"},
		"a folder without a page":             {home: home, page: `<a href="../empty/">Empty</a>`, index: index, want: "no such page"},
		"an absolute path":                    {home: home, page: `<a href="/a/">A</a>`, index: index, want: "not relative"},
		"a file that the repository lacks":    {home: home, page: `<a href="` + repositoryURL + `x.go">x</a>`, index: index, want: "x.go"},
		"a document that is not in the index": {home: home, index: `[{"url": "", "title": "Home", "text": "x"}]`, want: `document "a/" is not in the search index`},
		"an entry that is no document":        {home: home, index: strings.Replace(index, "]", `, {"url": "b/", "title": "B", "text": "x"}]`, 1), want: `contains "b/"`},
		"an entry without text":               {home: home, index: strings.Replace(index, `"x"`, `""`, 1), want: "no text"},
		"a document that is not linked":       {home: strings.Replace(home, "./a/", "./", 1), index: index, want: `document "a/" is not in the navigation`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			repository, folder := t.TempDir(), t.TempDir()
			write(t, repository, "README.md", "# Home")
			write(t, repository, "docs/a.md", "# A")
			write(t, folder, "index.html", test.home)
			write(t, folder, "a/index.html", test.page)
			write(t, folder, "empty/picture.svg", "")
			write(t, folder, "index.json", test.index)
			err := run(repository, folder)
			if test.want == "" && err != nil {
				t.Error(err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("want an error that contains %q, got %v", test.want, err)
			}
		})
	}
}

func TestCheckInternalLink_File(t *testing.T) {
	s := site{folder: t.TempDir()}
	write(t, s.folder, "style.css", "")
	if err := s.checkInternalLink("a/b/", &url.URL{Path: "../../style.css"}); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, folder, name, content string) {
	t.Helper()
	file := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
