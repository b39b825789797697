package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/net/html"
)

// site is a rendered site.
type site struct {
	folder string
	// pages are keyed by their path in the site, e.g. operations/install/; the home page has the empty one.
	pages map[string]page
	// index has the URLs of the search index.
	index []string
}

// page is what is checked of an HTML file.
type page struct {
	anchors map[string]bool
	links   []string
}

// readSite reads all pages below a folder, and the search index.
func readSite(folder string) (site, error) {
	s := site{folder: folder, pages: map[string]page{}}
	root := os.DirFS(folder)
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".html" {
			return err
		}
		file, err := root.Open(name)
		if err != nil {
			return err
		}
		p, err := parsePage(file)
		if err = errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("parsing %s: %w", name, err)
		}
		s.pages[strings.TrimSuffix(name, "index.html")] = p
		return nil
	})
	if err != nil {
		return site{}, err
	}
	content, err := os.ReadFile(filepath.Join(folder, "index.json"))
	if err != nil {
		return site{}, err
	}
	var entries []struct {
		URL   string `json:"url"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	if err := json.Unmarshal(content, &entries); err != nil {
		return site{}, fmt.Errorf("parsing the search index: %w", err)
	}
	for _, entry := range entries {
		if entry.Title == "" || entry.Text == "" {
			return site{}, fmt.Errorf("the search index has no title or no text of the page %q", entry.URL)
		}
		s.index = append(s.index, entry.URL)
	}
	return s, nil
}

func parsePage(r io.Reader) (page, error) {
	root, err := html.Parse(r)
	if err != nil {
		return page{}, err
	}
	p := page{anchors: map[string]bool{}}
	for node := range root.Descendants() {
		for _, attribute := range node.Attr {
			switch attribute.Key {
			case "id":
				p.anchors[attribute.Val] = true
			case "href", "src", "action":
				p.links = append(p.links, attribute.Val)
			}
		}
	}
	return p, nil
}

// listDocuments returns the paths in the site of all documents: those of docs, and the empty one for README.md.
func listDocuments(repository string) ([]string, error) {
	docs := filepath.Join(repository, "docs")
	documents := []string{""}
	err := filepath.WalkDir(docs, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		relative, err := filepath.Rel(docs, name)
		// Hugo writes paths in lower case.
		documents = append(documents, strings.ToLower(path.Clean(strings.TrimSuffix(filepath.ToSlash(relative), ".md")))+"/")
		return err
	})
	return documents, err
}
