// Command rights writes docs/reference/rights.md: who may do what in a seed and in the garden, read off the objects that the charts consist of.
package main

import (
	"flag"
	"fmt"
	"os"
)

//go:generate go run . -o ../../../docs/reference/rights.md

func main() {
	path := flag.String("o", "", "file to write; standard output unless given")
	flag.Parse()
	if err := run(*path); err != nil {
		fmt.Fprintln(os.Stderr, "rights:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	page, err := page()
	if err != nil {
		return err
	}
	if path == "" {
		_, err = os.Stdout.WriteString(page)
		return err
	}
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
