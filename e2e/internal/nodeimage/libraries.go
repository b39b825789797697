package nodeimage

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/images"
)

// linked are programs with all libraries that they are linked with: files for an image.
type linked struct {
	tree  string
	files map[string]images.File // by path in the image
}

// withLibraries returns programs, given by their paths in a tree, and the libraries that they need from it.
func withLibraries(tree string, programs ...string) ([]images.File, error) {
	l := linked{tree: tree, files: map[string]images.File{}}
	for _, program := range programs {
		if err := l.add(program); err != nil {
			return nil, fmt.Errorf("taking %s out of %s: %w", program, tree, err)
		}
	}
	var files []images.File
	for _, file := range l.files {
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b images.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

func (l linked) add(path string) error {
	if _, known := l.files[path]; known {
		return nil
	}
	source := filepath.Join(l.tree, path)
	file, err := elf.Open(source)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	l.files[path] = images.File{Path: path, Source: source, Mode: 0o755}
	needed, err := file.ImportedLibraries()
	if err != nil {
		return err
	}
	if loader := interpreter(file); loader != "" {
		if err := l.add(loader); err != nil {
			return err
		}
	}
	for _, name := range needed {
		library, err := l.find(name)
		if err != nil {
			return err
		}
		if err := l.add(library); err != nil {
			return err
		}
	}
	return nil
}

// find searches the folders of Debian's loader.
func (l linked) find(name string) (string, error) {
	found, err := filepath.Glob(filepath.Join(l.tree, "usr", "lib", "*-linux-gnu*", name))
	if err != nil || len(found) == 0 {
		return "", errors.Join(err, fmt.Errorf("library %s: %w", name, os.ErrNotExist))
	}
	relative, err := filepath.Rel(l.tree, found[0])
	return "/" + relative, err
}

// interpreter is the path of a program's loader, empty for libraries.
func interpreter(file *elf.File) string {
	for _, segment := range file.Progs {
		if segment.Type != elf.PT_INTERP {
			continue
		}
		path := make([]byte, segment.Filesz)
		if _, err := segment.ReadAt(path, 0); err != nil {
			return ""
		}
		return strings.TrimRight(string(path), "\x00")
	}
	return ""
}
