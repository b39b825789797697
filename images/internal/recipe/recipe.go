// Package recipe reads what the image of a command has besides its binary: cmd/<command>/image.yaml. It must not build anything.
package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/trellis-garden/trellis/images/internal/debian"
)

// FileName is the name of the file in the folder of a command.
const FileName = "image.yaml"

// Recipe is the content of the file. The zero value is for a command without one.
type Recipe struct {
	Debian Debian `yaml:"debian"`
	Go     []Go   `yaml:"go"`
}

// Debian are programs out of Debian packages.
type Debian struct {
	// Programs are absolute paths. The shared libraries that they need come with them, and must be in the packages.
	Programs []string         `yaml:"programs"`
	Packages []debian.Package `yaml:"packages"`
	// PackagesOf is a command whose packages these are, too, so that each version is pinned once. Packages are empty then.
	PackagesOf string `yaml:"packagesOf"`
}

// Go are the tools of a Go module.
type Go struct {
	// Module is the folder of the module, from the root of the repository. Its go.mod lists the tools.
	Module string `yaml:"module"`
	// Folder is where they are in the image.
	Folder string `yaml:"folder"`
}

// Read reads the file of a command in the repository root, with the packages of another one if it names one. Unknown fields are errors.
func Read(root, command string) (Recipe, error) {
	r, err := readFile(root, command)
	if err != nil || r.Debian.PackagesOf == "" {
		return r, err
	}
	other, err := readFile(root, r.Debian.PackagesOf)
	if err != nil {
		return Recipe{}, err
	}
	if len(other.Debian.Packages) == 0 {
		return Recipe{}, fmt.Errorf("%s of %s: debian.packagesOf: %q has no packages of its own", FileName, command, r.Debian.PackagesOf)
	}
	r.Debian.Packages = other.Debian.Packages
	return r, nil
}

// readFile reads the file of one command.
func readFile(root, command string) (Recipe, error) {
	name := filepath.Join(root, "cmd", command, FileName)
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Recipe{}, nil
	}
	if err != nil {
		return Recipe{}, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	var r Recipe
	if err := decoder.Decode(&r); err != nil {
		return Recipe{}, fmt.Errorf("reading %s: %w", name, err)
	}
	if err := r.validate(); err != nil {
		return Recipe{}, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func (r Recipe) validate() error {
	var errs []error
	invalid := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for i, program := range r.Debian.Programs {
		if !path.IsAbs(program) {
			invalid("debian.programs[%d]: must be an absolute path, not %q", i, program)
		}
	}
	for i, p := range r.Debian.Packages {
		if p.Name == "" || p.Version == "" || p.License == "" || p.Path == "" || len(p.SHA256) == 0 {
			invalid("debian.packages[%d]: name, version, license, path and sha256 are required", i)
		}
	}
	if r.Debian.PackagesOf != "" && len(r.Debian.Packages) > 0 {
		invalid("debian: give packages or packagesOf, not both")
	}
	for i, g := range r.Go {
		if g.Module == "" || !path.IsAbs(g.Folder) {
			invalid("go[%d]: a module and an absolute folder are required", i)
		}
	}
	return errors.Join(errs...)
}
