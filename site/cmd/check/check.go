package main

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// repositoryURL is where links to files of the repository lead, see params.repository in hugo.toml.
const repositoryURL = "https://github.com/trellis-garden/trellis/blob/main/"

// linkCount is how many links were checked.
type linkCount struct {
	internal, repository int
}

// checkLinks returns an error for each link that leads to nothing. Links to other sites are not followed.
func (s site) checkLinks(repository string) (linkCount, error) {
	var count linkCount
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		for _, link := range s.pages[name].links {
			var err error
			if file, ok := strings.CutPrefix(link, repositoryURL); ok {
				count.repository++
				err = checkRepositoryLink(repository, file)
			} else if u, parseErr := url.Parse(link); parseErr != nil || !u.IsAbs() && u.Host == "" {
				count.internal++
				err = errors.Join(parseErr, s.checkInternalLink(name, u))
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("page %q links to %q: %w", name, link, err))
			}
		}
	}
	if count.internal == 0 || count.repository == 0 {
		errs = append(errs, fmt.Errorf("found %d links within the site, %d to %s", count.internal, count.repository, repositoryURL))
	}
	return count, errors.Join(errs...)
}

func checkRepositoryLink(repository, file string) error {
	file, _, _ = strings.Cut(file, "#")
	_, err := os.Stat(filepath.Join(repository, filepath.FromSlash(file)))
	return err
}

// checkInternalLink checks a link on the page with the given path.
func (s site) checkInternalLink(from string, link *url.URL) error {
	if link == nil {
		return nil
	}
	if strings.HasPrefix(link.Path, "/") {
		return errors.New("it is not relative, so it works in the root of a domain only")
	}
	target := path.Join("/", path.Dir("/"+from+"index.html"), link.Path)[1:]
	if link.Path == "" {
		target = from
	} else if strings.HasSuffix(link.Path, "/") && target != "" {
		target += "/"
	}
	p, isPage := s.pages[target]
	if !isPage {
		info, err := os.Stat(filepath.Join(s.folder, filepath.FromSlash(target))) //nolint:gosec // the site is our own
		if err == nil && info.IsDir() {
			return errors.New("there is no such page")
		}
		return err
	}
	if link.Fragment != "" && !p.anchors[link.Fragment] {
		return errors.New("the page has no such anchor")
	}
	return nil
}

// checkDocuments returns an error for each document that is not a page, or that a reader cannot find: by the search, or by the navigation of the home page.
func (s site) checkDocuments(documents []string) error {
	var errs []error
	for _, document := range documents {
		if _, ok := s.pages[document]; !ok {
			errs = append(errs, fmt.Errorf("document %q has no page", document))
		}
		if !slices.Contains(s.index, document) {
			errs = append(errs, fmt.Errorf("document %q is not in the search index", document))
		}
		if !slices.Contains(s.pages[""].links, "./"+document) {
			errs = append(errs, fmt.Errorf("document %q is not in the navigation", document))
		}
	}
	for _, entry := range s.index {
		if !slices.Contains(documents, entry) {
			errs = append(errs, fmt.Errorf("the search index contains %q, which is not a document", entry))
		}
	}
	return errors.Join(errs...)
}
