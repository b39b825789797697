// Package repo finds things in the checkout that the tests, the demo and the benchmark run from, and lets one process at a
// time build something there. It knows paths, and not what lies at their ends.
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

// Path returns the absolute path of something in the checkout, given its path from the root.
func Path(elements ...string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return filepath.Join(append([]string{root}, elements...)...), nil
}
