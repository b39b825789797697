// Command check verifies the rendered documentation: each link leads to a page and an anchor of the site, or to a file of the repository; each document is a
// page that the search index and the navigation contain.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	repository := flag.String("repository", "..", "the `folder` that has README.md and docs")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "Usage: check [flags] SITE\n\nChecks the site that was rendered into the folder SITE.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*repository, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(repository, folder string) error {
	s, err := readSite(folder)
	if err != nil {
		return err
	}
	documents, err := listDocuments(repository)
	if err != nil {
		return err
	}
	links, err := s.checkLinks(repository)
	err = errors.Join(err, s.checkDocuments(documents))
	fmt.Printf("%d documents, %d pages, %d links within the site, %d links to the repository\n", len(documents), len(s.pages), links.internal, links.repository)
	return err
}
