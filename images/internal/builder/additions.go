package builder

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/trellis-garden/trellis/images"
	"github.com/trellis-garden/trellis/images/internal/debian"
	"github.com/trellis-garden/trellis/images/internal/recipe"
	"github.com/trellis-garden/trellis/images/internal/sbom"
)

// additions are what an image has besides the binary of its command.
type additions struct {
	layers   []*images.Layer
	modules  map[sbom.Module]string
	packages []sbom.Package
}

// additions builds what the command's image.yaml asks for. Most commands have none.
func (j *job) additions(ctx context.Context, command string, platform images.Platform) (additions, error) {
	more := additions{modules: map[sbom.Module]string{}}
	r, err := recipe.Read(j.module.root, command)
	if err != nil {
		return additions{}, err
	}
	if len(r.Debian.Programs) > 0 {
		if err := j.addDebian(ctx, &more, r.Debian, platform.Architecture); err != nil {
			return additions{}, err
		}
	}
	for _, module := range r.Go {
		if err := j.addGo(ctx, &more, module, platform); err != nil {
			return additions{}, fmt.Errorf("tools of the module %s: %w", module.Module, err)
		}
	}
	return more, nil
}

// addDebian adds a layer with programs of Debian, the shared libraries that they need, and the licenses of all packages.
func (j *job) addDebian(ctx context.Context, more *additions, wanted recipe.Debian, architecture string) error {
	source, err := debian.NewSource(ctx, filepath.Join(j.module.root, ".cache", "debian"))
	if err != nil {
		return err
	}
	files := debian.Files{}
	for _, p := range wanted.Packages {
		content, err := source.Fetch(ctx, p, architecture)
		if err != nil {
			return err
		}
		if err := files.Add(content); err != nil {
			return fmt.Errorf("package %s: %w", p.Name, err)
		}
		more.packages = append(more.packages, sbom.Package{Name: p.Name, Version: p.Version, Architecture: architecture, License: p.License})
	}
	packed := map[string]images.File{}
	for _, program := range wanted.Programs {
		closure, err := files.Closure(program)
		if err != nil {
			return err
		}
		for name, content := range closure {
			packed[name] = images.File{Path: name, Content: content, Mode: 0o755}
		}
	}
	for _, p := range wanted.Packages {
		if where, content, found := files.Copyright(p.Name); found {
			packed[where] = images.File{Path: where, Content: content}
		}
	}
	return more.addLayer(packed)
}

// addGo adds a layer with the tools of a Go module.
func (j *job) addGo(ctx context.Context, more *additions, wanted recipe.Go, platform images.Platform) error {
	folder, err := os.MkdirTemp(j.scratch, "tools-")
	if err != nil {
		return err
	}
	tools := Module{root: filepath.Join(j.module.root, filepath.FromSlash(wanted.Module))}
	environment := []string{"CGO_ENABLED=0", "GOOS=" + platform.OS, "GOARCH=" + platform.Architecture}
	if _, err := tools.Go(ctx, environment, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", folder+"/", "tool"); err != nil {
		return err
	}
	built, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	packed := map[string]images.File{}
	for _, entry := range built {
		binary := filepath.Join(folder, entry.Name())
		name := path.Join(wanted.Folder, entry.Name())
		packed[name] = images.File{Path: name, Source: binary, Mode: 0o755}
		info, err := buildinfo.ReadFile(binary)
		if err != nil {
			return fmt.Errorf("reading what %s is made of: %w", entry.Name(), err)
		}
		for _, dep := range append(info.Deps, &info.Main) {
			more.modules[sbom.Module{Path: dep.Path, Version: dep.Version}] = "In " + wanted.Folder
		}
	}
	return more.addLayer(packed)
}

func (more *additions) addLayer(files map[string]images.File) error {
	var list []images.File
	for _, file := range files {
		list = append(list, file)
	}
	layer, err := images.NewLayer(list...)
	if err != nil {
		return err
	}
	more.layers = append(more.layers, layer)
	return nil
}
