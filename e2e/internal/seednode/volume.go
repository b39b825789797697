package seednode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
)

// volume is a volume of a pod.
type volume struct {
	spec    *corev1.Volume
	dir     string // or file
	written map[string]kubelet.File
}

func newVolume(spec *corev1.Volume, dir string) *volume {
	if spec.HostPath != nil {
		dir = spec.HostPath.Path
	}
	return &volume{spec: spec, dir: dir}
}

// update creates the volume, or updates its files.
func (v *volume) update(ctx context.Context, pod *kubelet.Pod) error {
	switch {
	case v.spec.HostPath != nil:
		return v.checkHostPath()
	case v.spec.EmptyDir != nil, v.spec.PersistentVolumeClaim != nil, v.spec.Ephemeral != nil, v.spec.CSI != nil:
		if err := os.MkdirAll(v.dir, 0o755); err != nil {
			return err
		}
		return os.Chmod(v.dir, 0o777)
	}
	files, err := pod.Files(ctx, v.spec)
	if err != nil {
		return err
	}
	if v.written != nil && maps.EqualFunc(files, v.written, sameFile) {
		return nil
	}
	if err := writeFiles(v.dir, files); err != nil {
		return fmt.Errorf("writing volume %s: %w", v.spec.Name, err)
	}
	v.written = files
	return nil
}

func sameFile(a, b kubelet.File) bool { return a.Mode == b.Mode && bytes.Equal(a.Content, b.Content) }

// checkHostPath creates a folder of this machine if the volume says so.
func (v *volume) checkHostPath() error {
	if kind := v.spec.HostPath.Type; kind != nil && *kind == corev1.HostPathDirectoryOrCreate {
		return os.MkdirAll(v.dir, 0o755)
	}
	if _, err := os.Stat(v.dir); err != nil {
		return fmt.Errorf("looking at volume %s: %w", v.spec.Name, err)
	}
	return nil
}

// present is the link to the folder with the present files of a volume. Each file's name is a link to the file below that link, so that all files
// change at once: this is what programs see that run under a kubelet.
const present = "..data"

// writeFiles replaces all files of a volume.
func writeFiles(dir string, files map[string]kubelet.File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	next, err := os.MkdirTemp(dir, "..next-")
	if err != nil {
		return err
	}
	if err := os.Chmod(next, 0o755); err != nil {
		return err
	}
	names := map[string]bool{}
	for name, file := range files {
		first, _, _ := strings.Cut(name, "/")
		names[first] = true
		if err := writeFile(filepath.Join(next, name), file); err != nil {
			return err
		}
	}
	link := filepath.Join(dir, present)
	before, err := os.Readlink(link)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := replaceLink(filepath.Base(next), link); err != nil {
		return err
	}
	if err := linkNames(dir, names); err != nil {
		return err
	}
	if before == "" {
		return nil
	}
	return os.RemoveAll(filepath.Join(dir, before))
}

func writeFile(path string, file kubelet.File) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, file.Content, file.Mode); err != nil {
		return err
	}
	return os.Chmod(path, file.Mode) // without this process's mask
}

// replaceLink makes a link lead to a target, at once.
func replaceLink(target, link string) error {
	if err := os.Symlink(target, link+".new"); err != nil {
		return err
	}
	return os.Rename(link+".new", link)
}

// linkNames makes the names in a volume's folder links to the present files, and removes other links.
func linkNames(dir string, names map[string]bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Type() != fs.ModeSymlink || entry.Name() == present {
			continue
		}
		if names[entry.Name()] {
			delete(names, entry.Name())
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	for name := range names {
		if err := os.Symlink(filepath.Join(present, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
