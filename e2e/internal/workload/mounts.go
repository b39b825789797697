package workload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
)

// mounts are the files of a container.
type mounts struct {
	root    string
	pod     *kubelet.Pod
	volumes map[string]corev1.Volume // by mount path
}

// mount returns the files at the mount paths of a container.
func mount(pod *kubelet.Pod, container *corev1.Container, root string) (*mounts, error) {
	volumes := map[string]corev1.Volume{}
	for _, volume := range pod.Spec.Volumes {
		volumes[volume.Name] = volume
	}
	m := &mounts{root: root, pod: pod, volumes: map[string]corev1.Volume{}}
	for _, mounted := range container.VolumeMounts {
		volume, found := volumes[mounted.Name]
		if !found || mounted.SubPath != "" {
			return nil, fmt.Errorf("mount path %s is not supported here", mounted.MountPath)
		}
		m.volumes[filepath.Clean(mounted.MountPath)] = volume
	}
	return m, nil
}

// await writes all files once all their sources exist.
func (m *mounts) await(ctx context.Context) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		err := m.write(ctx)
		if err == nil || errors.Is(err, kubelet.ErrUnsupported) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// keepFresh updates all files periodically, until ctx ends. Like a kubelet it keeps the present files if that fails.
func (m *mounts) keepFresh(ctx context.Context) {
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = m.write(ctx)
		}
	}
}

// write updates all files.
func (m *mounts) write(ctx context.Context) error {
	for path, volume := range m.volumes {
		folder := filepath.Join(m.root, path)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		files, err := m.pod.Files(ctx, &volume)
		if err != nil {
			return err
		}
		for name, file := range files {
			if err := m.writeFile(filepath.Join(folder, name), file.Content); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFile replaces a file atomically if the content differs.
func (m *mounts) writeFile(path string, data []byte) error {
	if utf8.Valid(data) {
		data = []byte(m.relocate(string(data)))
	}
	if found, err := os.ReadFile(path); err == nil && bytes.Equal(found, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// relocate replaces mount paths in a text by the real folders.
func (m *mounts) relocate(text string) string {
	paths := slices.Collect(maps.Keys(m.volumes))
	slices.SortFunc(paths, func(a, b string) int { return len(b) - len(a) })
	var relocated strings.Builder
	for i := 0; i < len(text); {
		at := slices.IndexFunc(paths, func(path string) bool { return beginsWithPath(text, i, path) })
		if at < 0 {
			relocated.WriteByte(text[i])
			i++
			continue
		}
		relocated.WriteString(filepath.Join(m.root, paths[at]))
		i += len(paths[at])
	}
	return relocated.String()
}

// beginsWithPath reports whether a path is at a position of a text, and not a part of another path.
func beginsWithPath(text string, position int, path string) bool {
	if !strings.HasPrefix(text[position:], path) {
		return false
	}
	end := position + len(path)
	return (position == 0 || text[position-1] != '/' && !isOfName(text[position-1])) && (end == len(text) || !isOfName(text[end]))
}

func isOfName(character byte) bool {
	return strings.IndexByte("-._", character) >= 0 ||
		'0' <= character && character <= '9' || 'a' <= character && character <= 'z' || 'A' <= character && character <= 'Z'
}
