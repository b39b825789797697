// Command apidoc writes the reference page of an API package in Markdown, from the comments of its types.
//
// It knows the conventions of Kubernetes API types: json tags, "+optional", "+kubebuilder:object:root=true" for kinds. A
// paragraph "Default: ..." of a field's comment becomes a column of its own. A field without a comment is an error.
//
// Examples are YAML files, so that tests can read them too. Each begins with a comment that introduces it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	var (
		dir   = flag.String("package", ".", "directory of the API package")
		out   = flag.String("out", "", "Markdown file to write")
		title = flag.String("title", "API reference", "title of the page")

		examples = flag.String("examples", "", "directory of examples, which the page has in the order of their names; none if empty")
	)
	flag.Parse()
	if err := run(*dir, *examples, *out, *title); err != nil {
		fmt.Fprintln(os.Stderr, "apidoc:", err)
		os.Exit(1)
	}
}

func run(dir, examples, out, title string) error {
	api, err := parse(dir)
	if err != nil {
		return fmt.Errorf("reading %s: %w", dir, err)
	}
	if examples != "" {
		if api.examples, err = readExamples(examples); err != nil {
			return fmt.Errorf("reading %s: %w", examples, err)
		}
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	_, err = file.WriteString(render(api, title))
	return errors.Join(err, file.Close())
}
