package registration

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Write puts the files into a folder, and removes from it what Generate has written before and writes no more: other files stay.
func Write(folder string, files []File) error {
	var written []string
	for _, file := range files {
		path := filepath.Join(folder, filepath.FromSlash(file.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // people read it
			return fmt.Errorf("making a folder for %s: %w", file.Path, err)
		}
		if err := os.WriteFile(path, file.Content, 0o644); err != nil { //nolint:gosec // people read it
			return fmt.Errorf("writing %s: %w", file.Path, err)
		}
		written = append(written, path)
	}
	before, err := filepath.Glob(filepath.Join(folder, "*", "*.yaml"))
	if err != nil {
		return fmt.Errorf("looking for what was written to %s before: %w", folder, err)
	}
	for _, path := range before {
		if slices.Contains(written, path) {
			continue
		}
		if err := removeIfWritten(path); err != nil {
			return fmt.Errorf("removing %s, which is registered no more: %w", path, err)
		}
	}
	return nil
}

func removeIfWritten(path string) error {
	content, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(content, []byte(generatedMark+"\n")) {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	// The folder goes with the last of its files.
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) > 0 {
		return err
	}
	if err := os.Remove(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
