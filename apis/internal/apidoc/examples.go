package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// example is a YAML document with its introduction, which is the comment that it begins with.
type example struct{ introduction, document string }

// readExamples reads the YAML files in dir.
func readExamples(dir string) ([]example, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("no examples there")
	}
	var examples []example
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		parsed, err := parseExample(string(source))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		examples = append(examples, parsed)
	}
	return examples, nil
}

func parseExample(source string) (example, error) {
	var introduction []string
	document := strings.TrimSpace(source)
	for strings.HasPrefix(document, "#") {
		var line string
		line, document, _ = strings.Cut(document, "\n")
		introduction = append(introduction, strings.TrimSpace(strings.TrimPrefix(line, "#")))
	}
	if len(introduction) == 0 {
		return example{}, errors.New("begins with no comment")
	}
	return example{introduction: strings.Join(introduction, "\n"), document: strings.TrimSpace(document)}, nil
}
