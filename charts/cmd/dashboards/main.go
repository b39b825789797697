// Command dashboards writes the dashboards into the folders of the charts that ship them.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/trellis-garden/trellis/charts/dashboards"
)

//go:generate go run . ../..

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dashboards:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("one argument is needed, the folder of all charts, not %d", len(args))
	}
	files, err := dashboards.Files()
	if err != nil {
		return err
	}
	for _, file := range files {
		path := filepath.Join(args[0], filepath.FromSlash(file.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a folder of the repository
			return fmt.Errorf("writing a dashboard: %w", err)
		}
		if err := os.WriteFile(path, file.Content, 0o644); err != nil { //nolint:gosec // a file of the repository
			return fmt.Errorf("writing a dashboard: %w", err)
		}
	}
	return nil
}
