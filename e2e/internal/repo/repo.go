// Package repo has the paths of the checkout that the tests, the demo and the benchmark run from, and a lock for builds in it. It must not depend
// on the content of the paths.
package repo

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

const rootModule = "module github.com/trellis-garden/trellis\n"

// Root returns the absolute path of the checkout: the nearest folder, from the working directory upwards, whose go.mod
// is that of the root module.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		gomod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.Contains(gomod, []byte(rootModule)) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("the working directory is not inside a checkout of Trellis")
		}
		dir = parent
	}
}

// Path returns an absolute path in the checkout, given a path from the root.
func Path(elements ...string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return filepath.Join(append([]string{root}, elements...)...), nil
}
