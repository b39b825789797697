package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// write writes the files that the options name.
func (r *results) write(o options) error {
	var failures []error
	if o.json != "" {
		failures = append(failures, r.writeJSON(o.json))
	}
	if o.folder != "" {
		of := r
		if o.only == partAWS {
			var err error
			if of, err = r.addedTo(o.folder); err != nil {
				return err
			}
		}
		failures = append(failures, of.writeFolder(o.folder))
	}
	return errors.Join(failures...)
}

// writeFolder writes the results as a page with pictures, and as JSON.
func (r *results) writeFolder(folder string) error {
	record, err := readMonolith()
	if err != nil {
		return err
	}
	aws, err := readCounted()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("creating the folder of the results: %w", err)
	}
	var drawn []picture
	if len(r.Scale) > 0 {
		drawn = pictures(r.Scale, record)
	}
	failures := []error{
		r.writeJSON(filepath.Join(folder, "results.json")), writePage(filepath.Join(folder, "results.md"), r.page(record, aws, drawn)),
	}
	for _, p := range drawn {
		content, err := p.SVG()
		if err == nil {
			err = writePage(filepath.Join(folder, p.file), content)
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// addedTo returns the results of a folder with those of AWS, which say themselves when they were measured.
func (r *results) addedTo(folder string) (*results, error) {
	content, err := os.ReadFile(filepath.Join(folder, "results.json"))
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the results to which these are added: %w", err)
	}
	before := &results{}
	if err := json.Unmarshal(content, before); err != nil {
		return nil, fmt.Errorf("decoding the results to which these are added: %w", err)
	}
	before.AWS = r.AWS
	return before, nil
}

func writePage(path, content string) error {
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

// page is the results in Markdown.
func (r *results) page(record *monolith, aws *counted, drawn []picture) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Written by make bench RESULTS=docs/performance. Do not edit. -->\n# Results of %s\n\n", r.Date)
	fmt.Fprintf(&b, "Commit `%s`; %s. [How to read them](README.md).\n\n## Beside the monolith\n\n", r.Commit, r.Machine)
	b.WriteString("| what | Trellis | monolith | allowed | |\n|---|---|---|---|---|\n")
	for _, c := range r.Comparison {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.What, c.Ours, c.Theirs, c.Most, c.Result)
	}
	fmt.Fprintf(&b, "\nThe monolith is %s.\n\n", record.Subject)
	for _, condition := range record.Conditions {
		fmt.Fprintf(&b, "- %s\n", condition)
	}
	if len(drawn) > 0 {
		b.WriteString("\n## Growth\n")
	}
	for _, p := range drawn {
		fmt.Fprintf(&b, "\n![%s](%s)\n", p.Title, p.file)
	}
	for _, s := range r.Scale {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n```\n", capitalized(count(s.Shoots, "shoot")), strings.Join(scaleTable(s), "\n"))
	}
	if r.Secondaries != nil {
		fmt.Fprintf(&b, "\n## Secondaries\n\n```text\n%s\n```\n", strings.Join(secondaryTable(r.Secondaries), "\n"))
	}
	if r.AWS != nil {
		b.WriteString(awsPage(r.AWS, aws))
	}
	return b.String()
}

func capitalized(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// printComparison prints the comparison with the conditions of the record.
func printComparison(screen *terminal.Screen, r *results, record *monolith) {
	if len(r.Comparison) == 0 {
		return
	}
	screen.Heading("Beside the monolith: " + record.Subject)
	for _, line := range comparisonTable(r.Comparison) {
		screen.Linef("  %s", strings.TrimRight(line, " "))
	}
	screen.Linef("")
	for _, condition := range record.Conditions {
		screen.Linef("  %s", condition)
	}
	screen.Linef("\n  %s, commit %s", r.Machine, r.Commit)
}
